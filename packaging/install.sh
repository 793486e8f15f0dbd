#!/bin/sh
# Installs the windlass command for the current user, without root.
#
#   curl -fsSL https://raw.githubusercontent.com/windlass-rs/windlass/main/packaging/install.sh | sh
#
# WINDLASS_VERSION   the release, such as 0.1.0 (the newest one if it is not set)
# WINDLASS_INSTALL   the folder of the program (~/.local/bin if it is not set)
# WINDLASS_RELEASES  the address of the releases, or file:// and a folder of the same form
#
# WINDLASS_KEY       the public key of minisign that has signed the checksums (the one below if it is not set)
#
# The checksum of the archive has to be right, and so does the signature of the checksums, by minisign or OpenSSL 3 on the
# machine, else by cosign. With none of them one line says that the signature was not looked at.
set -eu

# The public key of the releases. A release writes it here (packaging/installer); in the repository there is none.
KEY=

# All of it is read before any of it runs, so that a download that was cut does nothing.
main() {
  releases=${WINDLASS_RELEASES:-https://github.com/windlass-rs/windlass/releases}
  folder=${WINDLASS_INSTALL:-${HOME:?HOME is not set; set WINDLASS_INSTALL to the folder of the program}/.local/bin}
  need uname
  need mktemp
  need tar
  target=$(target_of_machine)
  place=$(mktemp -d) || fail 'no temporary folder can be made'
  trap 'rm -rf "$place"' EXIT
  trap 'exit 130' HUP INT TERM

  version=${WINDLASS_VERSION:-$(newest)}
  version=${version#v}
  case $version in
    '' | *[!0-9A-Za-z.+-]*) fail "'$version' is no version: set WINDLASS_VERSION, such as 0.1.0" ;;
  esac
  name=windlass-v$version-$target
  base=$releases/download/v$version
  say "windlass $version for $target"
  fetch "$base/$name.tgz" "$place/$name.tgz"
  fetch "$base/SHA256SUMS" "$place/SHA256SUMS"
  check_signature "$base"
  check_sum "$name.tgz"

  tar -xzf "$place/$name.tgz" -C "$place" "$name/windlass" || fail "$name.tgz cannot be unpacked"
  chmod 755 "$place/$name/windlass"
  "$place/$name/windlass" --version >/dev/null 2>&1 || fail "the program does not run on this machine ($target)"
  mkdir -p "$folder" || fail "$folder cannot be made: set WINDLASS_INSTALL to a folder that you may write"
  # Beside its place first: one that runs is replaced in one step.
  new=$folder/.windlass.$$
  cp "$place/$name/windlass" "$new" 2>/dev/null && mv -f "$new" "$folder/windlass" || {
    rm -f "$new"
    fail "$folder cannot be written: set WINDLASS_INSTALL to a folder that you may write"
  }
  say "installed: $folder/windlass"
  extras
  case :$PATH: in
    *:"$folder":*) ;;
    *) say "$folder is not in PATH: add it, or start the program by its path" ;;
  esac
  say "try it: windlass demo"
}

# Completions and manual pages, for a program in the usual place. Their absence is no reason to fail.
extras() {
  [ "$folder" = "${HOME:-}/.local/bin" ] || return 0
  tar -xzf "$place/$name.tgz" -C "$place" "$name/completions" "$name/man" 2>/dev/null || return 0
  share=$HOME/.local/share
  mkdir -p "$share/man/man1" "$share/windlass" 2>/dev/null || return 0
  rm -rf "$share/windlass/completions"
  cp -R "$place/$name/completions" "$share/windlass/completions" && cp "$place/$name/man/"*.1 "$share/man/man1/" ||
    return 0
  say "completions for shells: $share/windlass/completions"
}

say() { printf '%s\n' "$1"; }

fail() {
  printf 'windlass: %s\n' "$1" >&2
  exit 1
}

need() { command -v "$1" >/dev/null 2>&1 || fail "$1 is missing on this machine"; }

target_of_machine() {
  case $(uname -m) in
    x86_64 | amd64) cpu=x86_64 ;;
    arm64 | aarch64) cpu=aarch64 ;;
    *) fail "there is no archive for the processor $(uname -m): use cargo install windlass-cli" ;;
  esac
  case $(uname -s) in
    Linux)
      # The archives for glibc are linked with 2.35; others get the one that is linked statically.
      glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.\([0-9]*\).*/\1/p')
      if [ "${glibc:-0}" -ge 35 ]; then say "$cpu-unknown-linux-gnu"; else say "$cpu-unknown-linux-musl"; fi
      ;;
    Darwin) say "$cpu-apple-darwin" ;;
    *) fail "there is no archive for $(uname -s): use cargo install windlass-cli" ;;
  esac
}

fetch() {
  case $1 in file://*)
    cp "${1#file://}" "$2" 2>/dev/null || fail "$1 cannot be fetched"
    return
    ;;
  esac
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --retry 2 --output "$2" "$1" || fail "$1 cannot be fetched"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1" || fail "$1 cannot be fetched"
  else
    fail 'neither curl nor wget is on this machine'
  fi
}

# The newest release: its page has the version in its address.
newest() {
  case $releases in file://*) fail 'set WINDLASS_VERSION: a folder names no newest release' ;; esac
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --head --output /dev/null --write-out '%{url_effective}' "$releases/latest"
  else
    wget -q -S --spider --max-redirect=0 "$releases/latest" 2>&1 | sed -n 's/^ *Location: *//p'
  fi | sed -n 's#.*/tag/v\([^/]*\)$#\1#p'
}

check_sum() {
  (cd "$place" && grep " [ *]*$1\$" SHA256SUMS >one) || fail "SHA256SUMS does not name $1"
  if command -v sha256sum >/dev/null 2>&1; then
    (cd "$place" && sha256sum -c one >/dev/null 2>&1) || fail "the checksum of $1 is wrong: nothing was installed"
  elif command -v shasum >/dev/null 2>&1; then
    (cd "$place" && shasum -a 256 -c one >/dev/null 2>&1) || fail "the checksum of $1 is wrong: nothing was installed"
  else
    fail 'neither sha256sum nor shasum is on this machine, so the archive cannot be checked'
  fi
}

# The signature of the checksums: that of minisign by the key of this script, else that of the workflow.
check_signature() {
  key=${WINDLASS_KEY:-$KEY}
  if [ -n "$key" ]; then
    fetch "$1/SHA256SUMS.minisig" "$place/SHA256SUMS.minisig"
    if command -v minisign >/dev/null 2>&1; then
      minisign -V -q -P "$key" -m "$place/SHA256SUMS" -x "$place/SHA256SUMS.minisig" >/dev/null 2>&1 || wrong_signature
      return
    fi
    if has_openssl; then
      check_with_openssl "$key" || wrong_signature
      return
    fi
  fi
  if command -v cosign >/dev/null 2>&1; then
    fetch "$1/SHA256SUMS.sigstore.json" "$place/SHA256SUMS.sigstore.json"
    cosign verify-blob --bundle "$place/SHA256SUMS.sigstore.json" \
      --certificate-identity-regexp '^https://github.com/windlass-rs/windlass/.github/workflows/release.yml@refs/tags/v' \
      --certificate-oidc-issuer https://token.actions.githubusercontent.com "$place/SHA256SUMS" >/dev/null 2>&1 ||
      wrong_signature
    return
  fi
  say 'the signature was not checked, because minisign, OpenSSL 3 or cosign is not on this machine; the checksum is checked'
}

wrong_signature() { fail 'the signature of SHA256SUMS is wrong: nothing was installed'; }

has_openssl() {
  case $(openssl version 2>/dev/null) in
    'OpenSSL '[3-9]*) ;;
    *) return 1 ;;
  esac
}

# A signature of minisign is Ed25519 over a digest: ED, 8 bytes of the key's name, 64 of the signature. The key is Ed, the
# same name, and 32 bytes, which openssl takes behind a head of 12.
check_with_openssl() {
  (
    cd "$place"
    printf '%s' "$1" | openssl base64 -d -A >key.raw
    sed -n 2p SHA256SUMS.minisig | tr -d '\r\n' | openssl base64 -d -A >sig.raw
    [ "$(wc -c <key.raw)" -eq 42 ] && [ "$(wc -c <sig.raw)" -eq 74 ] || exit 1
    [ "$(head -c 2 sig.raw)" = ED ] || exit 1
    [ "$(tail -c 72 sig.raw | head -c 8 | od -An -tx1)" = "$(tail -c 40 key.raw | head -c 8 | od -An -tx1)" ] || exit 1
    printf '\060\052\060\005\006\003\053\145\160\003\041\000' >key.der
    tail -c 32 key.raw >>key.der
    tail -c 64 sig.raw >sig
    openssl dgst -blake2b512 -binary SHA256SUMS >digest
    openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in digest -sigfile sig >/dev/null 2>&1
  )
}

main "$@"

//! Environment of child programs: an allow-list, or variables that the host or the settings name; never all of the
//! host's own. Needs the feature `system`.

mod given;
mod locale;

pub use given::{GivenEnvironment, given_environment};
pub use locale::utf8_environment;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::search_path::search_path_outside;

/// Variables that programs need to find the user's tools and speak the user's language.
const INHERITED: &[&str] = &[
    "ALL_PROXY",
    "APPDATA",
    "CARGO_HOME",
    "COLORTERM",
    "COLUMNS",
    "COMSPEC",
    "CONDA_PREFIX",
    "CURL_CA_BUNDLE",
    "DISPLAY",
    "DOTNET_ROOT",
    "GIT_SSL_CAINFO",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOPROXY",
    "GOROOT",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LOCALAPPDATA",
    "LOGNAME",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "NVM_DIR",
    "PATH",
    "PATHEXT",
    "PNPM_HOME",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "REQUESTS_CA_BUNDLE",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKMAN_DIR",
    "SHELL",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "WAYLAND_DISPLAY",
    "WINDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Variables that change a command invisibly: how the shell parses it, which code programs load, which options
/// they use. A command is judged without them, so it runs without them, even if a host or settings set them.
const NEVER: &[&str] = &[
    "AWKLIBPATH",
    "AWKPATH",
    "BASHOPTS",
    "BASH_ENV",
    "BASH_XTRACEFD",
    "CDPATH",
    "ENV",
    "EXECIGNORE",
    "FIGNORE",
    "GCONV_PATH",
    "GLOBIGNORE",
    "GREP_OPTIONS",
    "GZIP",
    "IFS",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCALE_ARCHIVE",
    "LOCPATH",
    "NLSPATH",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS4",
    "RIPGREP_CONFIG_PATH",
    "SHELLOPTS",
    "TAR_OPTIONS",
    "TERMCAP",
    "TERMINFO",
    "TIMEFORMAT",
    "TZDIR",
    "UNZIP",
    "UNZIPOPT",
    "XZ_DEFAULTS",
    "XZ_OPT",
    "ZIPINFO",
    "ZIPINFOOPT",
    "ZIPOPT",
];

/// Prefixes of such names.
const NEVER_BEGIN: &[&str] = &["BASH_FUNC_", "DYLD_", "LD_"];

/// Variables of git that name no program, repository or configuration. All others are removed.
const HARMLESS_GIT: &[&str] = &[
    "GIT_ADVICE",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_OPTIONAL_LOCKS",
    "GIT_SSL_CAINFO",
    "GIT_TERMINAL_PROMPT",
];

/// Filters a host's environment for child programs: paths of tools and caches, language, proxies and certificates.
/// Everything else is removed, above all keys and tokens; so is a proxy address that holds a password.
///
/// Pass `std::env::vars_os()` and add any other variables that a program needs.
pub fn host_environment(host: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    host.into_iter().filter(|(name, value)| is_inherited(name) && !holds_password(name, value)).collect()
}

fn is_inherited(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    name.starts_with("LC_") || INHERITED.iter().any(|known| is_same_name(known, name))
}

/// Compares names of variables, which are case-insensitive only on Windows.
fn is_same_name(known: &str, name: &str) -> bool {
    if cfg!(windows) { known.eq_ignore_ascii_case(name) } else { known == name }
}

fn holds_password(name: &OsStr, value: &OsStr) -> bool {
    let is_address = name.to_str().is_some_and(|name| {
        let name = name.to_ascii_uppercase();
        name.ends_with("_PROXY") || name == "GOPROXY"
    });
    is_address && value.to_string_lossy().contains('@')
}

/// Environment of one command: the session's variables without those that change commands invisibly (`BASH_ENV`,
/// `LD_*`, `TAR_OPTIONS`, most of `GIT_*` and the like). The search path leads neither through the workspace, by name
/// or through links, nor through the directory in which the command runs. The character set is the one in which the
/// command was analysed: UTF-8 for `LC_CTYPE`, no `LC_ALL`.
pub fn child_environment(given: &[(OsString, OsString)], workspace: &[PathBuf]) -> Vec<(OsString, OsString)> {
    let given = given
        .iter()
        .filter(|(name, _)| !is_never(name))
        .map(|(name, value)| {
            let value = if name.to_str().is_some_and(|name| is_same_name("PATH", name)) {
                search_path_outside(value, workspace)
            } else {
                value.clone()
            };
            (name.clone(), value)
        })
        .collect();
    locale::settled(given)
}

fn is_never(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        let of_git = name.starts_with("GIT_") && !HARMLESS_GIT.contains(&name);
        of_git || NEVER.contains(&name) || NEVER_BEGIN.iter().any(|beginning| name.starts_with(beginning))
    })
}

#[cfg(test)]
mod tests;

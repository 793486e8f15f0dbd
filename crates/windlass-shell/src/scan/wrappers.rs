//! Programs that run their arguments.

/// Layout of a wrapper's own arguments before the command it runs.
#[derive(Clone, Copy)]
pub(super) struct Wrapper {
    name: &'static str,
    /// Short options without a value.
    flags: &'static str,
    /// Short options with a value, attached or separate.
    valued: &'static str,
    /// Long options whose value may be a separate word.
    long_valued: &'static [&'static str],
    /// Words of its own before the command.
    pub(super) positionals: usize,
    /// `true` if `NAME=value` words may come before the command.
    pub(super) assignments: bool,
}

const fn wrapper(
    name: &'static str,
    flags: &'static str,
    valued: &'static str,
    long_valued: &'static [&'static str],
    positionals: usize,
) -> Wrapper {
    Wrapper { name, flags, valued, long_valued, positionals, assignments: false }
}

const fn with_assignments(wrapper: Wrapper) -> Wrapper {
    Wrapper { assignments: true, ..wrapper }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("timeout", "vfp", "ks", &["kill-after", "signal"], 1),
    wrapper("gtimeout", "vfp", "ks", &["kill-after", "signal"], 1),
    wrapper("time", "pvaqV", "fo", &["format", "output"], 0),
    wrapper("nice", "0123456789", "n", &["adjustment"], 0),
    wrapper("nohup", "", "", &[], 0),
    wrapper("stdbuf", "", "ioe", &["input", "output", "error"], 0),
    wrapper("command", "pvV", "", &[], 0),
    wrapper("builtin", "", "", &[], 0),
    wrapper("exec", "cl", "a", &[], 0),
    wrapper("noglob", "", "", &[], 0),
    with_assignments(wrapper("env", "i0v", "uCS", &["unset", "chdir", "split-string"], 0)),
    with_assignments(wrapper(
        "sudo",
        "AbBEeHiKklnPSsvVN",
        "ughpCrtTUDR",
        &[
            "user",
            "group",
            "host",
            "prompt",
            "close-from",
            "role",
            "type",
            "command-timeout",
            "other-user",
            "chdir",
            "chroot",
        ],
        0,
    )),
    wrapper("doas", "Lns", "uC", &[], 0),
    wrapper(
        "xargs",
        "0oprtx",
        "adEeIiLlnPs",
        &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
        0,
    ),
    wrapper("setsid", "cfw", "", &[], 0),
    wrapper("watch", "bcdegptwxrC", "nqs", &["interval", "equexit", "shotsdir"], 0),
    wrapper("ionice", "t", "cnpPu", &["class", "classdata", "pid", "pgid", "uid"], 0),
    wrapper("flock", "sxnuoFv", "wEc", &["timeout", "wait", "conflict-exit-code", "command"], 1),
    wrapper("chroot", "", "", &["userspec", "groups"], 1),
    wrapper("taskset", "apc", "", &[], 1),
    wrapper("chrt", "abdfiomprRv", "TPD", &["sched-runtime", "sched-period", "sched-deadline"], 1),
    wrapper("strace", "cCdfhiknqrtTvVwxyYzZDF", "aAbeEIoOpPsSuUX", &["output", "trace", "attach"], 0),
    wrapper("ltrace", "cCfhiLrStTV", "aADeEFlnopsuwx", &["output"], 0),
    wrapper("unbuffer", "p", "", &[], 0),
    // The architecture may be missing; its names are programs that run their arguments too.
    wrapper("setarch", "BFILRSTX3Zv", "p", &[], 0),
    wrapper("linux64", "BFILRSTX3Zv", "p", &[], 0),
    wrapper("busybox", "", "", &[], 0),
    wrapper("toybox", "", "", &[], 0),
    wrapper("eatmydata", "", "", &[], 0),
    wrapper("fakeroot", "uv", "lsib", &["lib", "faked"], 0),
    wrapper("caffeinate", "dimsu", "tw", &[], 0),
    wrapper("proxychains", "q", "f", &[], 0),
    wrapper("proxychains4", "q", "f", &[], 0),
    wrapper("torsocks", "diq", "uPap", &[], 0),
    wrapper("catchsegv", "", "", &[], 0),
    wrapper("setpriv", "d", "", &["reuid", "regid", "groups", "inh-caps", "ambient-caps", "bounding-set"], 0),
    wrapper("prlimit", "", "p", &["pid"], 0),
    wrapper("cpulimit", "zibfqkrv", "pelc", &["pid", "exe", "limit", "cpu"], 0),
    wrapper("dbus-run-session", "", "", &["config-file", "dbus-daemon"], 0),
    wrapper("xvfb-run", "al", "efnpsw", &["server-args", "server-num"], 0),
];

/// Long options of wrappers that take no value, or only an attached one. Behind any other one the next word may be its
/// value.
const LONG_FLAGS: &[&str] = &[
    "append",
    "askpass",
    "background",
    "beep",
    "block-signal",
    "chgexit",
    "color",
    "ctty",
    "debug",
    "default-signal",
    "differences",
    "edit",
    "eof",
    "errexit",
    "exclusive",
    "exit",
    "foreground",
    "fork",
    "ignore-environment",
    "ignore-signal",
    "interactive",
    "list",
    "list-signal-handling",
    "login",
    "max-lines",
    "no-fork",
    "no-run-if-empty",
    "no-title",
    "no-update",
    "non-interactive",
    "nonblock",
    "null",
    "open-tty",
    "portability",
    "preserve-env",
    "preserve-groups",
    "preserve-status",
    "quiet",
    "replace",
    "reset-timestamp",
    "set-home",
    "shared",
    "shell",
    "show-limits",
    "stdin",
    "verbose",
    "wait",
];

/// Programs whose arguments contain a command at a place that depends on too much: it may begin at
/// each word.
const LOOSE: &[&str] = &[
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "systemd-run",
    "parallel",
    "gdb",
    "lldb",
    "valgrind",
    "perf",
    "rlwrap",
    "numactl",
    "su",
    "runuser",
    "machinectl",
    "systemd-inhibit",
    "start-stop-daemon",
    "daemonize",
    "tmux",
    "screen",
    "expect",
    "entr",
    "pkexec",
    "run-parts",
    "dotenv",
    "direnv",
    "cross-env",
    "bundle",
    "poetry",
    "pipenv",
    "conda",
    "mise",
    "asdf",
    "gosu",
    "su-exec",
    "tini",
    "dumb-init",
    "script",
    "hyperfine",
    "sg",
    "newgrp",
    "flatpak-spawn",
    "arch",
    "i386",
    "x86_64",
    "zsh-defer",
    "watchexec",
    "nodemon",
    "docker",
    "podman",
    "kubectl",
    "ssh",
    "ssh-agent",
    "gpg-agent",
    "proot",
    "chronic",
    "systemd-cat",
    "faketime",
    "capsh",
    "autossh",
    "chpst",
    "distrobox",
    "dsh",
    "envdir",
    "envuidgid",
    "flyctl",
    "fly",
    "gcloud",
    "guix",
    "heroku",
    "ifne",
    "lxc",
    "mosh",
    "nix",
    "nix-shell",
    "pdsh",
    "pee",
    "runcon",
    "sem",
    "setuidgid",
    "softlimit",
    "sshpass",
    "toolbox",
    "torify",
    "vagrant",
    "wsl",
];

/// Shells: with `-c` they run a text, without a file they run their input.
pub(crate) const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "yash"];

/// Returns `true` if a program of this base name is a shell.
#[must_use]
pub fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Returns the usual name of a program of GNU that is installed beside another one of its name: `genv` is `env`.
pub(super) fn usual_name(program: &str) -> &str {
    match program {
        "genv" => "env",
        "gnice" => "nice",
        "gnohup" => "nohup",
        "gstdbuf" => "stdbuf",
        "gtime" => "time",
        "gchroot" => "chroot",
        "gxargs" => "xargs",
        _ => program,
    }
}

pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|w| w.name == name)
}

/// Returns `true` if the program only runs its arguments, in some way.
pub(crate) fn is_wrapper(name: &str) -> bool {
    find(name).is_some()
}

pub(super) fn is_loose(name: &str) -> bool {
    LOOSE.contains(&name)
}

/// Meaning of one word to a wrapper.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WrapperPart {
    /// An option, complete in itself.
    Option,
    /// An option whose value is the next word.
    OptionWithValue,
    /// An option we do not know.
    UnknownOption,
    /// `--`
    End,
    /// Not an option.
    Word,
}

impl Wrapper {
    pub(super) fn part(&self, word: &str) -> WrapperPart {
        if word == "--" {
            return WrapperPart::End;
        }
        if let Some(long) = word.strip_prefix("--") {
            if long.contains('=') {
                return WrapperPart::Option;
            }
            // Abbreviations match too.
            let is_valued = self.long_valued.iter().any(|l| l.starts_with(long));
            return match is_valued {
                true => WrapperPart::OptionWithValue,
                false if LONG_FLAGS.iter().any(|flag| flag.starts_with(long)) => WrapperPart::Option,
                false => WrapperPart::UnknownOption,
            };
        }
        let Some(short) = word.strip_prefix('-') else {
            return WrapperPart::Word;
        };
        if short.is_empty() {
            // `env -` is `env -i`. To others a hyphen is a name.
            return if self.name == "env" { WrapperPart::Option } else { WrapperPart::Word };
        }
        let mut letters = short.chars();
        while let Some(letter) = letters.next() {
            if self.valued.contains(letter) {
                let attached =
                    !letters.as_str().is_empty() || matches!((self.name, letter), ("xargs", 'e' | 'i' | 'l'));
                return if attached { WrapperPart::Option } else { WrapperPart::OptionWithValue };
            }
            if !self.flags.contains(letter) {
                return WrapperPart::UnknownOption;
            }
        }
        WrapperPart::Option
    }
}

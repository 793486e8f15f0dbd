//! Commands carried in the arguments of programs that are no wrappers: as options, or in other languages.

use super::reader::ScriptReader;
use crate::{Undecided, Word, classify, texts};

/// Returns options of interpreters after which a program stands.
fn code_options(program: &str) -> &'static [&'static str] {
    match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "python" | "pypy" | "ipython" => &["-c"],
        "perl" => &["-e", "-E"],
        "ruby" | "lua" | "luajit" | "osascript" | "R" | "Rscript" | "elixir" | "julia" | "groovy" | "bb" | "clj"
        | "clojure" | "ghc" | "kotlin" | "raku" | "scala" | "swift" | "runghc" => &["-e"],
        "erl" => &["-eval"],
        "guile" => &["-c"],
        "racket" => &["-e", "--eval"],
        "sbcl" | "ccl" => &["--eval"],
        "nix" | "nix-instantiate" => &["--expr", "-E"],
        "pwsh" | "powershell" => &["-c", "-C", "-e", "-E"],
        "node" | "nodejs" | "bun" => &["-e", "-p", "--eval", "--print"],
        "php" => &["-r", "-B", "-R", "-E"],
        "vi" | "vim" | "nvim" | "view" | "ex" | "vimdiff" => &["-c", "--cmd", "+"],
        "less" | "more" | "most" => &["+"],
        "emacs" => &["--eval", "-eval", "-f"],
        "dc" | "gnuplot" => &["-e"],
        _ => &[],
    }
}

/// Returns `true` if an interpreter gets a program among its arguments.
pub(crate) fn has_code(program: &str, args: &[Word]) -> bool {
    let options = code_options(program);
    let is_code = |text: &str| {
        options.iter().any(|option| match option.strip_prefix("--") {
            Some(_) => text == *option || text.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')),
            // Bundled with others, or with the program attached.
            None => match option.strip_prefix('-') {
                Some(letter) => {
                    text.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter))
                }
                None => text.starts_with(option),
            },
        })
    };
    let evaluates = matches!(program, "crystal" | "deno") && args.iter().any(|arg| arg.text() == "eval");
    evaluates
        || (!options.is_empty() && args.iter().any(|arg| is_code(arg.text())))
        || texts::has_commands(program, args)
}

/// `true` for interpreters and calculators that run their input as code.
pub(super) fn takes_code(program: &str) -> bool {
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(plain, "bc" | "ed" | "ex" | "tclsh" | "wish" | "expect")
        || (!code_options(program).is_empty()
            && !matches!(plain, "emacs" | "less" | "more" | "most" | "view" | "vimdiff"))
}

/// Loaders of the system, which start the program that they are given.
const LOADERS: &[&str] = &["ld-linux", "ld-musl", "ld.so", "ld64.so"];

/// Package managers, and the words behind which they start a program of the search path.
const LAUNCHES: &[(&str, &[&str])] = &[
    ("bun", &["x"]),
    ("bunx", &["--bun"]),
    ("hatch", &["run"]),
    ("npm", &["exec", "x"]),
    ("pdm", &["run"]),
    ("pnpm", &["exec"]),
    ("rye", &["run"]),
    ("uv", &["run"]),
    ("yarn", &["exec"]),
];

/// Programs with the options whose value is a command.
const COMMAND_OPTIONS: &[(&[&str], &[&str])] = &[
    (
        &["tar", "gtar", "bsdtar"],
        &["-I", "-F", "--use-compress-program", "--to-command", "--info-script", "--rsh-command"],
    ),
    (&["rsync"], &["-e", "--rsh", "--rsync-path"]),
    (&["man"], &["-P", "-H", "--pager", "--html"]),
    (&["npm", "npx", "pnpm"], &["--script-shell", "-c", "--call"]),
    (&["go"], &["-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool"]),
    (&["dpkg"], &["--pre-invoke", "--post-invoke"]),
    (&["tcpdump", "dumpcap"], &["-z"]),
    (&["ag", "bat", "batcat", "delta", "glow"], &["--pager"]),
    (&["bazel", "bazelisk"], &["--run_under"]),
    (&["openvpn"], &["--up", "--down", "--ipchange", "--route-up"]),
    (&["fzf"], &["--preview"]),
    (&["nc", "ncat", "netcat"], &["-e", "-c", "--exec", "--sh-exec"]),
    (&["scp", "sftp"], &["-D", "-S"]),
    (&["split", "gsplit"], &["--filter"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["sort"], &["--compress-program"]),
    (&["rg"], &["--pre", "--hostname-bin"]),
];

/// Texts behind which a command stands in an argument of these programs.
const COMMAND_MARKS: &[(&str, &[&str])] = &[
    ("EXEC:", &["socat"]),
    ("SYSTEM:", &["socat"]),
    ("KnownHostsCommand=", &["scp", "sftp", "ssh"]),
    ("LocalCommand=", &["scp", "sftp", "ssh"]),
    ("ProxyCommand=", &["scp", "sftp", "ssh"]),
    ("!", &["gdb", "lldb", "ltrace", "strace"]),
    ("%(", &["rpm", "rpmbuild", "rpmspec"]),
    ("become(", &["fzf"]),
    ("execute(", &["fzf"]),
    ("execute-silent(", &["fzf"]),
    ("ext::", &["git"]),
    ("pipe ", &["gdb", "lldb"]),
    ("preview(", &["fzf"]),
    ("reload(", &["fzf"]),
    ("shell ", &["gdb", "lldb"]),
    ("|", &["ltrace", "strace"]),
    ("spawn ", &["expect"]),
];

/// Returns `true` for settings of git by which it runs programs that the setting does not name.
fn runs_unseen(key: &str, value: &str) -> bool {
    let key = key.to_lowercase();
    let key = key.trim_start_matches("-c");
    let takes_hooks = matches!(key, "core.hookspath" | "init.templatedir") && !matches!(value, "" | "/dev/null");
    takes_hooks || (key.starts_with("url.") && key.contains("ext::"))
}

/// Returns `true` if a program of the `make` kind reads what it runs from its input, or from what another command
/// writes: `make -f -`.
pub(super) fn has_input_as_file(args: &[Word]) -> bool {
    let is_unseen = |word: &Word, value: &str| value == "-" || value.starts_with("/dev/") || !word.is_literal();
    args.iter().enumerate().any(|(index, arg)| {
        let text = arg.text();
        let option = ["--file", "--makefile", "--justfile", "-f"].iter().find_map(|name| text.strip_prefix(name));
        match option {
            Some("") => args.get(index.saturating_add(1)).is_some_and(|next| is_unseen(next, next.text())),
            Some(value) => is_unseen(arg, value.trim_start_matches('=')),
            None => false,
        }
    })
}

impl ScriptReader<'_, '_> {
    /// Records the commands that a program runs because of its arguments.
    pub(super) fn carried(&mut self, program: &str, words: &[Word], wrapped: usize) {
        let args = words.get(1..).unwrap_or_default();
        self.aliased(program, words, wrapped);
        for (_, options) in COMMAND_OPTIONS.iter().filter(|(programs, _)| programs.contains(&program)) {
            self.command_options(args, options);
        }
        match program {
            "git" => self.git(args, wrapped),
            "make" | "gmake" | "bmake" => self.make(args),
            "cargo" => self.cargo(args),
            "apt" | "apt-get" | "aptitude" => self.apt(args),
            "cmake" if args.first().is_some_and(|arg| arg.text() == "-E") => {
                self.suffixes(args.get(1..).unwrap_or_default(), wrapped);
            }
            "just" => {
                if has_input_as_file(args) {
                    self.undecided(Undecided::Script);
                }
                if let Some(at) = args.iter().position(|arg| matches!(arg.text(), "-c" | "--command")) {
                    self.suffixes(args.get(at.saturating_add(1)..).unwrap_or_default(), wrapped);
                }
                self.command_options(args, &["--shell", "-c", "--command"]);
            }
            "sed" | "gsed" if !classify::is_understood(words) => {
                self.undecided(Undecided::Script);
                for script in args.iter().flat_map(|arg| texts::sed_commands(arg.text(), &['e'])) {
                    self.nested_script(script);
                }
            }
            "awk" | "gawk" | "mawk" | "nawk" if !classify::is_understood(words) => {
                self.undecided(Undecided::Script);
                let programs = args.iter().map(Word::text).filter(|text| texts::awk_runs_commands(text));
                for string in programs.flat_map(texts::awk_strings) {
                    self.nested_script(&string.text);
                }
            }
            _ => {}
        }
        self.launched(program, args, wrapped);
        for (mark, programs) in COMMAND_MARKS {
            if programs.contains(&program) {
                for (_, command) in args.iter().filter_map(|arg| arg.text().split_once(mark)) {
                    self.nested_script(command);
                }
            }
        }
        if program.starts_with("tar") || program.ends_with("tar") {
            for action in args.iter().filter_map(|arg| arg.text().split_once("=exec=")) {
                self.nested_script(action.1);
            }
        }
        if has_code(program, args) {
            self.undecided(Undecided::Script);
            for script in texts::shell_commands(program, args) {
                self.nested_script(script);
            }
        }
    }

    /// Records the program that a package manager or a loader starts: `npm exec x`, `uv run x`, `ld.so x`.
    fn launched(&mut self, program: &str, args: &[Word], wrapped: usize) {
        if LOADERS.iter().any(|loader| program.starts_with(loader)) {
            self.suffixes(args, wrapped);
        }
        let Some((_, words)) = LAUNCHES.iter().find(|(launcher, _)| *launcher == program) else { return };
        if let Some(at) = args.iter().position(|word| words.contains(&word.text())) {
            self.suffixes(args.get(at.saturating_add(1)..).unwrap_or_default(), wrapped);
        }
    }

    /// Records the programs that settings of the command line give to `cargo`: runners, wrappers, compilers.
    fn cargo(&mut self, args: &[Word]) {
        for (index, arg) in args.iter().enumerate() {
            let setting = match arg.text().strip_prefix("--config") {
                Some("") => args.get(index.saturating_add(1)).map(Word::text),
                Some(attached) => attached.strip_prefix('='),
                None => None,
            };
            match setting.map(|setting| setting.split_once('=')) {
                Some(Some((_, value))) => {
                    // A list has the program and its arguments.
                    let command = value.replace(['[', ']', '"', '\'', '{', '}'], " ").replace(',', " ");
                    self.nested_script(command.trim());
                }
                // A file of settings.
                Some(None) => self.undecided(Undecided::Program),
                None => {}
            }
        }
    }

    /// Records the commands that settings of the command line give to `apt`.
    fn apt(&mut self, args: &[Word]) {
        for arg in args.iter().filter(|arg| arg.text().contains("::")) {
            if let Some((_, command)) = arg.text().split_once('=') {
                self.nested_script(command);
            }
        }
    }

    /// Records the values of options that are command lines.
    fn command_options(&mut self, args: &[Word], options: &[&str]) {
        for (index, arg) in args.iter().enumerate() {
            for option in options {
                let Some(rest) = arg.text().strip_prefix(option) else {
                    continue;
                };
                let next = args.get(index.saturating_add(1));
                match (rest.strip_prefix('='), rest.is_empty(), option.starts_with("--")) {
                    (Some(value), _, _) => self.nested_script(value),
                    (None, true, _) => self.script_in(next),
                    (None, false, false) => self.nested_script(rest),
                    (None, false, true) => {}
                }
            }
        }
    }

    fn script_in(&mut self, word: Option<&Word>) {
        match word.map(|w| (w.is_literal(), w.text())) {
            Some((true, text)) => self.nested_script(text),
            Some((false, _)) => self.undecided(Undecided::Script),
            None => {}
        }
    }

    fn git(&mut self, args: &[Word], wrapped: usize) {
        let mut rest = args;
        while let Some((word, tail)) = rest.split_first() {
            rest = tail;
            match word.text() {
                "-c" => {
                    if let Some(setting) = tail.first() {
                        self.git_setting(setting);
                        rest = tail.get(1..).unwrap_or_default();
                    }
                }
                "--config-env" => {
                    if let Some(setting) = tail.first() {
                        self.git_setting_of_variable(setting, setting.text());
                        rest = tail.get(1..).unwrap_or_default();
                    }
                }
                "-C" | "--attr-source" | "--git-dir" | "--namespace" | "--shallow-file" | "--super-prefix"
                | "--work-tree" => rest = tail.get(1..).unwrap_or_default(),
                text if text.starts_with("--config-env=") => {
                    self.git_setting_of_variable(word, text.strip_prefix("--config-env=").unwrap_or_default());
                }
                text if text.starts_with("-c") => self.git_setting(word),
                // Git takes its commands from the directory of `--exec-path`.
                text if text.starts_with("--exec-path=") => self.undecided(Undecided::Program),
                text if text.starts_with('-') => {}
                "bisect" if tail.first().is_some_and(|w| w.text() == "run") => {
                    self.emit(tail.get(1..).unwrap_or_default(), Vec::new(), wrapped.saturating_add(1));
                    return;
                }
                "remote-ext" => {
                    tail.iter().for_each(|arg| self.script_in(Some(arg)));
                    return;
                }
                "submodule" => return self.git_foreach(tail, wrapped),
                "for-each-repo" => return self.git_in_each(tail, wrapped),
                "rebase" => return self.command_options(tail, &["-x", "--exec"]),
                "difftool" => return self.command_options(tail, &["-x", "--extcmd"]),
                "grep" => return self.command_options(tail, &["-O", "--open-files-in-pager"]),
                "fetch" | "pull" | "clone" | "ls-remote" | "push" | "fetch-pack" | "send-pack" | "archive" => {
                    return self.command_options(tail, &["-u", "--upload-pack", "--receive-pack", "--exec"]);
                }
                "filter-branch" => {
                    for arg in tail {
                        self.script_in(Some(arg));
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    /// Records `alias.x=!command`, `core.pager=command`.
    fn git_setting(&mut self, setting: &Word) {
        match setting.text().split_once('=') {
            // Hooks and addresses that run programs are not seen.
            Some((key, value)) if setting.is_literal() && runs_unseen(key, value) => self.undecided(Undecided::Script),
            Some((_, value)) if setting.is_literal() => self.nested_script(value.trim_start_matches('!')),
            _ if setting.is_literal() => {}
            _ => self.undecided(Undecided::Script),
        }
    }

    /// `alias.x=NAME`: the value of the variable is unknown. No setting of `http` is a command.
    fn git_setting_of_variable(&mut self, word: &Word, setting: &str) {
        if !word.is_literal() || !setting.starts_with("http.") {
            self.undecided(Undecided::Script);
        }
    }

    /// `git for-each-repo --config=KEY ARGUMENTS`, which runs `git ARGUMENTS` in each repository.
    fn git_in_each(&mut self, args: &[Word], wrapped: usize) {
        let mut rest = args;
        while let Some((word, tail)) = rest.split_first().filter(|(word, _)| word.text().starts_with('-')) {
            rest = if word.text() == "--config" { tail.get(1..).unwrap_or_default() } else { tail };
        }
        if !rest.is_empty() {
            let words = [&[Word::literal("git")], rest].concat();
            self.emit(&words, Vec::new(), wrapped.saturating_add(1));
        }
    }

    fn git_foreach(&mut self, args: &[Word], wrapped: usize) {
        let Some(at) = args.iter().position(|w| w.text() == "foreach") else {
            return;
        };
        let after = args.get(at.saturating_add(1)..).unwrap_or_default();
        let options = after.iter().take_while(|w| w.text().starts_with('-')).count();
        let command = after.get(options..).unwrap_or_default();
        self.emit(command, Vec::new(), wrapped.saturating_add(1));
        if let [script] = command {
            self.script_in(Some(script));
        }
    }
}

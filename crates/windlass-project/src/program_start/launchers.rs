//! Programs that run code which their arguments or their directory name.

/// Runners of packages, each with the sub-commands that run one (none: all words do). They look in `node_modules/.bin`
/// of the current directory, and of those above it, first.
const PACKAGE_RUNNERS: &[(&str, &[&str])] = &[
    ("npx", &[]),
    ("pnpx", &[]),
    ("bunx", &[]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx", "exec"]),
    ("yarn", &["dlx", "exec"]),
    ("bun", &["x"]),
];

/// A program that runs a script.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launcher {
    /// The names, without versions (`python` for `python3.12`).
    names: &'static [&'static str],
    /// The letters of short options whose word is code, so that no script follows.
    code: &'static str,
    /// The letters of short options that take the next word.
    valued: &'static str,
    /// Maximum number of words behind the options that can name code: the script, or a sub-command and the script.
    pub(super) words: usize,
    /// `true` if `-m` names a module.
    has_modules: bool,
}

const fn launcher(
    names: &'static [&'static str],
    (code, valued): (&'static str, &'static str),
    words: usize,
) -> Launcher {
    Launcher { names, code, valued, words, has_modules: false }
}

const LAUNCHERS: &[Launcher] = &[
    launcher(&["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox"], ("c", "oO"), 1),
    Launcher { has_modules: true, ..launcher(&["python", "pypy", "py"], ("cm", "WXQ"), 1) },
    launcher(&["node", "nodejs"], ("ep", "rC"), 1),
    launcher(&["tsx", "ts-node"], ("e", "rP"), 1),
    launcher(&["ruby", "perl"], ("eE", "IrC"), 1),
    launcher(&["php"], ("r", "cd"), 1),
    launcher(&["lua", "luajit", "tclsh", "osascript", "Rscript", "pwsh", "powershell", "java"], ("ec", "l"), 1),
    launcher(&["source", "."], ("", ""), 1),
    launcher(&["deno", "bun"], ("e", ""), 2),
    // Launchers of a directory or file in their arguments.
    launcher(&["uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "conda"], ("", ""), 3),
    launcher(&["npm", "pnpm", "yarn", "composer", "bundle", "rake"], ("", ""), 3),
    launcher(&["make", "gmake", "just", "task", "cargo", "go", "dotnet", "gradle", "mvn"], ("", ""), 3),
    launcher(&["git", "hg", "jj"], ("", ""), 3),
];

/// Returns `true` if words name a runner of packages.
pub(super) fn is_package_runner(program: &str, args: &[&str]) -> bool {
    let name = plain_name(program);
    let Some((_, commands)) = PACKAGE_RUNNERS.iter().find(|(runner, _)| *runner == name) else { return false };
    let is_option = |arg: &&str| arg.starts_with('-');
    let at = args.iter().position(|arg| !is_option(arg)).unwrap_or(args.len());
    // The first word may be the value of an option before it.
    let may_be_value =
        at.checked_sub(1).and_then(|before| args.get(before)).is_some_and(|before| !before.contains('='));
    let words = args.iter().skip(at).filter(|arg| !is_option(arg)).take(1 + usize::from(may_be_value));
    commands.is_empty() || words.into_iter().any(|word| commands.contains(word))
}

impl Launcher {
    /// Returns the launcher of a name.
    pub(super) fn of(program: &str) -> Option<&'static Self> {
        let name = plain_name(program);
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        LAUNCHERS.iter().find(|launcher| launcher.names.contains(&name) || launcher.names.contains(&bare))
    }

    /// Returns `true` if the word behind an option is code, so that no script follows.
    pub(super) fn takes_code(&self, option: &str) -> bool {
        letters(option).is_some_and(|short| short.contains(|c| self.code.contains(c)))
            || matches!(option, "--eval" | "--print" | "--command")
    }

    /// Returns `true` if the word behind an option is its value.
    pub(super) fn takes_value(&self, option: &str) -> bool {
        letters(option).is_some_and(|short| short.ends_with(|c| self.valued.contains(c)))
    }

    /// Returns `true` if a word behind the options is a script; otherwise it names a sub-command or a package, too.
    pub(super) fn has_scripts(&self) -> bool {
        self.words < 3
    }

    /// Returns `true` if an option names a module.
    pub(super) fn names_module(&self, option: &str) -> bool {
        self.has_modules && letters(option).is_some_and(|short| short.contains('m'))
    }
}

/// Returns the letters of a cluster of short options.
fn letters(option: &str) -> Option<&str> {
    option.strip_prefix('-').filter(|short| !short.starts_with('-') && !short.is_empty())
}

/// Returns the base name of a program, without the ending that programs have on Windows.
fn plain_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    ["", ".exe", ".cmd", ".bat"].iter().rev().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

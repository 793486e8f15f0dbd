//! Programs that run code which their words or their directory name: one reading for all that judge command lines.

use windlass_shell::Word;

/// Runners of packages, each with the sub-commands that run one (none: all words do).
const PACKAGE_RUNNERS: &[(&str, &[&str])] = &[
    ("npx", &[]),
    ("pnpx", &[]),
    ("bunx", &[]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx", "exec"]),
    ("yarn", &["dlx", "exec"]),
    ("bun", &["x"]),
];

/// A program that runs a script or a sub-command among its words.
#[derive(Debug, Clone, Copy)]
pub struct Launcher {
    /// Names, without versions (`python` for `python3.12`).
    names: &'static [&'static str],
    /// Letters of short options whose word is code, so that no script follows.
    code: &'static str,
    /// Letters of short options behind which a value stands, in the same word or the next.
    valued: &'static str,
    kind: LauncherKind,
}

/// Kind of the words that a launcher runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LauncherKind {
    /// The first operand is the script.
    Script,
    /// Like `Script`; `-m` names a module.
    ScriptOrModule,
    /// An action on a file may stand before the script.
    VerbAndScript,
    /// A sub-command, with what it runs among its words.
    SubCommand,
}

/// Maximum number of operands of a [`LauncherKind::SubCommand`] that can name code.
const MAX_SUB_COMMAND_WORDS: usize = 3;

/// Actions behind which the script of a [`LauncherKind::VerbAndScript`] stands.
const VERBS: &[&str] = &["c", "compile", "r", "run", "watch"];

/// Role of a word behind a launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchedRole<'w> {
    /// An option, code, or an action.
    Other,
    /// A module that is looked for in the working directory.
    Module(&'w str),
    /// A script, a sub-command, or the value of an option that may be one.
    Script,
    /// An argument of code that was given in an option.
    Argument,
}

/// A word behind a launcher.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LaunchedWord<'w> {
    /// Word of the command line.
    pub word: &'w Word,
    /// Text of the word; of an option with `=`, that behind it.
    pub text: &'w str,
    /// Role of the text.
    pub role: LaunchedRole<'w>,
}

const fn launcher(
    names: &'static [&'static str],
    (code, valued): (&'static str, &'static str),
    kind: LauncherKind,
) -> Launcher {
    Launcher { names, code, valued, kind }
}

const LAUNCHERS: &[Launcher] = &[
    launcher(
        &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox", "csh", "rbash", "tcsh", "yash"],
        ("c", "oO"),
        LauncherKind::Script,
    ),
    launcher(&["python", "pypy", "py"], ("cm", "WXQ"), LauncherKind::ScriptOrModule),
    launcher(&["node", "nodejs", "nodemon"], ("ep", "rC"), LauncherKind::Script),
    launcher(&["tsx", "ts-node"], ("e", "rP"), LauncherKind::Script),
    launcher(&["ruby", "perl"], ("eE", "IrCMmiFx"), LauncherKind::Script),
    launcher(&["php"], ("r", "cd"), LauncherKind::Script),
    launcher(
        &["lua", "luajit", "tclsh", "osascript", "Rscript", "pwsh", "powershell", "java"],
        ("ec", "l"),
        LauncherKind::Script,
    ),
    launcher(
        &[
            "ansible-playbook",
            "bb",
            "coffee",
            "elixir",
            "expect",
            "gjs",
            "groovy",
            "guile",
            "julia",
            "kotlin",
            "kotlinc",
            "ocaml",
            "racket",
            "raku",
            "runghc",
            "runhaskell",
            "sbcl",
            "scala",
            "swift",
            "wasmtime",
        ],
        ("e", ""),
        LauncherKind::Script,
    ),
    launcher(&["source", "."], ("", ""), LauncherKind::Script),
    launcher(
        &["bun", "clj", "clojure", "crystal", "dart", "deno", "nim", "zig"],
        ("e", ""),
        LauncherKind::VerbAndScript,
    ),
    // Launchers of a directory or file in their arguments.
    launcher(&["uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "conda"], ("", ""), LauncherKind::SubCommand),
    launcher(&["npm", "pnpm", "yarn", "composer", "bundle", "rake"], ("", ""), LauncherKind::SubCommand),
    launcher(
        &["make", "gmake", "just", "task", "cargo", "go", "dotnet", "gradle", "mvn"],
        ("", ""),
        LauncherKind::SubCommand,
    ),
    launcher(&["git", "hg", "jj"], ("", ""), LauncherKind::SubCommand),
];

/// Returns `true` if words name a runner of packages: it looks in `node_modules/.bin` of the current directory, and of
/// those above it, first.
#[must_use]
pub fn is_package_runner(program: &str, args: &[&str]) -> bool {
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
    #[must_use]
    pub fn of(program: &str) -> Option<&'static Self> {
        let name = plain_name(program);
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        LAUNCHERS.iter().find(|launcher| launcher.names.contains(&name) || launcher.names.contains(&bare))
    }

    /// Returns `true` if an operand is a script; otherwise it may name a sub-command or a package, too.
    #[must_use]
    pub fn has_scripts(&self) -> bool {
        self.kind != LauncherKind::SubCommand
    }

    /// Returns the words that can name code, and those before them: up to the script, or for sub-commands up to the third
    /// operand. The word behind an option may be its value or the script, and is taken for both.
    #[must_use]
    pub fn words<'w>(&self, args: &'w [Word]) -> Vec<LaunchedWord<'w>> {
        let mut words = Vec::new();
        let (mut may_be_value, mut is_code, mut has_code, mut operands) = (false, false, false, 0_usize);
        for (at, word) in args.iter().enumerate() {
            let text = word.text();
            let launched = |text, role| LaunchedWord { word, text, role };
            if std::mem::take(&mut is_code) {
                (may_be_value, has_code) = (false, true);
                words.push(launched(text, LaunchedRole::Other));
                continue;
            }
            if let Some(attached) = self.module(text) {
                let next = || args.get(at.saturating_add(1)).and_then(Word::as_literal).unwrap_or_default();
                let name = if attached.is_empty() { next() } else { attached };
                words.push(launched(text, LaunchedRole::Module(name)));
                return words;
            }
            if text.starts_with('-') && text.len() > 1 {
                let value = text.split_once('=').map(|(_, value)| value);
                let role = if value.is_some() { LaunchedRole::Script } else { LaunchedRole::Other };
                words.push(launched(value.unwrap_or(text), role));
                is_code = value.is_none() && self.takes_code(text);
                may_be_value = value.is_none();
                continue;
            }
            if has_code {
                words.push(launched(text, LaunchedRole::Argument));
                continue;
            }
            // `bun run lint` names a script of the package, `bun run lint.ts` a file.
            let is_name = self.kind == LauncherKind::VerbAndScript && !text.contains(['.', '/']);
            words.push(launched(text, if is_name { LaunchedRole::Other } else { LaunchedRole::Script }));
            operands = operands.saturating_add(1);
            let goes_on = match self.kind {
                LauncherKind::SubCommand => operands < MAX_SUB_COMMAND_WORDS,
                _ => may_be_value || (is_name && VERBS.contains(&text)),
            };
            if !goes_on {
                return words;
            }
            may_be_value = false;
        }
        words
    }

    /// Returns `true` if the word behind an option is code, so that no script follows.
    fn takes_code(&self, option: &str) -> bool {
        self.flags(option).is_some_and(|flags| flags.contains(|c| self.code.contains(c)))
            || matches!(option, "--eval" | "--print" | "--command")
    }

    /// Returns the module that an option names: empty if it is the next word.
    fn module<'t>(&self, option: &'t str) -> Option<&'t str> {
        let flags = self.flags(option).filter(|_| self.kind == LauncherKind::ScriptOrModule)?;
        let at = flags.find('m')?;
        // `-cmain` is code.
        let is_code = flags.get(..at).is_some_and(|before| before.contains('c'));
        flags.get(at.saturating_add(1)..).filter(|_| !is_code)
    }

    /// Returns the letters of a cluster of short options, up to one behind which a value stands.
    fn flags<'t>(&self, option: &'t str) -> Option<&'t str> {
        let short = option.strip_prefix('-').filter(|short| !short.starts_with('-') && !short.is_empty())?;
        short.split(|c| self.valued.contains(c)).next()
    }
}

/// Returns the base name of a program, without the ending that programs have on Windows.
fn plain_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    ["", ".exe", ".cmd", ".bat"].iter().rev().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

//! The programs of a line, judged one by one.
//!
//! The line is the work of the user, not of an attacker: the question is which files it takes from the project, however
//! those came there.

use super::{StartCause, StartRefusal};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use windlass_permission::{LaunchedRole, Launcher, is_package_runner};
use windlass_shell::{FoundCommand, Undecided, Word, analyse};
use windlass_tool::search_path::{environment_outside, is_inside};

/// Beginning of a path that replaces the value of a variable while a line is read.
const STAND_IN: &str = "/.windlass-variable.";

/// Facts that decide if a program may start.
pub(super) struct Judge<'a> {
    pub(super) workspace: &'a [PathBuf],
    /// A directory that may lie in the project and is trusted by itself.
    pub(super) own: Option<&'a Path>,
    pub(super) home: Option<&'a Path>,
    /// Environment. Of variables with one name the first is used.
    pub(super) env: &'a [(OsString, OsString)],
}

impl Judge<'_> {
    /// Returns the reason why a program without a shell does not start, if there is one.
    pub(super) fn words(&self, program: &str, args: &[String]) -> Option<StartRefusal> {
        let quoted: Vec<String> = std::iter::once(program).chain(args.iter().map(String::as_str)).map(quoted).collect();
        self.read(&quoted.join(" "))
    }

    /// Returns the reason why the programs of a line do not start, if there is one.
    pub(super) fn line(&self, line: &str) -> Option<StartRefusal> {
        self.read(&self.substituted(line))
    }

    fn read(&self, text: &str) -> Option<StartRefusal> {
        let analysis = analyse(text);
        let refused = analysis.found().iter().find_map(|command| self.command(command));
        // Code for another interpreter is none of the directory's; code that a shell generates at run time is judged
        // with its command.
        let unreadable = || match analysis.undecided() {
            None | Some(Undecided::Definition | Undecided::Script) => None,
            Some(_) => Some(StartRefusal { program: self.restored(text).into_owned(), cause: StartCause::Unreadable }),
        };
        refused.or_else(unreadable)
    }

    /// Returns the reason why one command does not start.
    fn command(&self, command: &FoundCommand) -> Option<StartRefusal> {
        let (first, rest) = command.words().split_first()?;
        // One that is not plain text leaves the line undecided.
        let program = self.restored(first.as_literal()?);
        let args: Vec<Cow<'_, str>> = rest.iter().map(|word| self.restored(word.text())).collect();
        let cause = self.cause(&program, &args, rest)?;
        let shown = std::iter::once(&program).chain(&args).map(Cow::as_ref).collect::<Vec<_>>().join(" ");
        Some(StartRefusal { program: shown, cause })
    }

    fn cause(&self, program: &str, args: &[Cow<'_, str>], words: &[Word]) -> Option<StartCause> {
        if let Some(cause) = self.of_program(program) {
            return Some(cause);
        }
        let texts: Vec<&str> = args.iter().map(Cow::as_ref).collect();
        if is_package_runner(program, &texts) {
            return Some(StartCause::PackageRunner);
        }
        if matches!(program, "cd" | "pushd") {
            return self.of_directory(&texts, words);
        }
        if program == "eval" {
            return words.iter().any(|word| !word.is_literal()).then_some(StartCause::Unreadable);
        }
        self.of_launcher(Launcher::of(program)?, program, words)
    }

    /// Returns the start cause of the program itself: a path, or a name that is looked up in the search path.
    fn of_program(&self, program: &str) -> Option<StartCause> {
        let path = Path::new(program);
        if path.is_absolute() {
            return self.is_inside(path).then_some(StartCause::Inside);
        }
        // `.` reads a script, and `..` is no program.
        if program.contains('/') || (cfg!(windows) && program.contains('\\')) {
            return Some(StartCause::Relative);
        }
        let everywhere = self.find(program, self.env)?;
        let outside = self.find(program, &environment_outside(self.env, self.workspace));
        let file = outside.unwrap_or(everywhere);
        self.is_inside(&file).then_some(StartCause::Inside)
    }

    /// Returns the first file of a name in a search path. The right to execute the file is not checked.
    fn find(&self, name: &str, env: &[(OsString, OsString)]) -> Option<PathBuf> {
        let (_, path) = env.iter().find(|(name, _)| name == "PATH")?;
        let files = std::env::split_paths(path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
        // A link into the project may have its file later.
        files.into_iter().find(|file| file.is_file() || (file.is_symlink() && self.is_inside(file)))
    }

    /// Handles a change of the directory. Without a word, it changes to the home.
    fn of_directory(&self, args: &[&str], words: &[Word]) -> Option<StartCause> {
        let index = args.iter().position(|arg| !arg.starts_with('-'))?;
        let (target, word) = (args.get(index)?, words.get(index)?);
        if !word.is_literal() {
            return Some(StartCause::Unreadable);
        }
        self.is_inside(Path::new(target)).then_some(StartCause::Directory)
    }

    /// Returns the reason in the scripts, modules and directories that a launcher runs.
    fn of_launcher(&self, launcher: &Launcher, program: &str, words: &[Word]) -> Option<StartCause> {
        for launched in launcher.words(words) {
            if !launched.word.is_literal() {
                return Some(StartCause::Unreadable);
            }
            let text = self.restored(launched.text);
            if self.is_inside(Path::new(text.as_ref())) {
                return Some(StartCause::Inside);
            }
            match launched.role {
                LaunchedRole::Module(_) if !Path::new(program).is_absolute() => return Some(StartCause::Module),
                LaunchedRole::Script if is_relative_file(&text, launcher) => return Some(StartCause::Relative),
                LaunchedRole::Argument => return None,
                _ => {}
            }
        }
        None
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.is_absolute()
            && is_inside(path, self.workspace)
            && !self.own.is_some_and(|own| is_inside(path, std::slice::from_ref(&own.to_path_buf())))
    }

    /// Returns the value of a variable that is a path.
    fn path_of(&self, name: &str) -> Option<&str> {
        let (_, value) = self.env.iter().find(|(known, _)| known == name)?;
        value.to_str().filter(|value| value.starts_with('/') && !value.contains(':'))
    }

    /// Returns a line in which path variables and `~/` are replaced by words that identify them.
    fn substituted(&self, line: &str) -> String {
        let (mut text, mut rest, mut last) = (String::with_capacity(line.len()), line, ' ');
        while let Some(c) = rest.chars().next() {
            let variable = rest.strip_prefix('$').and_then(|after| self.variable(after));
            let is_home = c == '~' && self.home.is_some() && (last.is_whitespace() || ";|&(=".contains(last));
            if let Some((name, after)) = variable {
                (text, rest) = (text + STAND_IN + name, after);
            } else if is_home && (rest.starts_with("~/") || rest.chars().nth(1).is_none_or(char::is_whitespace)) {
                (text, rest) = (text + STAND_IN + "~", rest.strip_prefix('~').unwrap_or_default());
            } else {
                text.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
            last = text.chars().next_back().unwrap_or(' ');
        }
        text
    }

    /// Returns the path variable at the beginning of a text, and the rest.
    fn variable<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let (name, after) = match text.strip_prefix('{') {
            Some(braced) => braced.split_once('}')?,
            None => text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())),
        };
        let is_separate = !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '~');
        (is_separate && self.path_of(name).is_some()).then_some((name, after))
    }

    /// Returns a text with stand-ins replaced by the paths of their variables.
    fn restored<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut parts = text.split(STAND_IN);
        let first = parts.next().unwrap_or_default();
        let mut whole = first.to_owned();
        let mut is_changed = false;
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '~').unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            let home = || self.home.and_then(Path::to_str);
            whole.push_str(if name == "~" { home() } else { self.path_of(name) }.unwrap_or_default());
            whole.push_str(rest);
            is_changed = true;
        }
        if is_changed { Cow::Owned(whole) } else { Cow::Borrowed(text) }
    }
}

/// Returns `true` if a word seems to name a file of the current directory.
fn is_relative_file(word: &str, launcher: &Launcher) -> bool {
    let is_address = word.contains("://") || word.starts_with('@');
    let has_ending = launcher.has_scripts()
        && word.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && (1..=4).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphabetic())
        });
    !Path::new(word).is_absolute() && !is_address && (word.starts_with("./") || word.starts_with("../") || has_ending)
}

/// Returns a word of a line that is exactly this text.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

//! Working directories of the commands of an understood text.

use crate::command::{Connector, SimpleCommand, Understood};
use crate::word::Word;
use std::path::{Component, Path, PathBuf};
use windlass_types::path::{absolute, is_written_plainly, joined};

/// Maximum number of directories in which one command may run. With more, a text is not followed.
const MAX_DIRECTORIES: usize = 32;

/// Directories in which the commands of an understood text may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Directories {
    /// For each command the directories in which it may run: absolute, each `..` that the system may walk still in
    /// them.
    Followed(Vec<Vec<PathBuf>>),
    /// A directory comes from an option, an expansion or an earlier state of the shell, or is changed in a pipeline.
    Unknown,
    /// More directories than are followed.
    TooMany,
}

/// The directories that a shell may be in behind a command, by the command's exit status.
struct ShellDirectories {
    succeeded: Vec<PathBuf>,
    failed: Vec<PathBuf>,
}

impl Understood {
    /// Returns the directories in which each command may run, for a text that starts in `start`.
    ///
    /// Links are not followed: a directory that is one has to be resolved, with each `..` behind it.
    #[must_use]
    pub fn directories(&self, start: &Path) -> Directories {
        let here = vec![start.to_path_buf()];
        let mut standing = ShellDirectories { succeeded: here.clone(), failed: Vec::new() };
        let (mut all, mut run) = (Vec::with_capacity(self.commands.len()), here);
        let mut commands = self.commands.iter().peekable();
        while let Some(command) = commands.next() {
            let bypassed = standing.step(command.connector(), &mut run);
            if run.len() > MAX_DIRECTORIES {
                return Directories::TooMany;
            }
            all.push(run.clone());
            let piped = command.connector() == Connector::Pipe
                || commands.peek().is_some_and(|next| next.connector() == Connector::Pipe);
            let arrived = match (changes_directory(command), literal_cd(command)) {
                (false, _) => run.clone(),
                (true, Some(directory)) if !piped => both(&run, directory),
                _ => return Directories::Unknown,
            };
            // The shell may not stay where a change fails.
            let mut failed = run.clone();
            add(&mut failed, &arrived);
            standing = ShellDirectories { succeeded: arrived, failed }.negated(command.negated).with(&bypassed);
        }
        Directories::Followed(all)
    }
}

impl ShellDirectories {
    /// Sets the directories in which the next command runs. The answer is where the shell stands if the command does
    /// not run.
    fn step(&self, connector: Connector, run: &mut Vec<PathBuf>) -> Self {
        let (mut succeeded, mut failed) = (Vec::new(), Vec::new());
        match connector {
            Connector::Pipe => {}
            Connector::And => {
                run.clone_from(&self.succeeded);
                failed.clone_from(&self.failed);
            }
            Connector::Or => {
                run.clone_from(&self.failed);
                succeeded.clone_from(&self.succeeded);
            }
            Connector::First | Connector::Sequence => {
                run.clone_from(&self.succeeded);
                add(run, &self.failed);
            }
        }
        Self { succeeded, failed }
    }

    fn negated(self, negated: bool) -> Self {
        if negated { Self { succeeded: self.failed, failed: self.succeeded } } else { self }
    }

    fn with(mut self, bypassed: &Self) -> Self {
        add(&mut self.succeeded, &bypassed.succeeded);
        add(&mut self.failed, &bypassed.failed);
        self
    }
}

fn add(directories: &mut Vec<PathBuf>, more: &[PathBuf]) {
    for directory in more {
        if !directories.contains(directory) {
            directories.push(directory.clone());
        }
    }
}

/// Returns every directory to which a `cd` may lead from these.
fn both(from: &[PathBuf], directory: &str) -> Vec<PathBuf> {
    let mut arrived = Vec::new();
    for from in from {
        add(&mut arrived, &both_ways(from, Path::new(directory)));
    }
    arrived
}

/// Returns the directory of a `cd` by its name alone and as the system walks there, where these differ: for `..` the
/// shell drops the last name of its path, and takes the parent on disk if that fails.
#[must_use]
pub fn both_ways(base: &Path, directory: &Path) -> Vec<PathBuf> {
    let (by_name, walked) = (absolute(base, directory), as_written(base, directory));
    if by_name == walked { vec![walked] } else { vec![by_name, walked] }
}

/// Returns a path that starts at `base` unless it is absolute already, with every `..` still in it, as the system walks
/// it.
#[must_use]
pub fn as_written(base: &Path, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() && is_written_plainly(base) {
        return base.to_path_buf();
    }
    let joined = joined(base, path);
    if is_written_plainly(&joined) {
        return joined;
    }
    joined.components().filter(|part| *part != Component::CurDir).collect()
}

/// A path behind a link of `/proc` to a directory of a process: `/proc/self/cwd/x`, `/proc/1/root/x`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a process has these two directories")]
pub enum ProcessPath {
    /// Relative to a working directory: that of the command, in doubt.
    Working(String),
    /// From the root of the file system.
    Root(String),
}

impl ProcessPath {
    /// Returns the path that a text names behind such a link, if it begins with one. The link means another directory
    /// to each process, so only a command itself can follow it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut names = text.strip_prefix('/')?.split('/').filter(|name| !name.is_empty() && *name != ".");
        let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let mut link = match names.next()? {
            "proc" => {
                let process = names.next()?;
                (matches!(process, "self" | "thread-self") || is_number(process)).then(|| names.next())??
            }
            "dev" if names.next()? == "fd" && names.next()? == ".." => names.next()?,
            _ => return None,
        };
        if link == "task" && names.next().is_some_and(is_number) {
            link = names.next()?;
        }
        let rest = names.collect::<Vec<_>>().join("/");
        match link {
            "cwd" => Some(Self::Working(rest)),
            "root" => Some(Self::Root(rest)),
            _ => None,
        }
    }
}

/// Returns `true` for the builtins that change the directory.
pub(crate) fn is_change(program: &str) -> bool {
    matches!(program, "cd" | "pushd" | "popd")
}

pub(crate) fn changes_directory(command: &SimpleCommand) -> bool {
    let program = command.words.iter().map(Word::text).find(|w| !matches!(*w, "command" | "builtin" | "time"));
    program.is_some_and(is_change)
}

/// Returns the only operand of a `cd` without options.
pub(crate) fn cd_operand(args: &[Word]) -> Option<&str> {
    let directory = match args {
        [directory] => directory,
        [end, directory] if end.text() == "--" => directory,
        _ => return None,
    };
    directory.as_literal().filter(|d| !d.is_empty() && !d.starts_with('-'))
}

/// Returns the directory of a `cd` that can be followed: one literal operand, no option.
fn literal_cd(command: &SimpleCommand) -> Option<&str> {
    let (cd, args) = command.words().split_first()?;
    if cd.text() != "cd" || !command.assignments().is_empty() {
        return None;
    }
    cd_operand(args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;

    /// Returns the directories of the last command, relative to `/w`.
    fn last(text: &str) -> String {
        match analyse(text).understood().unwrap().directories(Path::new("/w")) {
            Directories::Followed(all) => {
                let last = all.last().unwrap().iter();
                let mut names: Vec<String> = last
                    .map(|path| {
                        path.strip_prefix("/w").map_or(path.display().to_string(), |rest| rest.display().to_string())
                    })
                    .collect();
                names.sort();
                names.iter().map(|name| if name.is_empty() { "." } else { name }).collect::<Vec<_>>().join(" ")
            }
            Directories::Unknown => "unknown".to_owned(),
            Directories::TooMany => "too many".to_owned(),
        }
    }

    #[test]
    fn commands_run_where_the_changes_before_them_lead() {
        for (text, expected) in [
            ("ls", "."),
            ("cd src && ls", "src"),
            ("cd -- src && ls | wc", "src"),
            ("cd src; ls", ". src"),
            ("cd src || ls", ". src"),
            ("cd src && a || b", ". src"),
            ("! cd src && ls", ". src"),
            ("! cd src || ls", "src"),
            ("cd a && cd b && ls", "a/b"),
            ("cd a; cd b; ls", ". a a/b b"),
            ("cd a && ls && cd .. && ls", ". a/.."),
            ("cd a && x || cd b; ls", ". a a/b b"),
            ("cd a && x && cd b; ls", ". a a/b"),
            ("cd /tmp; cd ../etc; ls", ". .. /etc /tmp /tmp/../etc"),
            ("ls && cd src", "."),
            ("cd a && cd /b && ls", "/b"),
        ] {
            let expected = expected.replace(" .. ", " ../etc /etc ").replace("/etc /etc", "/etc");
            let found = last(text);
            match text.contains("/tmp") {
                true => {
                    ["/etc", "/tmp", "/tmp/../etc"].iter().for_each(|name| assert!(found.contains(name), "{found}"))
                }
                false => assert_eq!(found, expected, "{text}"),
            }
        }
    }

    #[test]
    fn changes_that_are_not_followed_are_told() {
        for text in [
            "cd",
            "cd -",
            "cd a b",
            "cd *",
            "cd -P src && ls",
            "cd a | ls",
            "ls | cd a",
            "pushd a && ls",
            "popd",
            "command cd a && ls",
            "X=1 cd a && ls",
            "time cd a; ls",
        ] {
            assert_eq!(last(text), "unknown", "{text}");
        }
        let many = |count: usize| (0..count).map(|at| format!("cd d{at}; ")).collect::<String>();
        assert_eq!(last(&format!("{}ls", many(5))).split(' ').count(), 32);
        assert_eq!(last(&format!("{}ls", many(6))), "too many");
        assert_eq!(last(&format!("{}ls", many(40).replace("; ", " && "))).split('/').count(), 40);
    }
}

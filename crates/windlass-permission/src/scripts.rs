//! Files that decide which programs a configured command line runs: its program, an interpreter's script, the file of a
//! runner.

mod known_directories;
mod runners;

use self::known_directories::{KNOWN_DIRECTORIES, mark_directories, search_path};
use self::runners::{EDITORS, FILE_SCRIPTS, PACKAGE_TOOLS, RUNNERS, Runner};
use crate::launchers::{LaunchedRole, Launcher};
use crate::path::normalize;
use crate::places::Places;
use crate::programs;
use std::path::{Path, PathBuf};
use windlass_shell::{FoundCommand, RedirectKind, Word, WordKind, analyse};

/// Maximum number of files of one line.
const MAX_FILES: usize = 256;

/// Directories that a configured command line is read against; all absolute.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "whoever reads lines builds one")]
pub struct LineDirectories<'a> {
    /// Working directory of the line.
    pub cwd: &'a Path,
    /// Value of `CLAUDE_PROJECT_DIR`.
    pub project: &'a Path,
    /// Value of `CLAUDE_PLUGIN_ROOT`, if a plugin brings the line.
    pub plugin: Option<&'a Path>,
    /// Home of the user.
    pub home: Option<&'a Path>,
}

/// Role of a file in a command line, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileRole {
    /// The program, the script of an interpreter, or the file of a runner. Such a file matters even while it is
    /// missing.
    Program,
    /// A pattern in the last name of the path, behind `**` for all directories below: the files that fit are programs.
    Matching,
    /// A file below a directory that a variable of the project or the plugin names.
    Named,
    /// Any other operand. Only a file that can be run matters.
    Operand,
}

/// A file that a command line names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LineFile {
    /// The file, absolute.
    pub path: PathBuf,
    /// The role.
    pub role: FileRole,
}

/// Returns the line of a program that runs without a shell.
#[must_use]
pub fn line_of(program: &str, args: &[String]) -> String {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> = std::iter::once(program).chain(args.iter().map(String::as_str)).map(quoted).collect();
    words.join(" ")
}

/// Returns the files that a line for a shell names, each once. Reads no file and asks no file system.
///
/// Programs are found as the deny side of the analysis finds them: behind `sh -c`, `env`, `timeout` and in each
/// directory that a `cd` names. Words with an expansion other than that of a known directory name no file.
#[must_use]
pub fn line_files(line: &str, directories: &LineDirectories<'_>) -> Vec<LineFile> {
    let marked = mark_directories(line);
    let analysis = analyse(&marked);
    let bases = Places::new(&analysis, directories.cwd, directories.home).bases;
    let mut reading = LineReading { directories, bases: &bases, files: Vec::new() };
    let search_path = search_path(&marked);
    for command in analysis.found() {
        reading.command(command);
        reading.searched(command, &search_path);
    }
    // A program that is new in such a directory hides others.
    for directory in search_path {
        reading.matching(directory, "*");
    }
    let mut files = reading.files;
    files.sort();
    files.dedup_by(|later, first| later.path == first.path);
    files
}

/// The command lines of one text on their way.
struct LineReading<'a> {
    directories: &'a LineDirectories<'a>,
    bases: &'a [PathBuf],
    files: Vec<LineFile>,
}

impl LineReading<'_> {
    fn command(&mut self, command: &FoundCommand) {
        let Some(first) = command.words().first() else { return };
        if first.text().contains('/') {
            self.add(first.text(), first.kind(), FileRole::Program);
        }
        let program = first.text().rsplit('/').next().unwrap_or_default();
        let args = command.words().get(1..).unwrap_or_default();
        let interpreter = interpreter_of(program);
        if let Some(interpreter) = interpreter {
            self.script(program, interpreter, args);
        }
        if PACKAGE_TOOLS.contains(&program) {
            self.package_tool(program, args);
        }
        if FILE_SCRIPTS.contains(&program) {
            for file in values(args, &["-f", "--file", "--from-file"]).chain(bundled(args, 'f')) {
                self.add(file, WordKind::Literal, FileRole::Program);
            }
        }
        if EDITORS.contains(&program) {
            for file in values(args, &["-S", "-l", "-s", "-u", "-x", "--command", "--load", "--script", "--source"]) {
                self.add(file, WordKind::Literal, FileRole::Program);
            }
        }
        if let Some(runner) = RUNNERS.iter().find(|runner| runner.names.contains(&program)) {
            self.runner(runner, args);
        }
        match program {
            "run-parts" => {
                for word in args.iter().filter(|word| !word.text().starts_with('-')) {
                    self.matching(word.text(), "*");
                }
            }
            "find" | "gfind" | "fd" | "fdfind" => self.found_files(args),
            _ => {}
        }
        for redirect in command.redirects().iter().filter(|redirect| redirect.kind == RedirectKind::Read) {
            let role = if interpreter.is_some() { FileRole::Program } else { FileRole::Operand };
            self.add(redirect.target.text(), redirect.target.kind(), role);
        }
        if programs::takes_no_files(program) {
            return;
        }
        for word in args {
            let text = word.text();
            let value = text.split_once('=').filter(|_| text.starts_with('-')).map(|(_, value)| value);
            self.add(value.unwrap_or(text), word.kind(), FileRole::Operand);
        }
    }

    /// Files that a package manager runs: a script, by an interpreter or a runner that it starts.
    fn package_tool(&mut self, program: &str, args: &[Word]) {
        let started = |word: &Word| word.as_literal().is_some_and(|text| text != "." && interpreter_of(text).is_some());
        for word in args.iter().filter(|word| program == "uv" && word.text().ends_with(".py")).take(1) {
            self.add(word.text(), word.kind(), FileRole::Program);
        }
        let runner = args.iter().find_map(|word| RUNNERS.iter().find(|runner| runner.names.contains(&word.text())));
        if let Some(runner) = runner.filter(|_| matches!(program, "bunx" | "npx" | "pnpx" | "uvx")) {
            self.runner(runner, args.get(1..).unwrap_or_default());
        }
        if let Some(at) = args.iter().position(started) {
            let started = args.get(at).map(Word::text).unwrap_or_default();
            if let Some(interpreter) = interpreter_of(started) {
                self.script(started, interpreter, args.get(at.saturating_add(1)..).unwrap_or_default());
            }
        }
    }

    /// A program that is looked for in the directories that the line puts into the search path.
    fn searched(&mut self, command: &FoundCommand, search_path: &[&str]) {
        let name = command.words().first().and_then(Word::as_literal).filter(|name| !name.contains('/'));
        for (name, directory) in name.into_iter().flat_map(|name| search_path.iter().map(move |at| (name, at))) {
            self.add(&format!("{directory}/{name}"), WordKind::Literal, FileRole::Program);
        }
    }

    /// The files that `find` hands to an interpreter or runs.
    fn found_files(&mut self, args: &[Word]) {
        let is_exec = |word: &Word| matches!(word.text(), "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X");
        let Some(at) = args.iter().position(is_exec) else { return };
        let command = args.get(at.saturating_add(1)..).unwrap_or_default();
        let runs = |word: &Word| {
            let name = word.text().rsplit('/').next().unwrap_or_default();
            interpreter_of(name).is_some()
        };
        let is_program = command.first().is_some_and(|word| word.text().contains("{}"));
        // `env sh {}`, `sh -c '. "$1"' _ {}`
        if !is_program && !command.iter().take_while(|word| !matches!(word.text(), ";" | "+")).any(runs) {
            return;
        }
        let name = values(args, &["-name", "-iname"]).next().unwrap_or("*").to_owned();
        let starts = args.iter().take_while(|word| !word.text().starts_with(['-', '(', '!']));
        let starts: Vec<String> = starts.map(|word| word.text().to_owned()).collect();
        for start in if starts.is_empty() { vec![".".to_owned()] } else { starts } {
            self.matching(&start, &format!("**/{name}"));
        }
    }

    /// The files of a directory that fit a pattern.
    fn matching(&mut self, directory: &str, pattern: &str) {
        let is_plain =
            !directory.is_empty() && !directory.contains(|c: char| c.is_control() || "*?[{}`$;|&".contains(c));
        for base in self.bases.iter().filter(|_| is_plain) {
            let path = self.placed(&normalize(base, Path::new(directory)));
            self.push(path.join(pattern), FileRole::Matching);
        }
    }

    /// Adds the script of an interpreter: the words up to the first operand that is no value of an option.
    fn script(&mut self, program: &str, interpreter: &Launcher, args: &[Word]) {
        for launched in interpreter.words(args) {
            let (text, kind) = (launched.text, launched.word.kind());
            match launched.role {
                LaunchedRole::Module(name) => return self.module(name),
                LaunchedRole::Script => {}
                // Code may run its first argument; the others are files that it reads or writes.
                LaunchedRole::Argument => return self.add(text, kind, FileRole::Program),
                LaunchedRole::Other => continue,
            }
            self.add(text, kind, FileRole::Program);
            let is_directory = !text.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'));
            if matches!(program, "node" | "nodejs" | "nodemon") && is_directory {
                if !text.ends_with(['.', '/']) {
                    self.add(&format!("{text}.js"), kind, FileRole::Program);
                }
                self.add(&format!("{text}/index.js"), kind, FileRole::Program);
            }
            if program.starts_with("py") && is_directory {
                self.add(&format!("{text}/__main__.py"), kind, FileRole::Program);
            }
        }
    }

    /// Adds a module of Python in the working directory.
    fn module(&mut self, name: &str) {
        let path = name.replace('.', "/");
        for (at, _) in path.match_indices('/') {
            let package = path.get(..at).unwrap_or_default();
            self.add(&format!("{package}/__init__.py"), WordKind::Literal, FileRole::Program);
        }
        for file in [format!("{path}.py"), format!("{path}/__main__.py"), format!("{path}/__init__.py")] {
            self.add(&file, WordKind::Literal, FileRole::Program);
        }
    }

    fn runner(&mut self, runner: &Runner, args: &[Word]) {
        let words = args.iter().map(Word::text);
        if words.clone().find(|word| !word.starts_with('-')).is_some_and(|word| runner.other_words.contains(&word)) {
            return;
        }
        for file in values(args, runner.file_options) {
            self.add(file, WordKind::Literal, FileRole::Program);
        }
        let directories: Vec<&str> = values(args, runner.directory_options).collect();
        for name in runner.files {
            if directories.is_empty() {
                self.around(name);
            }
            for directory in &directories {
                self.add(&format!("{directory}/{name}"), WordKind::Literal, FileRole::Program);
            }
        }
    }

    /// Adds a file of a runner in the directories of the line and in those above them, up to the project's.
    fn around(&mut self, name: &str) {
        for base in self.bases {
            let base = self.placed(base);
            let inside = base.starts_with(self.directories.project);
            let above = base.ancestors().take_while(|above| inside && above.starts_with(self.directories.project));
            for directory in std::iter::once(base.as_path()).chain(above.skip(1)) {
                self.push(directory.join(name), FileRole::Program);
            }
        }
    }

    fn add(&mut self, text: &str, kind: WordKind, role: FileRole) {
        if kind == WordKind::Glob && role == FileRole::Program {
            let (directory, name) = text.rsplit_once('/').unwrap_or((".", text));
            return self.matching(directory, name);
        }
        if !names_a_file(text) {
            return;
        }
        let below_home = text.strip_prefix("~/").filter(|below| !below.contains(['$', '~']));
        match (kind, below_home, self.directories.home) {
            (WordKind::Dynamic, Some(below), Some(home)) => self.push(normalize(home, Path::new(below)), role),
            (WordKind::Literal, ..) => {
                let is_marked = KNOWN_DIRECTORIES.iter().take(2).any(|known| text.starts_with(known.mark));
                let role = if is_marked { role.min(FileRole::Named) } else { role };
                for base in self.bases {
                    let path = self.placed(&normalize(base, Path::new(text)));
                    self.push(path, role);
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, path: PathBuf, role: FileRole) {
        if self.files.len() < MAX_FILES && path.is_absolute() {
            self.files.push(LineFile { path, role });
        }
    }

    /// Returns a path with the directory in the place of its mark.
    fn placed(&self, path: &Path) -> PathBuf {
        let found = KNOWN_DIRECTORIES.iter().find_map(|known| {
            let below = path.strip_prefix(known.mark).ok()?;
            Some(normalize(&(known.of)(self.directories)?, below))
        });
        found.unwrap_or_else(|| path.to_path_buf())
    }
}

/// Returns the values of options among words: the next word, or the text behind an `=` or the letter itself.
fn values<'w>(args: &'w [Word], options: &'static [&'static str]) -> impl Iterator<Item = &'w str> {
    args.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.text();
        let next = || args.get(at.saturating_add(1)).and_then(Word::as_literal);
        options.iter().find_map(|option| match text.strip_prefix(option) {
            Some("") => next(),
            Some(value) if option.starts_with("--") => value.strip_prefix('='),
            Some(value) => Some(value),
            None => None,
        })
    })
}

/// Returns the values of an option that stands last among letters: `-nf x.sed`.
fn bundled(args: &[Word], letter: char) -> impl Iterator<Item = &str> {
    args.windows(2).filter_map(move |pair| {
        let [option, value] = pair else { return None };
        let letters = option.text().strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        (letters.len() > 1 && letters.ends_with(letter)).then(|| value.as_literal()).flatten()
    })
}

/// Returns the launcher of a name if it runs scripts.
fn interpreter_of(program: &str) -> Option<&'static Launcher> {
    Launcher::of(program).filter(|launcher| launcher.has_scripts())
}

/// Returns `true` if a text can be the name of a file and not a script in itself.
fn names_a_file(text: &str) -> bool {
    let is_code = |c: char| c.is_control() || ";(){}<>|&`$*?!".contains(c);
    !text.is_empty() && text.len() <= 4096 && !text.starts_with('-') && !text.contains(is_code) && !text.contains("://")
}

#[cfg(test)]
mod tests;

//! What an understood command does, and to which paths.

mod archive;
mod awk;
mod edits;
mod find;
mod git;
mod options;
mod ps;
mod sed;
mod special;
mod table;
mod xargs;

use crate::{RedirectKind, SimpleCommand, Word, scan::base_name};

/// What running a command amounts to, its redirections aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Effect {
    /// Reads [`Classification::reads`] at most and prints. Nothing is changed, contacted or started.
    ReadOnly,
    /// `cd` to one literal directory, which is the only path in [`Classification::reads`].
    ChangeDirectory,
    /// A reading sub-command of git. Configuration and attributes of the repository can make even these run
    /// programs: allow it only in the workspace root, with a clean configuration and a hardened environment.
    Git,
    /// One of `mkdir touch rm rmdir mv cp sed -i` with known options: it changes exactly
    /// [`Classification::writes`].
    FileChange,
    /// A program whose purpose is to contact other machines.
    Network,
    /// Anything else.
    Unknown,
}

/// How a command comes to touch a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathRole {
    /// Named as an argument.
    Operand,
    /// The target of a redirection.
    Redirect,
    /// Not named: the working directory, which the program takes by default.
    Implied,
}

/// A path that a command reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathOperand {
    /// The path as the program gets it, relative to its working directory. If `glob`, the pattern.
    pub path: String,
    /// Whether `path` is a file name pattern which the shell expands.
    pub glob: bool,
    /// Whether everything below the path is touched too.
    pub recursive: bool,
    /// How the path came into the command.
    pub role: PathRole,
}

/// What a command does. Made by [`SimpleCommand::classify`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Classification {
    /// What the program does, redirections aside.
    pub effect: Effect,
    /// Paths that are read, input redirections included. Complete only for effects other than `Network` and
    /// `Unknown`; for these, every argument that could be a path (for deny rules).
    pub reads: Vec<PathOperand>,
    /// Paths that are created, changed or removed, output redirections included (not `/dev/null`). Complete in
    /// the same cases.
    pub writes: Vec<PathOperand>,
}

impl Classification {
    /// Whether nothing is changed: [`Effect::ReadOnly`] without an output redirection.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.effect == Effect::ReadOnly && self.writes.is_empty()
    }
}

/// What a command is found to do, before redirections are added. `None` stands for "unknown".
type Findings = Option<Classification>;

impl PathOperand {
    fn operand(word: &Word, recursive: bool) -> Self {
        Self { path: word.text().to_owned(), glob: !word.is_literal(), recursive, role: PathRole::Operand }
    }

    fn literal(path: &str) -> Self {
        Self { path: path.to_owned(), glob: false, recursive: false, role: PathRole::Operand }
    }

    fn working_directory(recursive: bool) -> Self {
        Self { path: ".".to_owned(), glob: false, recursive, role: PathRole::Implied }
    }
}

impl Classification {
    fn new(effect: Effect) -> Self {
        Self { effect, reads: Vec::new(), writes: Vec::new() }
    }

    fn reading(reads: Vec<PathOperand>) -> Self {
        Self { effect: Effect::ReadOnly, reads, writes: Vec::new() }
    }
}

pub(crate) fn classify(command: &SimpleCommand) -> Classification {
    let mut class = match command.words() {
        [] if command.assignments().is_empty() => Classification::new(Effect::ReadOnly),
        words if command.has_only_safe_assignments() => program(words).unwrap_or_else(|| unknown(words)),
        words => unknown(words),
    };
    for redirect in command.redirects().iter().filter(|r| !r.is_harmless()) {
        let mut operand = PathOperand::operand(&redirect.target, false);
        operand.role = PathRole::Redirect;
        match redirect.kind {
            RedirectKind::Read => class.reads.push(operand),
            _ => class.writes.push(operand),
        }
    }
    class
}

/// The program's name if it is looked up in the system's directories.
fn program_name(word: &Word) -> Option<&str> {
    let name = word.as_literal()?;
    let name = name.strip_prefix("/usr/bin/").or_else(|| name.strip_prefix("/bin/")).unwrap_or(name);
    (!name.contains('/')).then_some(name)
}

fn program(words: &[Word]) -> Findings {
    let (program, args) = words.split_first()?;
    match program_name(program)? {
        "cd" => directory(args),
        "awk" | "gawk" | "mawk" => awk::classify(args),
        "command" => special::command(args),
        "date" => special::date(args),
        "echo" => special::echo(args),
        "find" => find::classify(args),
        "git" => git::classify(args),
        "jq" => special::jq(args),
        "printf" => special::printf(args),
        "iconv" => special::iconv(args),
        "nice" | "timeout" => program_behind(words),
        "ps" => ps::classify(args),
        "sed" => sed::classify(args),
        "test" => special::test(args),
        "[" => special::bracket(args),
        "strings" | "size" => special::binary(table::find(program_name(program)?)?, args),
        "tar" => archive::tar(args),
        "time" => program_behind_time(args),
        name @ ("umask" | "ulimit") => special::limits(name, args),
        name @ ("unzip" | "zipinfo") => archive::unzip(name, args),
        "xargs" => xargs::classify(args),
        "who" => special::who(args),
        "xxd" => special::xxd(args),
        name @ ("mkdir" | "touch" | "rm" | "rmdir" | "mv" | "cp") => edits::classify(name, args),
        name => match table::find(name) {
            Some(spec) => options::read_only(spec, args),
            None => archive::unpack(name, args),
        },
    }
}

/// Whether the program is known and does with these arguments what its effect says: no more.
pub(crate) fn is_understood(words: &[Word]) -> bool {
    let plain = words.split_first().map(|(program, args)| match program.as_literal().map(base_name) {
        Some("sed" | "gsed") => sed::classify(args).is_some(),
        Some("awk" | "gawk" | "mawk" | "nawk") => awk::classify(args).is_some(),
        _ => false,
    });
    plain.unwrap_or_default()
}

fn program_behind_time(args: &[Word]) -> Findings {
    match args {
        [p, rest @ ..] if p.text() == "-p" => program(rest),
        rest => program(rest),
    }
}

/// `timeout 5 grep …`, `nice -n 5 du …`, in their plainest form.
fn program_behind(words: &[Word]) -> Findings {
    let number = |word: &Word| {
        let text = word.as_literal().unwrap_or_default();
        let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
        !digits.is_empty() && text.len() <= digits.len().saturating_add(1) && digits.chars().all(|c| c.is_ascii_digit())
    };
    match words {
        [timeout, seconds, rest @ ..] if timeout.text().ends_with("timeout") && number(seconds) => program(rest),
        [nice, n, level, rest @ ..] if nice.text().ends_with("nice") && n.text() == "-n" && number(level) => {
            program(rest)
        }
        _ => None,
    }
}

const NETWORK: &[&str] = &[
    "curl",
    "dig",
    "ftp",
    "host",
    "nc",
    "ncat",
    "netcat",
    "nslookup",
    "ping",
    "rsync",
    "scp",
    "sftp",
    "ssh",
    "telnet",
    "tracepath",
    "traceroute",
    "wget",
    "whois",
];

fn unknown(words: &[Word]) -> Classification {
    let name = words.first().and_then(Word::as_literal).map(base_name).unwrap_or_default();
    let effect = if NETWORK.contains(&name) { Effect::Network } else { Effect::Unknown };
    let mut class = Classification::new(effect);
    for word in words.iter().skip(1) {
        if let Some((_, value)) = word.text().split_once('=').filter(|(_, value)| !value.is_empty()) {
            class.reads.push(PathOperand { glob: !word.is_literal(), ..PathOperand::literal(value) });
        }
        if !word.text().starts_with('-') && !word.text().is_empty() {
            class.reads.push(PathOperand::operand(word, true));
        }
    }
    class
}

fn directory(args: &[Word]) -> Findings {
    let directory = cd_operand(args)?;
    let mut class = Classification::new(Effect::ChangeDirectory);
    class.reads.push(PathOperand::literal(directory));
    Some(class)
}

fn cd_operand(args: &[Word]) -> Option<&str> {
    let directory = match args {
        [directory] => directory,
        [end, directory] if end.text() == "--" => directory,
        _ => return None,
    };
    directory.as_literal().filter(|d| !d.is_empty() && !d.starts_with('-'))
}

/// The directory of a `cd` that can be followed: one literal operand, no option.
pub(crate) fn literal_cd(command: &SimpleCommand) -> Option<String> {
    let (cd, args) = command.words().split_first()?;
    if cd.text() != "cd" || !command.assignments().is_empty() {
        return None;
    }
    cd_operand(args).map(str::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod arity;
#[cfg(test)]
mod tests;

//! Classification of an understood command: its effect and its paths.

mod archive;
mod awk;
mod edits;
mod effect;
mod find;
mod git;
mod options;
mod ps;
mod sed;
mod special;
mod table;
mod xargs;

pub use effect::{Classification, Effect, PathOperand, PathRole};

use crate::command::{RedirectKind, SimpleCommand};
use crate::directory::cd_operand;
use crate::word::{Word, base_name};
use effect::Findings;

impl SimpleCommand {
    /// Returns the effect of the command, and its paths.
    #[must_use]
    pub fn classify(&self) -> Classification {
        classify(self)
    }
}

fn classify(command: &SimpleCommand) -> Classification {
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

/// Returns the program's name if it is looked up in the system's directories.
fn program_name(word: &Word) -> Option<&str> {
    let name = word.as_literal()?;
    let name = name.strip_prefix("/usr/bin/").or_else(|| name.strip_prefix("/bin/")).unwrap_or(name);
    (!name.contains('/')).then_some(name)
}

fn program(words: &[Word]) -> Findings {
    let (program, args) = words.split_first()?;
    if special::prints_version(program_name(program)?, args) {
        return Some(Classification::reading(Vec::new()));
    }
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

/// Returns `true` if the program is known, and does with these arguments no more than its effect says.
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

/// Names that [`program`] reads beside those of its tables, and names of programs that run their arguments.
const OTHERS: &[&str] = &[
    "[", "awk", "cd", "command", "cp", "date", "echo", "env", "find", "gawk", "git", "gsed", "iconv", "jq", "mawk",
    "mkdir", "mv", "nawk", "nice", "nohup", "printf", "ps", "rm", "rmdir", "sed", "size", "stdbuf", "strings", "sudo",
    "tar", "test", "time", "timeout", "touch", "ulimit", "umask", "unzip", "who", "xargs", "xxd", "zipinfo",
];

/// Returns `true` if commands of a program are judged by its name. Such a program must not be a function or an alias in
/// the shell that runs them.
///
/// ```
/// use windlass_shell::is_judged_by_name;
///
/// assert!(is_judged_by_name("rg") && is_judged_by_name("git"));
/// assert!(!is_judged_by_name("deploy"));
/// ```
#[must_use]
pub fn is_judged_by_name(program: &str) -> bool {
    OTHERS.contains(&program)
        || NETWORK.contains(&program)
        || table::find(program).is_some()
        || archive::is_unpacker(program)
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
        if !(word.text().is_empty() || (word.is_literal() && word.text().starts_with('-'))) {
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

#[cfg(all(test, target_os = "linux"))]
mod arity;
#[cfg(all(test, target_os = "linux"))]
mod table_tests;
#[cfg(test)]
mod tests;

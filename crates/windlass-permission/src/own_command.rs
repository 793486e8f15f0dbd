//! The command of windlass as a writer of the files that are protected: settings, trust, servers, sessions, notes.

use crate::scripts::line_of;
use windlass_shell::{FoundCommand, Word, analyse};

/// File name of the command.
const NAME: &str = "windlass";

/// Groups of commands that write, with those of each group that only read.
const WRITING_GROUPS: &[(&str, &[&str])] = &[
    ("config", &["get", "schema", "show"]),
    ("mcp", &["get", "list", "serve", "test"]),
    ("memory", &["list", "show"]),
    // The words behind `proxy` run as a command.
    ("proxy", &[]),
    ("sessions", &["agents", "audit", "check", "export", "list", "pending", "search", "show", "stats"]),
    // Calls of `tools call` pass the gate of a session of their own, in which options answer the questions.
    ("tools", &["list"]),
    ("trust", &["--show"]),
];

/// Options that give a run more than the person at the terminal gave this one.
const WIDENING: &[&str] = &["--allow-dangerously-skip-permissions", "--dangerously-skip-permissions", "--trust"];

/// Words among which a request for help is one: the groups of commands are two deep.
const MOST_BEFORE_HELP: usize = 3;

/// Option that names the sources of settings.
const SOURCES: &str = "--setting-sources";

/// Returns the command of windlass that a command line runs, if it writes or widens: `windlass trust`. `names` are
/// further file names of the program.
pub(crate) fn writing_command(found: &FoundCommand, names: &[String]) -> Option<String> {
    let args = own_arguments(found.words(), names)?;
    // Further behind, and behind `--`, they may be words of a prompt or of a server's program.
    let first = args.iter().map(Word::text).take_while(|text| *text != "--").take(MOST_BEFORE_HELP);
    if first.into_iter().any(|text| matches!(text, "--help" | "-h" | "--version" | "-V")) {
        return None;
    }
    if let Some(option) = args.iter().map(Word::text).find(|text| WIDENING.contains(text) || is_bypass(text)) {
        return Some(format!("{NAME} {option}"));
    }
    if trusts_project_files(args) {
        return Some(format!("{NAME} {SOURCES}"));
    }
    if args.iter().any(|word| is_forgetting(word.text())) {
        return Some(format!("{NAME} memory"));
    }
    let at = args.iter().position(|word| !word.text().starts_with('-'))?;
    let (options, words) = args.split_at_checked(at)?;
    let first = words.first()?;
    if options.iter().any(|option| matches!(option.text(), "-p" | "--print")) {
        // The word is a prompt.
        return None;
    }
    if !first.is_literal() {
        return Some(NAME.to_owned());
    }
    let (group, reading) = WRITING_GROUPS.iter().find(|(group, _)| *group == first.text())?;
    let reads = match reading {
        ["--show"] => args.iter().any(|word| word.as_literal() == Some("--show")),
        // An option before the second word could have it for its value.
        _ => words.get(1).and_then(Word::as_literal).is_some_and(|second| reading.contains(&second)),
    };
    (!reads).then(|| format!("{NAME} {group}"))
}

/// The command of windlass that these arguments make, if it writes protected files or widens what a session may do: `windlass trust`. For the
/// command itself, whatever the name of its file is.
///
/// ```
/// use windlass_permission::own_writing_command;
///
/// let words = ["trust", "-y"].map(str::to_owned);
/// assert_eq!(own_writing_command(&words).as_deref(), Some("windlass trust"));
/// assert_eq!(own_writing_command(&["models".to_owned()]), None);
/// ```
#[must_use]
pub fn own_writing_command(args: &[String]) -> Option<String> {
    let analysis = analyse(&line_of(NAME, args));
    writing_command(analysis.found().first()?, &[])
}

/// Returns `true` if the sources of settings are named with those of the project: naming them trusts them.
fn trusts_project_files(args: &[Word]) -> bool {
    let mut args = args.iter();
    while let Some(word) = args.next() {
        let value = match word.text().strip_prefix(SOURCES) {
            Some("") => args.next(),
            Some(rest) if rest.starts_with('=') => Some(word),
            _ => continue,
        };
        if value
            .is_some_and(|value| !value.is_literal() || ["project", "local"].iter().any(|s| value.text().contains(s)))
        {
            return true;
        }
    }
    false
}

/// Returns `true` for a prompt that removes a note.
fn is_forgetting(prompt: &str) -> bool {
    let mut words = prompt.split_whitespace();
    words.next() == Some("/memory") && words.next() == Some("forget")
}

/// Returns `true` if a word is, or contains, the mode in which nobody is asked.
fn is_bypass(text: &str) -> bool {
    text.rsplit('=').next() == Some("bypassPermissions")
}

/// Returns the arguments of the command of windlass, also where `cargo run` builds and starts it.
fn own_arguments<'w>(words: &'w [Word], names: &[String]) -> Option<&'w [Word]> {
    let (program, args) = words.split_first()?;
    let program = file_name(program.text());
    if is_own(program, names) {
        return Some(args);
    }
    let starts = args.first().is_some_and(|word| matches!(word.text(), "r" | "run"));
    let is_package = |word: &Word| {
        let value = word.text().rsplit('=').next().unwrap_or_default();
        value == "windlass-cli" || value.ends_with("windlass-cli/Cargo.toml") || is_own(value, names)
    };
    let end = args.iter().position(|word| word.text() == "--").unwrap_or(args.len());
    let (options, behind) = args.split_at_checked(end)?;
    (program == "cargo" && starts && options.iter().any(is_package)).then(|| behind.get(1..).unwrap_or_default())
}

fn is_own(name: &str, names: &[String]) -> bool {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    name.eq_ignore_ascii_case(NAME) || names.iter().any(|known| known.strip_suffix(".exe").unwrap_or(known) == name)
}

fn file_name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(line: &str) -> Option<String> {
        let names = ["wl".to_owned()];
        analyse(line).found().iter().find_map(|found| writing_command(found, &names))
    }

    #[test]
    fn commands_that_write_are_found_however_they_are_started() {
        for (line, expected) in [
            ("windlass trust -y", "windlass trust"),
            ("windlass trust", "windlass trust"),
            ("windlass trust --remove", "windlass trust"),
            ("windlass config set permissions.allow '[\"Bash\"]'", "windlass config"),
            ("windlass config unset model", "windlass config"),
            ("windlass config --json set a b", "windlass config"),
            ("windlass config $WHAT", "windlass config"),
            ("windlass $WHAT", "windlass"),
            ("windlass mcp add x -- node x.js", "windlass mcp"),
            ("windlass mcp add-json x '{}'", "windlass mcp"),
            ("windlass mcp add x -- node --version", "windlass mcp"),
            ("windlass mcp add x sh -c y --help", "windlass mcp"),
            ("windlass -p --dangerously-skip-permissions -- --help", "windlass --dangerously-skip-permissions"),
            ("windlass mcp remove x", "windlass mcp"),
            ("windlass mcp login x", "windlass mcp"),
            ("windlass sessions delete 1", "windlass sessions"),
            ("windlass sessions answer x", "windlass sessions"),
            ("windlass sessions gc", "windlass sessions"),
            ("windlass memory add x", "windlass memory"),
            ("windlass -p x --trust", "windlass --trust"),
            ("windlass -p x --setting-sources project", "windlass --setting-sources"),
            ("windlass --setting-sources=user,local -p x", "windlass --setting-sources"),
            ("windlass -p x --setting-sources $S", "windlass --setting-sources"),
            ("windlass tools call --on-ask allow Write '{}'", "windlass tools"),
            ("windlass proxy -- windlass trust -y", "windlass proxy"),
            ("windlass proxy --verbose -- sh x.sh", "windlass proxy"),
            ("windlass -p '/memory forget tests'", "windlass memory"),
            ("w=windlass; $w trust -y", "windlass trust"),
            ("cargo run --manifest-path crates/windlass-cli/Cargo.toml -- trust -y", "windlass trust"),
            ("windlass -p x --permission-mode bypassPermissions", "windlass bypassPermissions"),
            ("windlass -p x --dangerously-skip-permissions", "windlass --dangerously-skip-permissions"),
            ("/usr/local/bin/windlass trust -y", "windlass trust"),
            ("~/.cargo/bin/windlass trust -y", "windlass trust"),
            ("./target/debug/windlass trust -y", "windlass trust"),
            ("wl trust -y", "windlass trust"),
            ("WINDLASS.exe trust -y", "windlass trust"),
            ("env HOME=/x timeout 5 windlass trust -y", "windlass trust"),
            ("sh -c 'cd x && windlass trust -y'", "windlass trust"),
            ("echo x | xargs windlass mcp add", "windlass mcp"),
            ("cargo run -q -p windlass-cli -- trust -y", "windlass trust"),
            ("cargo r --bin=windlass -- config set a b", "windlass config"),
        ] {
            assert_eq!(written(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn commands_that_read_are_free_of_that() {
        for line in [
            "windlass sessions list --json",
            "windlass sessions show 1",
            "windlass permissions explain < calls.jsonl",
            "windlass config show",
            "windlass config get model",
            "windlass trust --show",
            "windlass trust --help",
            "windlass mcp add --help",
            "windlass -h",
            "windlass mcp list",
            "windlass models",
            "windlass context show",
            "windlass tools list",
            "windlass -p 'Why does it fail?' --permission-mode plan",
            "windlass -p trust",
            "windlass -p x --setting-sources user",
            "windlass -p '/memory'",
            "windlass -p 'the tools that call'",
            "windlass --version",
            "cargo run -p windlass-cli -- sessions list",
            "cargo test -p windlass-cli trust",
            "cargo run -p other -- trust",
            "grep -r 'windlass trust' docs",
            "echo windlass trust -y",
            "git commit -m 'windlass trust'",
        ] {
            assert_eq!(written(line), None, "{line}");
        }
    }
}

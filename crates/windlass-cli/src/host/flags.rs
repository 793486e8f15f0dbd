//! The command line of hosts, read with tolerance: unknown flags are noted and ignored, so that a host of another
//! version still gets its session.

use crate::failure::Usage;
use std::str::FromStr;
use windlass::project::PluginDir;

/// Flags without a value.
const SWITCHES: &[&str] = &[
    "allow-dangerously-skip-permissions",
    "await-initialize",
    "bare",
    "continue",
    "dangerously-skip-permissions",
    "debug",
    "disable-slash-commands",
    "exclude-dynamic-system-prompt-sections",
    "fork-session",
    "forward-subagent-text",
    "ide",
    "include-edit-events",
    "include-hook-events",
    "include-partial-messages",
    "managed-settings-in-initialize",
    "no-session-persistence",
    "print",
    "programs",
    "prompt-suggestions",
    "replay-user-messages",
    "session-mirror",
    "strict-mcp-config",
    "trust",
    "verbose",
    "wait-for-answers",
];

/// Flags with a value, which may be empty or begin with a dash.
const VALUED: &[&str] = &[
    "add-dir",
    "agent",
    "agents",
    "allowedTools",
    "append-system-prompt",
    "betas",
    "channels",
    "debug-file",
    "diagnostics-tool",
    "disallowedTools",
    "effort",
    "fallback-model",
    "initialize-fields",
    "input-format",
    "json-schema",
    "managed-settings",
    "max-budget-usd",
    "max-thinking-tokens",
    "max-turns",
    "mcp-config",
    "model",
    "name",
    "output-format",
    "permission-mode",
    "permission-prompt-tool",
    "permission-prompts",
    "plugin-dir",
    "plugin-dir-no-mcp",
    "project-config-root",
    "resume",
    "resume-drops-turn",
    "resume-session-at",
    "session-id",
    "setting-sources",
    "settings",
    "system-prompt",
    "system-prompt-file",
    "system-prompt-snapshot",
    "task-budget",
    "thinking",
    "thinking-display",
    "tools",
    "workload",
    "workspace",
];

/// Flags of a host's command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    given: Vec<(String, Option<String>)>,
    /// Unknown flags.
    pub(crate) unknown: Vec<String>,
}

impl Flags {
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Self {
        let mut flags = Self::default();
        let mut args = args.into_iter().peekable();
        while let Some(arg) = args.next() {
            let Some(name) = long(&arg) else {
                flags.unknown.push(arg);
                continue;
            };
            let (name, mut value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let name = canonical(name);
            let valued = VALUED.contains(&name);
            if !valued && !SWITCHES.contains(&name) {
                flags.unknown.push(format!("--{name}"));
            }
            // There are no positional words here: the word after an unknown flag is its value.
            let takes = valued || (!SWITCHES.contains(&name) && args.peek().is_some_and(|next| !next.starts_with('-')));
            if value.is_none() && takes {
                value = args.next();
            }
            flags.given.push((name.to_owned(), value));
        }
        flags
    }

    /// Returns `true` if a flag was given, with a value or without.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, value)| given == name && value.as_deref() != Some("false"))
    }

    /// Returns the last value of a flag; it may be empty.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values(name).last().copied()
    }

    /// Returns the last value of a flag, if it is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.value(name).filter(|value| !value.is_empty())
    }

    /// Returns all values of a flag.
    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        self.given.iter().filter(|(given, _)| given == name).filter_map(|(_, value)| value.as_deref()).collect()
    }

    /// Returns all values of some flags with the flag of each, in order.
    fn values_of<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
        let given = self.given.iter().filter(|(given, _)| names.contains(&given.as_str()));
        given.filter_map(|(given, value)| Some((given.as_str(), value.as_deref()?)))
    }

    /// Returns the directories that are loaded as plugins.
    pub(crate) fn plugins(&self) -> Vec<PluginDir> {
        let directories = self.values_of(&["plugin-dir", "plugin-dir-no-mcp"]).filter(|(_, path)| !path.is_empty());
        let directory = |(flag, path): (&str, &str)| match flag {
            "plugin-dir" => PluginDir::new(path),
            _ => PluginDir::new(path).without_mcp(),
        };
        directories.map(directory).collect()
    }

    /// Returns `false` if nobody is to be asked: calls that would ask are then denied.
    pub(crate) fn asks_host(&self) -> bool {
        self.value("permission-prompts") != Some("none")
    }

    /// Returns the last value of a flag as a number.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, Usage> {
        self.text(name)
            .map(|text| text.parse().map_err(|_| Usage(format!("--{name} takes a number, not {text:?}"))))
            .transpose()
    }
}

fn long(arg: &str) -> Option<&str> {
    match arg {
        "-p" => Some("print"),
        "-c" => Some("continue"),
        "-r" => Some("resume"),
        "-n" => Some("name"),
        "-d" => Some("debug"),
        _ => arg.strip_prefix("--"),
    }
}

fn canonical(name: &str) -> &str {
    match name {
        "allowed-tools" => "allowedTools",
        "disallowed-tools" => "disallowedTools",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Flags {
        Flags::parse(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn both_styles_of_values_and_empty_ones() {
        for args in [
            &["--system-prompt", "", "--model", "opus", "--setting-sources="][..],
            &["--system-prompt=", "--model=opus", "--setting-sources", ""],
        ] {
            let flags = parse(args);
            assert_eq!(flags.value("system-prompt"), Some(""), "{args:?}");
            assert_eq!(flags.value("model"), Some("opus"));
            assert_eq!(flags.value("setting-sources"), Some(""));
            assert_eq!(flags.text("setting-sources"), None);
            assert!(flags.unknown.is_empty());
        }
        assert_eq!(parse(&["--append-system-prompt", "- be brief"]).value("append-system-prompt"), Some("- be brief"));
        assert_eq!(parse(&["--resume=--model"]).value("resume"), Some("--model"));
        assert_eq!(parse(&["--add-dir", "a", "--add-dir=b"]).values("add-dir"), ["a", "b"]);
        assert_eq!(parse(&["--allowed-tools", "Read"]).value("allowedTools"), Some("Read"));
        assert!(parse(&["-c", "--verbose"]).has("continue"));
    }

    #[test]
    fn unknown_flags_are_noted_and_do_not_eat_known_ones() {
        let flags = parse(&["--new", "x", "--newer", "--verbose", "word", "--newest=1", "--model", "m"]);
        assert_eq!(flags.unknown, ["--new", "--newer", "word", "--newest"]);
        assert!(flags.has("verbose"));
        assert_eq!(flags.value("model"), Some("m"));
    }

    #[test]
    fn numbers_are_numbers() {
        assert_eq!(parse(&["--max-turns=3"]).number::<u32>("max-turns").unwrap(), Some(3));
        assert!(parse(&["--max-turns", "many"]).number::<u32>("max-turns").is_err());
    }
}

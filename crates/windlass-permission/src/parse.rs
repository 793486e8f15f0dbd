//! Command analysis for people who test a policy.

use windlass_shell::{Effect, SimpleCommand, analyse, suggest_rule};

/// Analysis of a command text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandReading {
    /// Reason why the text is not understood, so that only a rule for exactly this text allows it. `None`: the text is
    /// understood.
    pub not_understood: Option<String>,
    /// Reason why more commands might run than were found, so that scoped deny and ask rules ask about the text.
    /// `None`: all were found.
    pub undecided: Option<String>,
    /// The commands of an understood text, in order.
    pub commands: Vec<CommandPart>,
    /// The programs that may run at any depth, in order, by the words that are known of each.
    pub found: Vec<String>,
}

/// One command of an understood text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandPart {
    /// Text of the command.
    pub source: String,
    /// Effect: `reads`, `changes directory`, `reads git`, `changes files`, `contacts others` or `unknown`.
    pub effect: &'static str,
    /// Specifier of the rule `Bash(…)` that would allow the command from now on. `None`: it needs none, or none can.
    pub rule: Option<String>,
}

/// Reads a command text as the policy does, without looking at the file system.
#[must_use]
pub fn read_command(text: &str) -> CommandReading {
    let analysis = analyse(text);
    let understood = analysis.understood();
    let words = |found: &windlass_shell::FoundCommand| {
        let words: Vec<&str> = found.words().iter().map(windlass_shell::Word::text).collect();
        words.join(" ")
    };
    CommandReading {
        not_understood: understood.err().map(|why| why.to_string()),
        undecided: analysis.undecided().map(|why| why.to_string()),
        commands: understood.map(|text| text.commands().iter().map(part).collect()).unwrap_or_default(),
        found: analysis.found().iter().map(words).collect(),
    }
}

fn part(command: &SimpleCommand) -> CommandPart {
    let (effect, needs_rule) = match command.classify().effect {
        Effect::ReadOnly => ("reads", false),
        Effect::ChangeDirectory => ("changes directory", false),
        Effect::Git => ("reads git", false),
        Effect::FileChange => ("changes files", true),
        Effect::Network => ("contacts others", true),
        _ => ("unknown", true),
    };
    let rule = if needs_rule { suggest_rule(command) } else { None };
    CommandPart { source: command.source().to_owned(), effect, rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_command_by_command() {
        let reading = read_command("cd src && npm run build | tail -5; rm x");
        assert_eq!((reading.not_understood, reading.undecided), (None, None));
        let parts: Vec<_> = reading.commands.iter().map(|c| (c.source.as_str(), c.effect, c.rule.as_deref())).collect();
        let expected = [
            ("cd src", "changes directory", None),
            ("npm run build", "unknown", Some("npm run build *")),
            ("tail -5", "reads", None),
            ("rm x", "changes files", Some("rm x")),
        ];
        assert_eq!(parts, expected);
        let reading = read_command("echo $(curl x); $CMD");
        assert!(reading.not_understood.is_some() && reading.undecided.is_some() && reading.commands.is_empty());
        assert!(reading.found.contains(&"curl x".to_owned()), "{:?}", reading.found);
    }
}

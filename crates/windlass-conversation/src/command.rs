//! Slash commands.

use serde::Serialize;
use windlass_types::Prompt;

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SlashCommand {
    /// The name, without the slash.
    pub name: String,
    /// One line that says what the command does.
    pub description: String,
    /// Arguments, such as `<file>`; empty if the command takes none.
    pub argument_hint: String,
    /// Other names of the command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// `true` if the command runs without the model.
    #[serde(rename = "builtin", skip_serializing_if = "std::ops::Not::not")]
    pub is_builtin: bool,
    /// `true` if the command is a skill.
    #[serde(skip)]
    pub is_skill: bool,
}

impl SlashCommand {
    /// A command without arguments and other names.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            argument_hint: String::new(),
            aliases: Vec::new(),
            is_builtin: false,
            is_skill: false,
        }
    }

    /// Sets the arguments that are shown behind the name.
    #[must_use]
    pub fn with_argument_hint(mut self, hint: impl Into<String>) -> Self {
        self.argument_hint = hint.into();
        self
    }

    /// Marks the command as a skill.
    #[must_use]
    pub fn as_skill(mut self, is_skill: bool) -> Self {
        self.is_skill = is_skill;
        self
    }

    /// Marks the command as one that runs without the model ([`Expansion::Output`]).
    #[must_use]
    pub fn as_builtin(mut self) -> Self {
        self.is_builtin = true;
        self
    }

    /// Adds other names.
    #[must_use]
    pub fn with_aliases<N: Into<String>>(mut self, aliases: impl IntoIterator<Item = N>) -> Self {
        self.aliases.extend(aliases.into_iter().map(Into::into));
        self
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// The commands that the conversation carries out itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltinCommand {
    /// Continues with a new, empty session.
    Clear,
    /// Replaces the conversation by a summary.
    Compact,
    /// Reports what fills the context window.
    Context,
    /// Reports what the session has cost.
    Cost,
    /// Continues the last run, which waits for answers or was cut.
    ContinueRun,
}

impl BuiltinCommand {
    const ALL: [Self; 5] = [Self::Clear, Self::Compact, Self::Context, Self::Cost, Self::ContinueRun];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Context => "context",
            Self::Cost => "cost",
            Self::ContinueRun => "continue-run",
        }
    }

    fn command(self) -> SlashCommand {
        let command = match self {
            Self::Clear => {
                SlashCommand::new(self.name(), "Continue with a new, empty conversation; the old one is kept")
                    .with_aliases(["reset", "new"])
            }
            Self::Compact => SlashCommand::new(self.name(), "Replace the conversation by a summary of it")
                .with_argument_hint("<what the summary should care for>"),
            Self::Context => SlashCommand::new(self.name(), "Show what fills the context window"),
            Self::Cost => {
                SlashCommand::new(self.name(), "Show what the session has cost").with_aliases(["usage", "stats"])
            }
            Self::ContinueRun => SlashCommand::new(
                self.name(),
                "Continue the last run: with the answers that have come, or where it was cut",
            ),
        };
        SlashCommand { is_builtin: true, ..command }
    }
}

/// The expansion of a slash command.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Expansion {
    /// A prompt for the model.
    Prompt(Box<Prompt>),
    /// A text for the user, as the result of the turn: no model is asked, and the conversation stays as it is.
    Output(String),
}

impl From<Prompt> for Expansion {
    fn from(prompt: Prompt) -> Self {
        Self::Prompt(Box::new(prompt))
    }
}

/// Expansion of a slash command: `None` if there is no such command, an error with the reason if it cannot be used.
pub type Expanded = Result<Option<Expansion>, String>;

/// The commands of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Commands {
    /// `false` if every prompt is text.
    enabled: bool,
    custom: Vec<SlashCommand>,
    /// `true` once a session can expand the custom commands.
    expands: bool,
}

/// Meaning of a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// A command that the conversation carries out itself.
    Builtin(BuiltinCommand),
    /// A summary that cares for this.
    Compact(String),
    /// A command of the session, which expands it. Without an expansion the text is the built-in command with the
    /// same alias, or no command.
    Custom { name: String, arguments: String, builtin: Option<BuiltinCommand> },
    /// No command: the model reads the text as it is.
    Text,
}

impl Commands {
    pub(crate) fn new(enabled: bool, custom: Vec<SlashCommand>) -> Self {
        Self { enabled, custom, expands: false }
    }

    /// Replaces the custom commands.
    pub(crate) fn set_custom(&mut self, custom: Vec<SlashCommand>, expands: bool) {
        (self.custom, self.expands) = (custom, expands);
    }

    /// Replaces the list of custom commands. Their expansion stays.
    pub(crate) fn relist(&mut self, custom: Vec<SlashCommand>) {
        self.custom = custom;
    }

    /// All commands, in the order in which they are listed. A built-in one hides another of its name.
    pub(crate) fn list(&self) -> Vec<SlashCommand> {
        if !self.enabled {
            return Vec::new();
        }
        let builtins = BuiltinCommand::ALL.map(BuiltinCommand::command);
        let custom = self.custom.iter().filter(|custom| !builtins.iter().any(|builtin| builtin.name == custom.name));
        builtins.iter().chain(custom).cloned().collect()
    }

    /// The meaning of a prompt with this text after its slash.
    pub(crate) fn read(&self, text: &str) -> Called {
        if !self.enabled {
            return Called::Text;
        }
        let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let arguments = arguments.trim();
        let find_builtin = |called: fn(&SlashCommand, &str) -> bool| {
            BuiltinCommand::ALL.into_iter().find(|builtin| called(&builtin.command(), name))
        };
        if let Some(builtin) = find_builtin(|command, name| command.name == name) {
            return match builtin {
                BuiltinCommand::Compact => Called::Compact(arguments.to_owned()),
                other => Called::Builtin(other),
            };
        }
        // The name of a command precedes an alias of another one.
        let custom_command = self
            .custom
            .iter()
            .find(|custom| custom.name == name)
            .or_else(|| self.custom.iter().find(|custom| custom.is_called(name)));
        let builtin = find_builtin(SlashCommand::is_called);
        match (custom_command.filter(|_| self.expands), builtin) {
            (Some(custom), builtin) => {
                Called::Custom { name: custom.name.clone(), arguments: arguments.to_owned(), builtin }
            }
            (None, Some(builtin)) => Called::Builtin(builtin),
            // A command may be newer than the list: the session knows.
            (None, None) if self.expands && is_name(name) => {
                Called::Custom { name: name.to_owned(), arguments: arguments.to_owned(), builtin: None }
            }
            (None, None) => Called::Text,
        }
    }

    /// `true` if the text after the slash begins with the name of a listed command.
    pub(crate) fn lists(&self, text: &str) -> bool {
        let name = text.split(char::is_whitespace).next().unwrap_or_default();
        self.list().iter().any(|command| command.is_called(name))
    }
}

/// `true` if a word can be the name of a command: no path, and not empty.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_finds_its_command_and_everything_else_is_text() {
        let mut commands = Commands::new(true, Vec::new());
        let custom =
            ["review", "cost", "new"].map(|name| SlashCommand::new(name, "").with_aliases([format!("{name}2")]));
        commands.set_custom(custom.into(), true);
        let prompt = |name: &str, arguments: &str, builtin| Called::Custom {
            name: name.into(),
            arguments: arguments.into(),
            builtin,
        };
        for (text, expected) in [
            ("clear", Called::Builtin(BuiltinCommand::Clear)),
            ("reset", Called::Builtin(BuiltinCommand::Clear)),
            ("cost please", Called::Builtin(BuiltinCommand::Cost)),
            ("compact", Called::Compact(String::new())),
            ("compact\nfocus on x ", Called::Compact("focus on x".to_owned())),
            ("new", prompt("new", "", Some(BuiltinCommand::Clear))),
            ("review  a b \n", prompt("review", "a b", None)),
            ("review2 a", prompt("review", "a", None)),
            ("reviews now", prompt("reviews", "now", None)),
            ("continue-run", Called::Builtin(BuiltinCommand::ContinueRun)),
            ("etc/passwd is a file", Called::Text),
            ("", Called::Text),
            (" clear", Called::Text),
        ] {
            assert_eq!(commands.read(text), expected, "{text:?}");
        }
        let names: Vec<String> = commands.list().into_iter().map(|command| command.name).collect();
        assert_eq!(names, ["clear", "compact", "context", "cost", "continue-run", "review", "new"]);
    }

    #[test]
    fn commands_can_be_off() {
        let commands = Commands::new(false, vec![SlashCommand::new("x", "")]);
        assert!(commands.list().is_empty());
        assert_eq!(commands.read("clear"), Called::Text);
        assert!(!commands.lists("clear"));
    }

    #[test]
    fn a_name_that_no_session_can_look_up_is_text() {
        let commands = Commands::new(true, Vec::new());
        assert_eq!(commands.read("reviews"), Called::Text);
        assert!(commands.lists("clear now") && !commands.lists("reviews") && !commands.lists(""));
    }
}

//! Commands that the terminal carries out itself.

use super::{App, TerminalEnd};
use crate::cell::{Cell, KeptText, LocalOutput};
use windlass_conversation::{Request, SlashCommand};
use windlass_types::PermissionMode;

/// A command of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LocalCommand {
    Exit,
    Help,
    Keys,
    Status,
    Model(Option<String>),
    Mode(Option<String>),
    Rename(String),
    Rewind,
    Resume,
}

/// Names of the commands, with what they do and their arguments.
const COMMANDS: [(&str, &str, &str); 9] = [
    ("exit", "Leave; the session stays and can be resumed", ""),
    ("help", "List the commands", ""),
    ("keys", "Show the keys", ""),
    ("status", "Show the version, model, directory and session", ""),
    ("model", "Change the model of this session", "<name>"),
    ("mode", "Change the permission mode of this session", "<mode>"),
    ("rename", "Give the session a title", "<title>"),
    ("resume", "Continue another session of this directory", ""),
    ("rewind", "Take the code, the conversation or both back to before a prompt", ""),
];

/// The commands of a conversation with those of the terminal.
pub(super) fn with_local(mut commands: Vec<SlashCommand>) -> Vec<SlashCommand> {
    commands.retain(|command| !COMMANDS.iter().any(|(name, _, _)| *name == command.name));
    commands.extend(COMMANDS.iter().map(|(name, description, arguments)| {
        let command = SlashCommand::new(*name, *description).with_argument_hint(*arguments).as_builtin();
        if *name == "exit" { command.with_aliases(["quit"]) } else { command }
    }));
    commands.sort_by(|a, b| a.name.cmp(&b.name));
    commands
}

/// The name of a command that a prompt begins with and that is none. Prompts of MCP servers are known only to the open
/// session, so their names pass.
pub(super) fn unknown<'a>(text: &'a str, known: &[SlashCommand]) -> Option<&'a str> {
    let name = text.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'));
    let is_known = |command: &SlashCommand| command.name == name || command.aliases.iter().any(|alias| alias == name);
    (is_name && !name.starts_with("mcp__") && !known.iter().any(is_known)).then_some(name)
}

impl LocalCommand {
    /// The command of the terminal that a prompt is, if it is one.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (name, argument) = text.trim().strip_prefix('/').map(|called| {
            let (name, argument) = called.split_once(char::is_whitespace).unwrap_or((called, ""));
            (name, argument.trim())
        })?;
        let given = (!argument.is_empty()).then(|| argument.to_owned());
        Some(match name {
            "exit" | "quit" => Self::Exit,
            "help" => Self::Help,
            "keys" => Self::Keys,
            "status" => Self::Status,
            "model" => Self::Model(given),
            "mode" => Self::Mode(given),
            "rename" => Self::Rename(argument.to_owned()),
            "rewind" => Self::Rewind,
            "resume" => Self::Resume,
            _ => return None,
        })
    }
}

impl App {
    /// Carries out a command of the terminal.
    pub(super) fn run_local(&mut self, command: LocalCommand) {
        match command {
            LocalCommand::Exit => self.leave(TerminalEnd::Left),
            LocalCommand::Keys => self.prompt.show_keys(),
            LocalCommand::Help => {
                let commands = with_local(self.conversation.conversation().commands());
                let lines: Vec<String> = commands
                    .iter()
                    .map(|command| {
                        let name = format!("/{} {}", command.name, command.argument_hint);
                        format!("{:<28} {}", name.trim_end(), command.description)
                    })
                    .collect();
                self.local_output(&lines.join("\n"));
            }
            LocalCommand::Status => {
                let status = self.services.status();
                self.local_output(&status);
            }
            LocalCommand::Model(Some(name)) => self.request(format!("model {name}"), Request::Model(Some(name))),
            LocalCommand::Model(None) => {
                self.local_output("Name a model: /model <name>. `windlass models` lists them.")
            }
            LocalCommand::Mode(given) => match given.as_deref().map(str::parse::<PermissionMode>) {
                Some(Ok(mode)) => self.request("mode", Request::PermissionMode(mode)),
                _ => self.local_output("Name a mode: /mode default, acceptEdits, plan, dontAsk or auto."),
            },
            LocalCommand::Rewind => self.open_rewind(),
            LocalCommand::Resume => self.find_sessions(),
            LocalCommand::Rename(title) if title.is_empty() => self.local_output("Name a title: /rename <title>."),
            LocalCommand::Rename(title) => self.request(format!("rename {title}"), Request::Rename(title)),
        }
        self.surface.request_frame();
    }

    /// Shows the output of a command of the terminal.
    pub(super) fn local_output(&mut self, text: &str) {
        let output = LocalOutput { command: String::new(), text: KeptText::new(text) };
        self.surface.presenter_mut().push(Cell::Local(output));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_a_local_command_by_its_first_word_alone() {
        assert_eq!(LocalCommand::read("/quit"), Some(LocalCommand::Exit));
        assert_eq!(LocalCommand::read(" /model  opus "), Some(LocalCommand::Model(Some("opus".to_owned()))));
        assert_eq!(LocalCommand::read("/model"), Some(LocalCommand::Model(None)));
        for text in ["exit", "/exits", "/clear", "/", "see /exit", ""] {
            assert_eq!(LocalCommand::read(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_word_behind_a_slash_is_a_command_or_a_mistake() {
        let known = with_local(vec![SlashCommand::new("review", "").with_aliases(["r"])]);
        for (text, expected) in [
            ("/nonsense now", Some("nonsense")),
            ("/review it", None),
            ("/r", None),
            ("/quit", None),
            ("/etc/passwd is a file", None),
            ("/mcp__git__log", None),
            (" /nonsense", None),
            ("/", None),
        ] {
            assert_eq!(unknown(text, &known), expected, "{text:?}");
        }
    }

    #[test]
    fn commands_of_the_terminal_stand_once_among_the_others() {
        let listed = with_local(vec![SlashCommand::new("model", "another"), SlashCommand::new("clear", "")]);
        assert_eq!(listed.iter().filter(|command| command.name == "model").count(), 1);
        assert!(listed.iter().any(|command| command.name == "clear"));
    }
}

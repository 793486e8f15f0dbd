//! Commands that the terminal carries out itself.

use super::App;
use super::end::TerminalEnd;
use crate::cell::{Cell, KeptText, LocalOutput};
use windlass_conversation::{Message, Request, SlashCommand};
use windlass_types::PermissionMode;

/// A command of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LocalCommand {
    Copy,
    Exit,
    Export(Option<String>),
    Fork,
    Help,
    Keys,
    Mode(Option<String>),
    Plan(String),
    Rename(String),
    Resume,
    Rewind,
    Status,
    Tasks,
    Usage,
}

/// Names of the commands, with what they do and their arguments.
const COMMANDS: [(&str, &str, &str); 14] = [
    ("copy", "Copy the last answer to the clipboard", ""),
    ("exit", "Leave; the session stays and can be resumed", ""),
    ("export", "Write the conversation to a file", "[file]"),
    ("fork", "Continue in a copy of the session, and leave this one as it is", ""),
    ("help", "List the commands", ""),
    ("keys", "Show the keys", ""),
    ("mode", "Change the permission mode of this session", "<mode>"),
    ("plan", "Plan and change nothing, until a plan is approved", "[prompt]"),
    ("rename", "Give the session a title", "<title>"),
    ("resume", "Continue another session of this directory", ""),
    ("rewind", "Take the code, the conversation or both back to before a prompt", ""),
    ("status", "Show the version, model, directory and session", ""),
    ("tasks", "Show agents and background work: open or stop them", ""),
    ("usage", "Show the use of the context window, the cost and the allowance", ""),
];

/// The commands of a session with those of the program and of the terminal. The terminal's own come first.
pub(super) fn with_local(commands: Vec<SlashCommand>, program: Vec<SlashCommand>) -> Vec<SlashCommand> {
    let own = COMMANDS.iter().map(|(name, description, arguments)| {
        let command = SlashCommand::new(*name, *description).with_argument_hint(*arguments).as_builtin();
        if *name == "exit" { command.with_aliases(["quit"]) } else { command }
    });
    let mut all: Vec<SlashCommand> = own.chain(program).collect();
    for mut command in commands {
        command.aliases.retain(|alias| !all.iter().any(|known| known.name == *alias));
        if !all.iter().any(|known| known.name == command.name) {
            all.push(command);
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The command that a prompt calls, and its argument. A prompt with a blank in front calls none.
pub(super) fn called(text: &str) -> Option<(&str, &str)> {
    let called = text.trim_end().strip_prefix('/')?;
    let (name, argument) = called.split_once(char::is_whitespace).unwrap_or((called, ""));
    Some((name, argument.trim()))
}

/// `true` if a prompt would be a command without the blank in front, which sends it as text.
pub(super) fn is_text_with_slash(text: &str) -> bool {
    text.starts_with(char::is_whitespace) && text.trim_start().starts_with('/')
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
    /// The command of the terminal with this name.
    pub(super) fn named(name: &str, argument: &str) -> Option<Self> {
        let given = (!argument.is_empty()).then(|| argument.to_owned());
        Some(match name {
            "copy" => Self::Copy,
            "exit" | "quit" => Self::Exit,
            "export" => Self::Export(given),
            "fork" => Self::Fork,
            "help" => Self::Help,
            "keys" => Self::Keys,
            "mode" => Self::Mode(given),
            "plan" => Self::Plan(argument.to_owned()),
            "rename" => Self::Rename(argument.to_owned()),
            "resume" => Self::Resume,
            "rewind" => Self::Rewind,
            "status" => Self::Status,
            "tasks" => Self::Tasks,
            "usage" => Self::Usage,
            _ => return None,
        })
    }
}

impl App {
    /// All commands, for the menu and the list.
    pub(super) fn commands(&self) -> Vec<SlashCommand> {
        with_local(self.conversation.conversation().commands(), self.services.commands())
    }

    /// Carries out a prompt that is a command of the terminal or of the program. Returns `false` for any other.
    pub(super) fn run_called(&mut self, text: &str) -> bool {
        let Some((name, argument)) = called(text) else { return false };
        if let Some(command) = LocalCommand::named(name, argument) {
            self.echo(text);
            self.run_local(command);
            return true;
        }
        let is_of_program = self.services.commands().iter().any(|command| command.name == name);
        if is_of_program {
            self.echo(text);
            self.run_program(name, argument);
        }
        is_of_program
    }

    /// Carries out a command of the terminal.
    fn run_local(&mut self, command: LocalCommand) {
        match command {
            LocalCommand::Copy => self.copy_answer(),
            LocalCommand::Exit => self.leave(TerminalEnd::Left),
            LocalCommand::Export(name) => self.export(name.as_deref()),
            LocalCommand::Fork => self.fork(),
            LocalCommand::Keys => self.show_keys(),
            LocalCommand::Help => self.help(),
            LocalCommand::Status => {
                let status = self.services.status();
                self.local_output(&status);
            }
            LocalCommand::Mode(given) => match given.as_deref().map(str::parse::<PermissionMode>) {
                Some(Ok(mode)) => self.request("mode", Request::PermissionMode(mode)),
                _ => self.local_output("Name a mode: /mode default, acceptEdits, plan, dontAsk or auto."),
            },
            LocalCommand::Plan(prompt) => {
                self.request("mode", Request::PermissionMode(PermissionMode::Plan));
                if !prompt.is_empty() {
                    self.send(Message::text(prompt));
                }
            }
            LocalCommand::Rewind => self.open_rewind(),
            LocalCommand::Resume => self.find_sessions(),
            LocalCommand::Rename(title) if title.is_empty() => self.local_output("Name a title: /rename <title>."),
            LocalCommand::Rename(title) if self.surface.presenter().status().session_id.is_empty() => {
                self.local_output(&format!("The session is named {title} once it has begun."));
                self.title = Some(title);
            }
            LocalCommand::Rename(title) => self.request(format!("rename {title}"), Request::Rename(title)),
            LocalCommand::Tasks => self.open_tasks(),
            LocalCommand::Usage => self.local_output(&super::usage::usage_text(self.surface.presenter().status())),
        }
        self.surface.request_frame();
    }

    fn help(&mut self) {
        let line = |command: &SlashCommand| {
            let name = format!("/{} {}", command.name, command.argument_hint);
            format!("{:<28} {}", name.trim_end(), command.description)
        };
        let lines: Vec<String> = self.commands().iter().map(line).collect();
        self.local_output(&lines.join("\n"));
    }

    fn show_keys(&mut self) {
        if !self.is_plain {
            return self.prompt.show_keys();
        }
        let keys = "Enter sends a line. A backslash before Enter begins another one. Ctrl+C stops the run, and ends windlass \
                    while nothing runs. Ctrl+D ends windlass.";
        self.local_output(keys);
    }

    /// Puts the last answer into the clipboard.
    fn copy_answer(&mut self) {
        let Some(answer) = super::usage::last_answer(self.surface.transcript()) else {
            return self.local_output("There is no answer to copy yet.");
        };
        // A terminal that is gone ends the loop with its next frame.
        let _ = self.surface.copy(&answer);
        let size = crate::layout::plural(answer.chars().count(), "character");
        self.local_output(&format!(
            "The last answer ({size}) is in the clipboard, if the terminal allows it (OSC 52)."
        ));
    }

    /// Writes the conversation to a file.
    fn export(&mut self, name: Option<&str>) {
        let lines: Vec<String> = self.surface.transcript().cells().flat_map(Cell::plain_lines).collect();
        let saved = self.services.save(name, &(lines.join("\n") + "\n"));
        self.local_output(&match saved {
            Ok(path) => format!("The conversation is in {path}."),
            Err(error) => format!("The conversation was not written: {error}"),
        });
    }

    /// Continues in a copy of the session.
    fn fork(&mut self) {
        let session = self.surface.presenter().status().session_id.clone();
        if session.is_empty() {
            return self.local_output("There is nothing to fork yet: send a message first.");
        }
        self.leave(TerminalEnd::Fork(session));
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
        let read = |text| called(text).and_then(|(name, argument)| LocalCommand::named(name, argument));
        assert_eq!(read("/quit"), Some(LocalCommand::Exit));
        assert_eq!(read("/mode  plan "), Some(LocalCommand::Mode(Some("plan".to_owned()))));
        assert_eq!(read("/mode"), Some(LocalCommand::Mode(None)));
        for text in ["exit", " /exit", "\n/exit", "/exits", "/clear", "/", "see /exit", ""] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_word_behind_a_slash_is_a_command_or_a_mistake() {
        let known = with_local(vec![SlashCommand::new("review", "").with_aliases(["r"])], Vec::new());
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
        let session = vec![
            SlashCommand::new("mode", "another"),
            SlashCommand::new("model", "another"),
            SlashCommand::new("cost", "").with_aliases(["usage", "stats"]),
        ];
        let listed = with_local(session, vec![SlashCommand::new("model", "of the program")]);
        for name in ["mode", "model", "usage", "cost"] {
            let named =
                |command: &&SlashCommand| command.name == name || command.aliases.iter().any(|alias| alias == name);
            assert_eq!(listed.iter().filter(named).count(), 1, "{name}");
        }
        assert!(listed.iter().any(|command| command.description == "of the program"));
    }
}

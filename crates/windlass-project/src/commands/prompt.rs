//! The prompt that a command or a skill becomes.

use super::definition::Command;
use super::shell::{Segment, programs, segments};
use crate::expand::{Piece, Values, pieces, split_arguments};
use crate::instructions::{imports, names_a_file, target};
use std::path::{Path, PathBuf};
use thiserror::Error;
use windlass_context::{foreign_text, is_secret};
use windlass_types::{ContentBlock, JsonText, Prompt, PromptCall, PromptCommand, PromptPart};

/// Maximum number of bytes of a prompt.
pub(super) const MOST_PROMPT: usize = 4 * 1024 * 1024;
/// Maximum number of programs and files of a prompt.
const MAX_CALLS: usize = 32;
/// Replacement for the output of a program when a setting keeps programs from running.
const SWITCHED_OFF: &str = "[a setting keeps commands from running programs]";

/// Session and arguments of one use of a command.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CommandUse<'a> {
    /// Text after the command's name.
    pub arguments: &'a str,
    /// The session (`${CLAUDE_SESSION_ID}`). Default: none, and the placeholder stays.
    pub session: &'a str,
    /// The directories of the project, from its root to the start (`${CLAUDE_PROJECT_DIR}` is the start). Default:
    /// none.
    pub project: &'a [PathBuf],
    /// The user's home, where `~/` starts. Default: none.
    pub home: Option<&'a Path>,
    /// The folder of a skill that has none of its own, see [`Command::extracted`]. Default: none.
    pub skill_directory: Option<&'a Path>,
    /// `true` if a setting keeps the programs of commands and skills from running. Default: `false`.
    pub without_programs: bool,
}

impl<'a> CommandUse<'a> {
    /// Creates a use with these arguments.
    #[must_use]
    pub fn with(arguments: &'a str) -> Self {
        Self { arguments, ..Self::default() }
    }

    fn start(&self) -> Option<&'a Path> {
        self.project.last().map(PathBuf::as_path)
    }
}

/// Reason why a command does not become a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The arguments would make a prompt that is too long.
    #[error("the prompt of /{name} would be longer than {MOST_PROMPT} bytes: give it shorter arguments")]
    TooLong {
        /// The command.
        name: String,
    },
    /// The front matter cannot be read, or has a deny rule that cannot be used.
    #[error("/{name} cannot be used: {problem}")]
    Unusable {
        /// The command.
        name: String,
        /// The problem.
        problem: String,
    },
    /// The command wants to run too many programs and read too many files.
    #[error("/{name} runs more than {MAX_CALLS} programs, which is the most")]
    TooMany {
        /// The command.
        name: String,
    },
    /// The command wants to run programs, and trust in the project does not cover that.
    #[error(
        "/{name} runs programs, and trust in this project does not cover that: look at {} and run `windlass trust`",
        path.display()
    )]
    Untrusted {
        /// The command.
        name: String,
        /// File of the command.
        path: PathBuf,
    },
}

/// State of one expansion: the values for placeholders, and the size of the text so far.
struct Expansion<'a> {
    values: Values<'a>,
    /// `true` if the text had a placeholder for arguments.
    replaced: bool,
    bytes: usize,
    name: &'a str,
}

impl Expansion<'_> {
    fn fill(&mut self, text: &str) -> Result<String, CommandError> {
        let mut filled = String::new();
        for piece in pieces(text, self.values.names) {
            self.replaced |= piece.is_argument();
            filled.push_str(self.values.of(&piece));
            self.check(filled.len())?;
        }
        self.bytes = self.bytes.saturating_add(filled.len());
        Ok(filled)
    }

    fn check(&self, more: usize) -> Result<(), CommandError> {
        if self.bytes.saturating_add(more) > MOST_PROMPT {
            return Err(CommandError::TooLong { name: self.name.to_owned() });
        }
        Ok(())
    }

    /// Returns the text appended to a command without a placeholder for the arguments.
    fn rest(&self) -> Result<Option<String>, CommandError> {
        let arguments = self.values.arguments;
        if self.replaced || arguments.is_empty() {
            return Ok(None);
        }
        self.check(arguments.len())?;
        Ok(Some(format!("\n\nARGUMENTS: {arguments}")))
    }
}

impl Command {
    /// Expands the command's text for arguments in one pass, so that placeholders in an argument are not replaced:
    ///
    /// - `$ARGUMENTS` is all of them as they were given; `$ARGUMENTS[N]` is one, counted from 0.
    /// - `$1` to `$9` are single ones, counted from 1; in a text that has a `$0`, from 0. What was not given is empty.
    ///   Blanks separate arguments, quotes hold one together.
    /// - `$name` is the one that the head calls so (`arguments: [name, other]`).
    /// - A backslash before any of these keeps it as it is.
    /// - If the text has none of these, the arguments follow it as `ARGUMENTS: …`.
    /// - In a command of a plugin `${CLAUDE_PLUGIN_ROOT}` is the plugin's directory, in a skill `${CLAUDE_SKILL_DIR}` the
    ///   skill's; `${CLAUDE_PROJECT_DIR}` is where the session starts and `${CLAUDE_SESSION_ID}` the session's id, where they
    ///   are known.
    ///
    /// No program is run and no file read: `` !`command` `` and `@file` stay as they are.
    ///
    /// # Errors
    /// The text would be longer than 4 MiB.
    pub fn expand(&self, used: &CommandUse<'_>) -> Result<String, CommandError> {
        let single = split_arguments(used.arguments);
        let mut expansion = self.start_expansion(used, &single);
        let mut text = expansion.fill(self.body())?;
        text.extend(expansion.rest()?);
        Ok(self.marked(text))
    }

    /// Returns the prompt of the command: the text as [`expand`](Self::expand) makes it, with the scope of its run.
    /// When the run begins, the output of `` !`command` `` takes its place, and the content of each existing `@file` is
    /// appended to the text: both are calls of tools (`Bash`, `Read`) that pass the permission gate. If a program may
    /// not run or fails, the prompt is not sent. This method runs no program; it only asks the disk which files exist.
    ///
    /// # Errors
    /// The text would be longer than 4 MiB, it has more than 32 programs and files, or it has programs that trust does
    /// not cover.
    pub fn prompt(&self, used: &CommandUse<'_>) -> Result<Prompt, CommandError> {
        let single = split_arguments(used.arguments);
        let mut expansion = self.start_expansion(used, &single);
        let mut parts = Vec::new();
        for segment in segments(self.body()) {
            parts.push(match segment {
                Segment::Text(text) => PromptPart::Text(self.marked(expansion.fill(text)?)),
                Segment::Program(_) if used.without_programs && self.obeys_switch() => {
                    PromptPart::Text(SWITCHED_OFF.to_owned())
                }
                Segment::Program(program) => {
                    if !self.runs_programs {
                        return Err(CommandError::Untrusted { name: self.name.clone(), path: self.path.clone() });
                    }
                    PromptPart::Call(self.program_call(&expansion.fill(program)?))
                }
            });
        }
        parts.extend(expansion.rest()?.map(PromptPart::Text));
        self.add_files(used, &mut expansion, &mut parts)?;
        let calls = parts.iter().filter(|part| matches!(part, PromptPart::Call(_))).count();
        if calls > MAX_CALLS {
            return Err(CommandError::TooMany { name: self.name.clone() });
        }
        let prompt = match calls {
            0 => Prompt::new(vec![ContentBlock::text(parts.iter().map(words).collect::<String>())]),
            _ => Prompt::new(Vec::new()).with_parts(parts),
        };
        Ok(prompt.within(self.run_scope(used)).ignoring_keywords())
    }

    /// Marks imitations of the runtime in `text` if someone other than the user wrote the command.
    fn marked(&self, text: String) -> String {
        if self.source.is_of_others() { foreign_text(&text) } else { text }
    }

    /// Returns the scope of the command's run.
    #[must_use]
    pub fn run_scope(&self, used: &CommandUse<'_>) -> windlass_types::RunScope {
        self.scope.for_run(&self.name, used.start().unwrap_or(Path::new("/")))
    }

    /// Returns the programs in the command's text, as written.
    #[must_use]
    pub fn programs(&self) -> Vec<&str> {
        programs(self.body())
    }

    fn start_expansion<'a>(&'a self, used: &CommandUse<'a>, single: &'a [String]) -> Expansion<'a> {
        let counts_from_zero = pieces(self.body(), &[]).any(|piece| piece == Piece::Number(0));
        let values = Values {
            arguments: used.arguments.trim(),
            single,
            first: usize::from(!counts_from_zero),
            names: self.argument_names(),
            plugin_root: self.plugin_root(),
            skill_directory: self.directory().or(used.skill_directory).and_then(Path::to_str),
            project: used.start().and_then(Path::to_str),
            session: Some(used.session).filter(|session| !session.is_empty()),
        };
        Expansion { values, replaced: false, bytes: 0, name: &self.name }
    }

    /// Adds the files that the text mentions.
    fn add_files(
        &self,
        used: &CommandUse<'_>,
        expansion: &mut Expansion<'_>,
        parts: &mut Vec<PromptPart>,
    ) -> Result<(), CommandError> {
        let mut seen = Vec::new();
        for mention in imports(self.body()) {
            let mention = expansion.fill(&mention)?;
            if let Some(path) = self.mentioned(&mention, used).filter(|path| !seen.contains(path)) {
                parts.extend(file_call(&mention, &path).map(PromptPart::Call));
                seen.push(path);
            }
        }
        Ok(())
    }

    /// Returns the file of a mention, if it exists. A project's command cannot mention files outside of the project,
    /// and no command can mention secret files. The permission gate decides if the file may be read.
    fn mentioned(&self, mention: &str, used: &CommandUse<'_>) -> Option<PathBuf> {
        let path = target(mention, used.start()?, used.home).filter(|_| names_a_file(mention))?;
        let resolved = path.canonicalize().ok().filter(|resolved| resolved.is_file())?;
        let root = used.project.first()?;
        let is_allowed = !self.source.is_of_project() || (path.starts_with(root) && resolved.starts_with(root));
        (is_allowed && !is_secret(&path) && !is_secret(&resolved)).then_some(path)
    }
}

fn words(part: &PromptPart) -> &str {
    match part {
        PromptPart::Text(text) => text,
        _ => "",
    }
}

#[derive(serde::Serialize)]
struct BashInput<'a> {
    command: &'a str,
}

#[derive(serde::Serialize)]
struct ReadInput<'a> {
    file_path: &'a str,
}

impl Command {
    fn program_call(&self, program: &str) -> PromptCall {
        let input = JsonText::of(&BashInput { command: program }).unwrap_or_else(|_| JsonText::empty_object());
        let command = PromptCommand::new(&self.name, self.source.to_string());
        PromptCall::new("Bash", input, format!("!`{program}`")).of_command(command)
    }
}

fn file_call(mention: &str, path: &Path) -> Option<PromptCall> {
    let input = JsonText::of(&ReadInput { file_path: path.to_str()? }).ok()?;
    let call = PromptCall::new("Read", input, format!("@{mention}"));
    Some(call.led_by(format!("\n\nThe content of {mention}:\n")).or_else(""))
}

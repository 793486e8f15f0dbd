//! Server that is a program.

use crate::transport::LineFault;
use std::any::Any;
use std::ffi::OsString;
use tokio::process::{ChildStdin, ChildStdout};
use windlass_context::Masks;
use windlass_process::Program;
use windlass_tool::{ProcessCommand, ProgramWatch};

/// Start specification of a program.
pub(crate) struct ProgramSpec<'a> {
    pub(crate) command: ProcessCommand,
    /// Value that is dropped once the program has ended.
    pub(crate) until_end: Option<Box<dyn Any + Send + Sync>>,
    /// Advice for people when the program fails.
    pub(crate) advice: Option<String>,
    /// Watch that ends the program when this process is killed, and finds processes that have left its group.
    pub(crate) watch: Option<&'a dyn ProgramWatch>,
}

/// Running program with its process tree. Dropping it ends the tree without waiting.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    program: Program,
    words: LastWords,
}

/// Last output of a program, for error texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastWords {
    program: windlass_process::LastWords,
    pub(crate) fault: LineFault,
    /// Secrets in the program's environment.
    masks: Masks,
    /// Advice for people when the program fails.
    advice: Option<String>,
}

impl LastWords {
    /// Returns the exit of the program, if known, else an empty text.
    pub(crate) fn exit(&self) -> String {
        self.program.exit().unwrap_or_default()
    }

    /// Returns the output that explains the program's end, as the rest of a sentence: empty, or with a leading
    /// semicolon. Secrets of its environment, and texts that look like secrets, are masked. For the host only: the text
    /// is not marked as the words of a program.
    pub(crate) fn output(&self) -> String {
        let stderr = self.program.stderr();
        let wrote = (!stderr.is_empty()).then(|| format!("it wrote: {stderr}"));
        let parts = [self.fault.get(), wrote, self.advice.clone()].into_iter().flatten();
        parts.map(|part| format!("; {}", self.masks.mask(&part))).collect()
    }
}

impl ServerProcess {
    /// Starts a program in a session of its own.
    pub(crate) fn start(spec: ProgramSpec<'_>) -> std::io::Result<(Self, ChildStdin, ChildStdout)> {
        let ProgramSpec { command, until_end, advice, watch } = spec;
        let masks = masks(&command.env);
        let (program, stdin, stdout) = Program::start(command, watch, until_end)?;
        let words = LastWords { program: program.words().clone(), fault: LineFault::default(), masks, advice };
        Ok((Self { program, words }, stdin, stdout))
    }

    /// Returns the last output of the program.
    pub(crate) fn words(&self) -> &LastWords {
        &self.words
    }

    /// Asks the program to end.
    pub(crate) fn stop(&self) {
        self.program.stop();
    }

    /// Waits until no process of the program is left.
    pub(crate) async fn ended(&self) {
        self.program.ended().await;
    }
}

/// Returns the masks for the secrets in a program's variables.
fn masks(env: &[(OsString, OsString)]) -> Masks {
    let variables = env.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()));
    Masks::new().with_environment(variables)
}

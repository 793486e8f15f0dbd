//! A server that is a program.

use crate::transport::Fault;
use std::any::Any;
use std::ffi::OsString;
use tokio::process::{ChildStdin, ChildStdout};
use windlass_context::Masks;
use windlass_process::Program;
use windlass_tool::{ProcessCommand, ProgramWatch};

/// What is started.
pub(crate) struct Spec<'a> {
    pub(crate) command: ProcessCommand,
    /// What is kept until it has ended.
    pub(crate) until_end: Option<Box<dyn Any + Send + Sync>>,
    /// What people should know when it fails.
    pub(crate) advice: Option<String>,
    /// The watch that ends it when this process is killed, and finds what has left its group.
    pub(crate) watch: Option<&'a dyn ProgramWatch>,
}

/// A running program with its tree. Dropping it ends the tree without waiting.
#[derive(Debug)]
pub(crate) struct Process {
    program: Program,
    words: LastWords,
}

/// The last words of a program, for error texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastWords {
    program: windlass_process::LastWords,
    pub(crate) fault: Fault,
    /// The secrets that it was given.
    masks: Masks,
    /// What people should know when it fails.
    advice: Option<String>,
}

impl LastWords {
    /// How it ended, if that is known, else an empty text.
    pub(crate) fn exit(&self) -> String {
        self.program.exit().unwrap_or_default()
    }

    /// What it wrote that explains its end, as the rest of a sentence: empty, or with a leading semicolon. Secrets that it was
    /// given, and what looks like one, are masked. This is for the host: nothing marks it as the words of a program.
    pub(crate) fn output(&self) -> String {
        let stderr = self.program.stderr();
        let wrote = (!stderr.is_empty()).then(|| format!("it wrote: {stderr}"));
        let parts = [self.fault.get(), wrote, self.advice.clone()].into_iter().flatten();
        parts.map(|part| format!("; {}", self.masks.mask(&part))).collect()
    }
}

impl Process {
    /// Starts a program in a session of its own.
    pub(crate) fn start(spec: Spec<'_>) -> std::io::Result<(Self, ChildStdin, ChildStdout)> {
        let Spec { command, until_end, advice, watch } = spec;
        let masks = masks(&command.env);
        let (program, stdin, stdout) = Program::start(command, watch, until_end)?;
        let words = LastWords { program: program.words().clone(), fault: Fault::default(), masks, advice };
        Ok((Self { program, words }, stdin, stdout))
    }

    /// Its last words.
    pub(crate) fn words(&self) -> &LastWords {
        &self.words
    }

    /// Asks it to end.
    pub(crate) fn stop(&self) {
        self.program.stop();
    }

    /// Waits until no process of it is left.
    pub(crate) async fn ended(&self) {
        self.program.ended().await;
    }
}

/// The secrets in the variables of a program.
fn masks(env: &[(OsString, OsString)]) -> Masks {
    let variables = env.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()));
    Masks::new().with_environment(variables)
}

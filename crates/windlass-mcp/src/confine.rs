//! What confines the programs of servers.

use crate::McpOptions;
use crate::process::Spec;
use async_trait::async_trait;
use std::any::Any;
use std::fmt;
use windlass_tool::ProcessCommand;

/// Confines the programs of servers, such as by a sandbox of the system. The commands that print headers of a server are programs
/// of it, too.
///
/// ```
/// use windlass_mcp::{ConfinedProgram, ProgramConfinement};
/// use windlass_tool::ProcessCommand;
///
/// /// Runs each program at the lowest priority.
/// #[derive(Debug)]
/// struct Nice;
///
/// #[async_trait::async_trait]
/// impl ProgramConfinement for Nice {
///     async fn confine(&self, _server: &str, mut program: ProcessCommand) -> Result<ConfinedProgram, String> {
///         program.args.insert(0, program.program.clone());
///         program.program = "/usr/bin/nice".into();
///         Ok(ConfinedProgram::new(program))
///     }
/// }
/// ```
#[async_trait]
pub trait ProgramConfinement: fmt::Debug + Send + Sync + 'static {
    /// The program as it is to be started. The future is dropped when there is no time left to connect the server.
    ///
    /// # Errors
    /// Why it must not be started, as the end of a sentence. Nothing runs then.
    async fn confine(&self, server: &str, program: ProcessCommand) -> Result<ConfinedProgram, String>;
}

/// A program as it is to be started.
#[non_exhaustive]
pub struct ConfinedProgram {
    /// What is started: program, arguments, directory and variables count.
    pub command: ProcessCommand,
    /// What is kept until the program and its tree have ended.
    pub until_end: Option<Box<dyn Any + Send + Sync>>,
    /// What people should know when the program fails, as a sentence.
    pub advice: Option<String>,
}

impl ConfinedProgram {
    /// A program for whose sake nothing has to be kept.
    pub fn new(command: ProcessCommand) -> Self {
        Self { command, until_end: None, advice: None }
    }

    /// Keeps something until the program has ended.
    #[must_use]
    pub fn keeping(mut self, what: impl Any + Send + Sync) -> Self {
        self.until_end = Some(Box::new(what));
        self
    }

    /// Says what people should know when the program fails.
    #[must_use]
    pub fn advising(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

impl fmt::Debug for ConfinedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfinedProgram").field("command", &self.command).finish_non_exhaustive()
    }
}

/// What is started for a server: its program, confined if the set has programs confined.
pub(crate) async fn spec<'a>(
    server: &str,
    command: ProcessCommand,
    confinement: Option<&dyn ProgramConfinement>,
    options: &'a McpOptions,
) -> Result<Spec<'a>, String> {
    let confined = match confinement {
        Some(confinement) => confinement.confine(server, command).await?,
        None => ConfinedProgram::new(command),
    };
    let ConfinedProgram { command, until_end, advice } = confined;
    Ok(Spec { command, until_end, advice, watch: options.programs.watch.as_deref() })
}

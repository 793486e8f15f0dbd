//! Confinement of the programs of servers.

use crate::McpOptions;
use crate::process::ProgramSpec;
use async_trait::async_trait;
use std::any::Any;
use std::fmt;
use windlass_tool::ProcessCommand;

/// Confines the programs of servers, such as by a sandbox of the system. Commands that print headers of a server are
/// confined, too.
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
    /// Returns the program to start. The future is dropped when the time to connect the server is over.
    ///
    /// # Errors
    /// Returns the reason why the program must not be started, as the end of a sentence. Nothing runs then.
    async fn confine(&self, server: &str, program: ProcessCommand) -> Result<ConfinedProgram, String>;
}

/// Program ready to start.
#[non_exhaustive]
pub struct ConfinedProgram {
    /// Command to start: program, arguments, directory and variables are used.
    pub command: ProcessCommand,
    /// Value that is dropped once the program and its process tree have ended.
    pub until_end: Option<Box<dyn Any + Send + Sync>>,
    /// Advice for people when the program fails, as a sentence.
    pub advice: Option<String>,
}

impl ConfinedProgram {
    /// Creates a program without a value to keep and without advice.
    pub fn new(command: ProcessCommand) -> Self {
        Self { command, until_end: None, advice: None }
    }

    /// Keeps a value until the program has ended.
    #[must_use]
    pub fn keeping(mut self, what: impl Any + Send + Sync) -> Self {
        self.until_end = Some(Box::new(what));
        self
    }

    /// Sets the advice for people when the program fails.
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

/// Returns the start specification of a server's program, confined if the set has a confinement.
pub(crate) async fn spec<'a>(
    server: &str,
    command: ProcessCommand,
    confinement: Option<&dyn ProgramConfinement>,
    options: &'a McpOptions,
) -> Result<ProgramSpec<'a>, String> {
    let confined = match confinement {
        Some(confinement) => confinement.confine(server, command).await?,
        None => ConfinedProgram::new(command),
    };
    let ConfinedProgram { command, until_end, advice } = confined;
    Ok(ProgramSpec { command, until_end, advice, watch: options.programs.watch.as_deref() })
}

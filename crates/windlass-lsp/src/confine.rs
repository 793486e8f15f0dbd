//! Confinement of the programs of language servers.

use std::any::Any;
use std::fmt;

use async_trait::async_trait;
use windlass_tool::ProcessCommand;

/// Confines the program of a language server before it starts, such as with a sandbox.
///
/// ```
/// use windlass_lsp::{ConfinedUntilEnd, ServerConfinement};
/// use windlass_tool::ProcessCommand;
///
/// /// Runs each program at the lowest priority.
/// #[derive(Debug)]
/// struct Nice;
///
/// #[async_trait::async_trait]
/// impl ServerConfinement for Nice {
///     async fn confine(
///         &self,
///         _server: &str,
///         mut program: ProcessCommand,
///     ) -> Result<(ProcessCommand, ConfinedUntilEnd), String> {
///         program.args.insert(0, program.program.clone());
///         program.program = "/usr/bin/nice".into();
///         Ok((program, Box::new(())))
///     }
/// }
/// ```
#[async_trait]
pub trait ServerConfinement: fmt::Debug + Send + Sync + 'static {
    /// Returns the program to start for the server of this name; program, arguments, directory and variables are used.
    /// The accompanying value is kept until the program has ended.
    ///
    /// # Errors
    /// Returns the reason why the program must not be started, as the end of a sentence. Nothing runs then.
    async fn confine(
        &self,
        server: &str,
        program: ProcessCommand,
    ) -> Result<(ProcessCommand, ConfinedUntilEnd), String>;
}

/// Value that is kept until a program has ended.
pub type ConfinedUntilEnd = Box<dyn Any + Send + Sync>;

//! The Bash tool whose calls may request a terminal.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_tool::{Annotations, TerminalSize, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;

use super::{Bash, BashInput, description};

/// The tool [`Bash`] whose calls may request a terminal; created by [`Bash::with_terminals`].
///
/// The command of such a call has a terminal of 40 rows and 120 columns as its input and output. Nobody types there:
/// the first read returns the end of input, and later reads block until the time limit. Remote workspaces and Windows
/// have no terminals, so such a call fails there.
#[derive(Debug, Clone, Default)]
pub struct BashOnTerminals(Bash);

impl BashOnTerminals {
    pub(super) fn new(bash: Bash) -> Self {
        Self(bash)
    }
}

/// Input of [`BashOnTerminals`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BashOnTerminalsInput {
    /// That of [`Bash`].
    #[serde(flatten)]
    pub bash: BashInput,
    /// Gives the command a terminal, for programs that refuse to run without one. Its input is empty.
    #[serde(default)]
    pub tty: Option<bool>,
}

impl Tool for BashOnTerminals {
    const NAME: &'static str = Bash::NAME;
    const DESCRIPTION: &'static str = description!(
        "There is no input, and a terminal only with `tty`, for programs that refuse to run without one: pass options that \
         keep a program from asking or paging."
    );
    type Input = BashOnTerminalsInput;
    type Output = ToolOutput;

    fn access(&self, input: &Self::Input) -> Access {
        self.0.access(&input.bash)
    }

    fn command<'a>(&self, input: &'a Self::Input) -> Option<&'a str> {
        self.0.command(&input.bash)
    }

    fn title(&self, input: &Self::Input) -> Cow<'static, str> {
        self.0.title(&input.bash)
    }

    fn annotations(&self) -> Annotations {
        self.0.annotations()
    }

    async fn call(&self, input: Self::Input, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let terminal = (input.tty == Some(true)).then(TerminalSize::default);
        self.0.run(input.bash, terminal, cx).await
    }
}

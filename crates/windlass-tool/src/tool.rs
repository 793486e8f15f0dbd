//! Typed tools.

use crate::{IntoToolOutput, ToolCx, ToolError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::future::Future;
use windlass_types::Access;

/// A tool with a typed input.
///
/// The input schema is derived from [`Tool::Input`]; doc comments on its fields become their descriptions. Input that
/// does not fit the schema never reaches the tool: the model gets an error that names the fault.
///
/// ```
/// # mod windlass { pub use windlass_tool::*; pub use windlass_types::*; }
/// use windlass::{Access, Tool, ToolCx, ToolError, schemars};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Sum {
///     /// The numbers to add.
///     numbers: Vec<f64>,
/// }
///
/// struct Add;
///
/// impl Tool for Add {
///     const NAME: &'static str = "add";
///     const DESCRIPTION: &'static str = "Adds numbers.";
///     type Input = Sum;
///     type Output = String;
///
///     fn access(&self, _: &Sum) -> Access {
///         Access::NOTHING
///     }
///
///     async fn call(&self, input: Sum, _: &ToolCx) -> Result<String, ToolError> {
///         Ok(input.numbers.iter().sum::<f64>().to_string())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "implement `windlass_tool::Tool`, or make one from an async closure with `windlass_tool::tool_fn`"
)]
pub trait Tool: Send + Sync + 'static {
    /// Name of the tool: 1 to 64 of `A-Z a-z 0-9 _ -`.
    const NAME: &'static str;
    /// Description of the tool and of its use, for the model. Must not change during a session: it is part of the
    /// cached prefix.
    const DESCRIPTION: &'static str;
    /// Input of the tool: a struct with named fields, since model services only accept tools whose schema describes an
    /// object. That is not checked when a session opens; the kit `windlass_testkit::tool::all` checks it.
    type Input: ToolInput;
    /// Output of the tool.
    type Output: IntoToolOutput;

    /// Returns the access of a call. It decides which calls may run beside it and whether it asks for permission. The
    /// default is [`Access::Unknown`]: the call runs alone and asks.
    ///
    /// Pure and quick: it may be called before the call is allowed.
    fn access(&self, input: &Self::Input) -> Access {
        let _ = input;
        Access::Unknown
    }

    /// Returns the shell command that this call runs, if it runs one; it is then judged command by command.
    fn command<'a>(&self, input: &'a Self::Input) -> Option<&'a str> {
        let _ = input;
        None
    }

    /// Returns the tool's own opinion. It can only make the verdict stricter.
    fn check(&self, input: &Self::Input) -> ToolCheck {
        let _ = input;
        ToolCheck::Undecided
    }

    /// Returns a line for people that describes this call.
    fn title(&self, input: &Self::Input) -> Cow<'static, str> {
        let _ = input;
        Cow::Borrowed(Self::NAME)
    }

    /// Returns the properties of all calls.
    fn annotations(&self) -> Annotations {
        Annotations::default()
    }

    /// `true` if the tool is offered to the model. Called once, when a session opens.
    fn is_enabled(&self) -> bool {
        true
    }

    /// Returns a preview of the call's changes in files, as a unified diff, for people who look at it before it runs.
    /// It may only read: the [permit](ToolCx::permit) allows no writes. Default: none. Called only if the session
    /// previews edits, and for at most two seconds.
    fn preview(&self, input: &Self::Input, cx: &ToolCx) -> impl Future<Output = Option<String>> + Send {
        let _ = (input, cx);
        std::future::ready(None)
    }

    /// Runs the call. It has been validated and allowed.
    ///
    /// When the call is cancelled, [`ToolCx::cancel`] is given and, unless the annotations say otherwise, the future is
    /// dropped soon after. Panics are caught and become an error.
    ///
    /// # Errors
    /// An error text for the model, see [`ToolError`].
    fn call(&self, input: Self::Input, cx: &ToolCx) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// Input that a tool can take: a value that is read from JSON and has a JSON Schema.
///
/// `#[derive(ToolInput)]`, of the feature `macros`, makes a type an input. So do `serde::Deserialize` and
/// `schemars::JsonSchema` together.
///
/// ```
/// use windlass_tool::{ToolCx, ToolInput, schemars, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[schemars(crate = "windlass_tool::schemars")]
/// struct City {
///     /// City to look up.
///     name: String,
/// }
///
/// fn takes(_: &impl ToolInput) {}
///
/// takes(&City { name: "Oslo".to_owned() });
/// let weather = tool_fn("weather", "Current weather.", |city: City, _: ToolCx| async move {
///     Ok(format!("Sunny in {}.", city.name))
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an input of a tool",
    label = "not an input of a tool",
    note = "add `#[derive(windlass::ToolInput)]` to the type (feature `macros`), or derive `serde::Deserialize` and \
            `schemars::JsonSchema`"
)]
pub trait ToolInput: DeserializeOwned + JsonSchema + Send + Sync + 'static {}

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> ToolInput for T {}

/// Properties of all calls of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Annotations {
    /// Handling of a call that is stopped.
    pub interrupt: InterruptBehavior,
    /// `true` if the host must answer each call, in every mode.
    pub requires_user_interaction: bool,
    /// Maximum number of bytes of text that the model reads of a result; the middle of longer ones is left out.
    pub max_result_bytes: usize,
    /// `true` if the results are text of programs or servers: parts that look like a text of the runtime are marked
    /// before the model reads them.
    pub foreign_output: bool,
    /// `true` if the results are text of people and machines that the user does not know, such as servers and pages:
    /// they are put between two lines with a mark that is new for each call when the model reads them.
    pub bounded_output: bool,
    /// Boolean field of the input with which a call asks to continue in the background. `None`: calls of the tool end
    /// with their work. A session without background work does not offer the field.
    pub background_field: Option<&'static str>,
    /// `true` if the program that serves the tool declares that its calls only read. They then run beside calls that
    /// read; no permission follows from it.
    pub hinted_read_only: bool,
    /// `true` if the calls let the vendor of the session's model search the web
    /// ([`ServerTool::WebSearch`](windlass_types::ServerTool::WebSearch)). Sessions whose model has no such search do
    /// not offer the tool.
    pub needs_web_search: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self {
            interrupt: InterruptBehavior::Cancel,
            requires_user_interaction: false,
            max_result_bytes: 100_000,
            foreign_output: false,
            bounded_output: false,
            background_field: None,
            hinted_read_only: false,
            needs_web_search: false,
        }
    }
}

impl Annotations {
    /// Sets the handling of a call that is stopped.
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: InterruptBehavior) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Offers the tool only if the vendor of the session's model searches the web.
    #[must_use]
    pub fn needing_web_search(mut self) -> Self {
        self.needs_web_search = true;
        self
    }

    /// Requires the host to answer each call, in every mode.
    #[must_use]
    pub fn requiring_user_interaction(mut self) -> Self {
        self.requires_user_interaction = true;
        self
    }

    /// Sets the maximum number of bytes of text that the model reads of a result.
    #[must_use]
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }

    /// Marks the results as text of programs or servers.
    #[must_use]
    pub fn with_foreign_output(mut self) -> Self {
        self.foreign_output = true;
        self
    }

    /// Sets whether the results are put between two lines with a mark, see [`bounded_output`](Self::bounded_output).
    #[must_use]
    pub fn with_bounded_output(mut self, on: bool) -> Self {
        self.bounded_output = on;
        self
    }

    /// Sets the boolean field of the input with which a call asks to continue in the background.
    #[must_use]
    pub fn with_background_field(mut self, field: &'static str) -> Self {
        self.background_field = Some(field);
        self
    }

    /// Sets whether calls are taken to only read, as the program that serves the tool declares, for the order in which
    /// calls run.
    #[must_use]
    pub fn with_hinted_read_only(mut self, hinted: bool) -> Self {
        self.hinted_read_only = hinted;
        self
    }
}

/// Handling of a call that is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum InterruptBehavior {
    /// The cancel signal is given, and after a moment the call is dropped.
    #[default]
    Cancel,
    /// The call gets the cancel signal and is awaited, because dropping it in the middle would do harm.
    Block,
}

/// A tool's own opinion on a call. There is no allow: a tool cannot override the decisions of rules and modes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolCheck {
    /// No opinion.
    #[default]
    Undecided,
    /// The host must be asked, for this reason.
    Ask(String),
    /// The call must not run, for this reason.
    Deny(String),
}

//! Typed tools.

use crate::{IntoToolOutput, ToolCx, ToolError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::future::Future;
use windlass_types::Access;

/// A tool with a typed input.
///
/// The input schema is derived from [`Tool::Input`]; doc comments on its fields
/// become their descriptions. Input that does not fit the schema never reaches
/// the tool: the model gets an error that names what is wrong.
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
    /// The name: 1 to 64 of `A-Z a-z 0-9 _ -`.
    const NAME: &'static str;
    /// What it does and when to use it, for the model. Must not change during a
    /// session: it is part of the cached prefix.
    const DESCRIPTION: &'static str;
    /// What it takes: a struct with named fields, since model services take only tools whose schema is one of an object.
    /// That is not checked when a session opens; the kit `windlass_testkit::tool::all` checks it.
    type Input: ToolInput;
    /// What it returns.
    type Output: IntoToolOutput;

    /// What this call touches. It decides what may run beside it and whether it
    /// asks. The default is [`Access::Unknown`]: it runs alone and asks.
    ///
    /// Pure and quick: it may be called before the call is allowed.
    fn access(&self, input: &Self::Input) -> Access {
        let _ = input;
        Access::Unknown
    }

    /// The shell command that this call runs, if it runs one; it is then judged
    /// command by command.
    fn command<'a>(&self, input: &'a Self::Input) -> Option<&'a str> {
        let _ = input;
        None
    }

    /// The tool's own opinion. It can only make the verdict stricter.
    fn check(&self, input: &Self::Input) -> ToolCheck {
        let _ = input;
        ToolCheck::Undecided
    }

    /// One line for people that names what this call does.
    fn title(&self, input: &Self::Input) -> Cow<'static, str> {
        let _ = input;
        Cow::Borrowed(Self::NAME)
    }

    /// What is true of all calls.
    fn annotations(&self) -> Annotations {
        Annotations::default()
    }

    /// Whether the model is offered the tool. Asked once, when a session opens.
    fn is_enabled(&self) -> bool {
        true
    }

    /// What this call would change in files, as a unified diff, for people who look at it before it runs. It may only
    /// read: the [permit](ToolCx::permit) lets it write nothing. Default: none. Asked only where the session looks at edits
    /// beforehand, and for at most two seconds.
    fn preview(&self, input: &Self::Input, cx: &ToolCx) -> impl Future<Output = Option<String>> + Send {
        let _ = (input, cx);
        std::future::ready(None)
    }

    /// Runs the call. It has been validated and allowed.
    ///
    /// When the call is cancelled, [`ToolCx::cancel`] is given and, unless the
    /// annotations say otherwise, the future is dropped soon after. Panics are
    /// caught and become an error.
    ///
    /// # Errors
    /// What the model should know, see [`ToolError`].
    fn call(&self, input: Self::Input, cx: &ToolCx) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// What a tool can take: a value that is read from JSON and has a JSON Schema.
///
/// `#[derive(ToolInput)]`, of the feature `macros`, makes a type one. So do `serde::Deserialize` and
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

/// What is true of all calls of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Annotations {
    /// What happens to a call that is stopped.
    pub interrupt: InterruptBehavior,
    /// Whether the host must answer each call, in every mode.
    pub requires_user_interaction: bool,
    /// The most bytes of text that the model reads of a result; the middle of
    /// longer ones is left out.
    pub max_result_bytes: usize,
    /// Whether its results are the words of programs or servers: what looks like a text of the runtime in them is
    /// marked before the model reads it.
    pub foreign_output: bool,
    /// Whether its results are the words of people and machines that the user does not know, such as servers and pages: they
    /// stand between two lines with a mark that is new for each call when the model reads them.
    pub bounded_output: bool,
    /// The boolean field of the input with which a call asks to continue in the background. `None`: calls of the tool
    /// end with their work. A session without background work does not offer the field.
    pub background_field: Option<&'static str>,
    /// Whether the program that serves the tool declares that its calls only read. They then run beside calls that
    /// read; no permission follows from it.
    pub hinted_read_only: bool,
    /// Whether its calls have the vendor of the session's model search the web
    /// ([`ServerTool::WebSearch`](windlass_types::ServerTool::WebSearch)). Sessions whose model has no such search do not offer
    /// it.
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
    /// Sets what happens to a call that is stopped.
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: InterruptBehavior) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Offers it only where the vendor of the session's model searches the web.
    #[must_use]
    pub fn needing_web_search(mut self) -> Self {
        self.needs_web_search = true;
        self
    }

    /// Makes the host answer each call, in every mode.
    #[must_use]
    pub fn requiring_user_interaction(mut self) -> Self {
        self.requires_user_interaction = true;
        self
    }

    /// Sets the most bytes of text that the model reads of a result.
    #[must_use]
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }

    /// Marks its results as the words of programs or servers.
    #[must_use]
    pub fn with_foreign_output(mut self) -> Self {
        self.foreign_output = true;
        self
    }

    /// Says whether its results stand between two lines with a mark, see [`bounded_output`](Self::bounded_output).
    #[must_use]
    pub fn with_bounded_output(mut self, on: bool) -> Self {
        self.bounded_output = on;
        self
    }

    /// Names the boolean field of the input with which a call asks to continue in the background.
    #[must_use]
    pub fn with_background_field(mut self, field: &'static str) -> Self {
        self.background_field = Some(field);
        self
    }

    /// Believes the program that serves the tool that its calls only read, for the order in which calls run.
    #[must_use]
    pub fn with_hinted_read_only(mut self, hinted: bool) -> Self {
        self.hinted_read_only = hinted;
        self
    }
}

/// What happens to a call that is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum InterruptBehavior {
    /// Its cancel signal is given, and after a moment it is dropped.
    #[default]
    Cancel,
    /// Its cancel signal is given, and it is waited for: dropping it half-way would do harm.
    Block,
}

/// A tool's own opinion on a call. There is no allow: a tool cannot lift what
/// rules and modes decide.
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

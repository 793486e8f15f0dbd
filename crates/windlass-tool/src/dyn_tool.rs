//! Tools without their types.

use crate::{Annotations, IntoToolOutput, Tool, ToolCheck, ToolCx, ToolError, ToolOutput};
use schemars::generate::SchemaSettings;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use windlass_types::{Access, JsonText, ToolSpec};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool without its types. Every [`Tool`] is one; implement this trait directly for tools that are named at run time.
///
/// ```
/// # mod windlass { pub mod tool { pub use windlass_tool::*; pub use windlass_types::*; } }
/// use std::sync::Arc;
/// use windlass::tool::{
///     Access, Annotations, BoxFuture, DynTool, JsonText, PreparedCall, ToolCx, ToolError, ToolOutput, ToolSpec,
/// };
///
/// /// A command of another system, whose name and schema are read when the program starts.
/// struct Remote {
///     spec: ToolSpec,
/// }
///
/// impl DynTool for Remote {
///     fn spec(&self) -> ToolSpec {
///         self.spec.clone()
///     }
///
///     fn annotations(&self) -> Annotations {
///         Annotations::default()
///     }
///
///     fn is_enabled(&self) -> bool {
///         true
///     }
///
///     fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
///         Ok(Box::new(RemoteCall { tool: self, input: input.clone() }))
///     }
/// }
///
/// struct RemoteCall {
///     tool: Arc<Remote>,
///     input: JsonText,
/// }
///
/// impl PreparedCall for RemoteCall {
///     fn access(&self) -> Access {
///         Access::Network
///     }
///
///     fn title(&self) -> String {
///         format!("{} {}", self.tool.spec.name, self.input.as_str())
///     }
///
///     fn call(self: Box<Self>, _: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
///         Box::pin(async move { Ok(ToolOutput::text(format!("sent {}", self.input.as_str()))) })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "implement `windlass::Tool`, or make one with `windlass::tool_fn` from an async closure that takes the input \
            and a `ToolCx`, both by value, and returns `Result<_, ToolError>`"
)]
pub trait DynTool: Send + Sync + 'static {
    /// Returns name, description and input schema. Called once, when a set is built.
    fn spec(&self) -> ToolSpec;

    /// Returns the name of the [spec](Self::spec). It is called often, so implement it if building the spec takes long.
    /// Default: the spec is built for it.
    fn name(&self) -> Cow<'_, str> {
        Cow::Owned(self.spec().name)
    }

    /// Returns the properties of all calls.
    fn annotations(&self) -> Annotations;

    /// `true` if the tool is offered to the model.
    fn is_enabled(&self) -> bool;

    /// Reads an input that fits the schema. Pure and quick.
    ///
    /// # Errors
    /// The input does not fit the tool's type.
    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError>;
}

/// A call whose input was read: its declarations, and its execution. [`DynTool`] has an example.
///
/// ```
/// use windlass_tool::{BoxFuture, PreparedCall, ToolCx, ToolError, ToolOutput};
/// use windlass_types::Access;
///
/// /// A call that asks what time it is.
/// struct Now;
///
/// impl PreparedCall for Now {
///     fn access(&self) -> Access {
///         Access::NOTHING
///     }
///
///     fn title(&self) -> String {
///         "Look at the clock".to_owned()
///     }
///
///     fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
///         Box::pin(async move { Ok(ToolOutput::text(format!("{:?}", cx.clock().now()))) })
///     }
/// }
/// ```
pub trait PreparedCall: Send + Sync + 'static {
    /// See [`Tool::access`].
    fn access(&self) -> Access;

    /// See [`Tool::command`]. Default: none.
    fn command(&self) -> Option<&str> {
        None
    }

    /// See [`Tool::check`]. Default: undecided.
    fn check(&self) -> ToolCheck {
        ToolCheck::Undecided
    }

    /// See [`Tool::title`].
    fn title(&self) -> String;

    /// See [`Tool::preview`]. Default: none.
    fn preview(&self, cx: ToolCx) -> BoxFuture<'_, Option<String>> {
        let _ = cx;
        Box::pin(std::future::ready(None))
    }

    /// See [`Tool::call`].
    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

struct Typed<T: Tool> {
    tool: Arc<T>,
    input: T::Input,
}

impl<T: Tool> PreparedCall for Typed<T> {
    fn access(&self) -> Access {
        self.tool.access(&self.input)
    }

    fn command(&self) -> Option<&str> {
        self.tool.command(&self.input)
    }

    fn check(&self) -> ToolCheck {
        self.tool.check(&self.input)
    }

    fn title(&self) -> String {
        self.tool.title(&self.input).into_owned()
    }

    fn preview(&self, cx: ToolCx) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move { self.tool.preview(&self.input, &cx).await })
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let Self { tool, input } = *self;
        Box::pin(async move { tool.call(input, &cx).await?.into_tool_output() })
    }
}

impl<T: Tool> DynTool for T {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(T::NAME, T::DESCRIPTION, schema_of::<T::Input>())
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(T::NAME)
    }

    fn annotations(&self) -> Annotations {
        Tool::annotations(self)
    }

    fn is_enabled(&self) -> bool {
        Tool::is_enabled(self)
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        let input = input.to().map_err(|error| ToolError::invalid_input(error.to_string()))?;
        Ok(Box::new(Typed { tool: self, input }))
    }
}

/// Returns the JSON Schema (2020-12, without references) of a type.
pub fn schema_of<I: schemars::JsonSchema>() -> JsonText {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<I>();
    // The name and comment of a Rust type mean nothing to a model.
    schema.remove("title");
    schema.remove("description");
    JsonText::of(&schema).unwrap_or_else(|_| JsonText::empty_object())
}

const _: fn(&dyn DynTool, &dyn PreparedCall) = |_, _| {};

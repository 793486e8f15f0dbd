//! Tools made from async closures.

use crate::dyn_tool::schema_of;
use crate::{Annotations, BoxFuture, DynTool, IntoToolOutput, PreparedCall, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use windlass_types::{Access, JsonText, ToolSpec};

/// A tool made from an async closure.
pub struct ToolFn<F, I> {
    name: String,
    description: String,
    access: Access,
    call: Arc<F>,
    input: PhantomData<fn() -> I>,
}

/// Makes a tool from an async closure that takes a typed input and a context.
///
/// What it touches is unknown unless [`ToolFn::with_access`] says so: it runs
/// alone and asks.
///
/// ```
/// use windlass_tool::{schemars, tool_fn, ToolCx};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City {
///     /// City to look up.
///     name: String,
/// }
///
/// let weather = tool_fn("weather", "Current weather for a city.", |input: City, _: ToolCx| async move {
///     Ok(format!("It is sunny in {}.", input.name))
/// });
/// ```
pub fn tool_fn<F, I, Fut, O>(name: impl Into<String>, description: impl Into<String>, call: F) -> ToolFn<F, I>
where
    F: Fn(I, ToolCx) -> Fut + Send + Sync + 'static,
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput,
{
    ToolFn {
        name: name.into(),
        description: description.into(),
        access: Access::Unknown,
        call: Arc::new(call),
        input: PhantomData,
    }
}

/// Makes a tool from an async closure that shares state between its calls.
pub fn tool_fn_with<S, F, I, Fut, O>(
    name: impl Into<String>,
    description: impl Into<String>,
    state: S,
    call: F,
) -> ToolFn<impl Fn(I, ToolCx) -> Fut + Send + Sync + 'static, I>
where
    S: Send + Sync + 'static,
    F: Fn(Arc<S>, I, ToolCx) -> Fut + Send + Sync + 'static,
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput,
{
    let state = Arc::new(state);
    tool_fn(name, description, move |input, cx| call(Arc::clone(&state), input, cx))
}

impl<F, I> ToolFn<F, I> {
    /// Says what every call touches.
    #[must_use]
    pub fn with_access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }
}

impl<F, I> fmt::Debug for ToolFn<F, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFn").field("name", &self.name).field("access", &self.access).finish_non_exhaustive()
    }
}

struct Call<F, I> {
    name: String,
    access: Access,
    call: Arc<F>,
    input: I,
}

impl<F, I, Fut, O> PreparedCall for Call<F, I>
where
    F: Fn(I, ToolCx) -> Fut + Send + Sync + 'static,
    I: Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput,
{
    fn access(&self) -> Access {
        self.access.clone()
    }

    fn title(&self) -> String {
        self.name.clone()
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let Self { call, input, .. } = *self;
        Box::pin(async move { call(input, cx).await?.into_tool_output() })
    }
}

impl<F, I, Fut, O> DynTool for ToolFn<F, I>
where
    F: Fn(I, ToolCx) -> Fut + Send + Sync + 'static,
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput + 'static,
{
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name.clone(), self.description.clone(), schema_of::<I>())
    }

    fn annotations(&self) -> Annotations {
        Annotations::default()
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        let input = input.to().map_err(|error| ToolError::invalid_input(error.to_string()))?;
        Ok(Box::new(Call { name: self.name.clone(), access: self.access.clone(), call: Arc::clone(&self.call), input }))
    }
}

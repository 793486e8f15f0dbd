//! Tools made from async closures.

use crate::dyn_tool::schema_of;
use crate::{
    Annotations, BoxFuture, DynTool, IntoToolOutput, PreparedCall, ToolCheck, ToolCx, ToolError, ToolInput, ToolOutput,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use windlass_types::{Access, JsonText, ToolSpec};

/// A tool made from an async closure, see [`tool_fn`]. Further properties of its calls are set with `with_…`.
pub struct ToolFn<F, I> {
    name: String,
    description: String,
    schema: JsonText,
    annotations: Annotations,
    access: OfInput<I, Access>,
    check: OfInput<I, ToolCheck>,
    /// Title of a call; `None`: the name of the tool.
    title: Option<OfInput<I, String>>,
    call: F,
}

/// Closure that computes a property of a call from its input.
type OfInput<I, T> = Box<dyn Fn(&I) -> T + Send + Sync>;

/// Makes a tool from an async closure that takes a typed input and a context.
///
/// Its access is unknown unless [`ToolFn::with_access`] or [`ToolFn::with_access_of`] sets it: it runs alone and asks
/// for permission.
///
/// ```
/// # mod windlass { pub use windlass_tool::*; pub use windlass_types::*; pub mod tool { pub use windlass_tool::*; pub use windlass_types::*; } }
/// use windlass::{Access, ToolCx, schemars, tool::ToolCheck, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City {
///     /// City to look up.
///     name: String,
/// }
///
/// let weather = tool_fn("weather", "Current weather for a city.", |input: City, _: ToolCx| async move {
///     Ok(format!("It is sunny in {}.", input.name))
/// })
/// .with_access(Access::Network)
/// .with_title(|input| format!("Weather in {}", input.name))
/// .with_check(|input| match input.name.is_empty() {
///     true => ToolCheck::Deny("Name a city.".to_owned()),
///     false => ToolCheck::Undecided,
/// });
/// ```
pub fn tool_fn<F, I, Fut, O>(name: impl Into<String>, description: impl Into<String>, call: F) -> ToolFn<F, I>
where
    F: Fn(I, ToolCx) -> Fut + Send + Sync + 'static,
    I: ToolInput,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput,
{
    ToolFn::new(name.into(), description.into(), schema_of::<I>(), call)
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
    I: ToolInput,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput,
{
    let state = Arc::new(state);
    tool_fn(name, description, move |input, cx| call(Arc::clone(&state), input, cx))
}

/// Makes a tool from an async closure with a JSON Schema for its input that is written by hand, or only known at run
/// time.
///
/// The closure takes any type that serde can read; [`JsonText`] takes the input as the model wrote it. Input that does
/// not fit the schema never reaches it. A set with a schema that does not describe an object is refused
/// ([`ToolSetError::InvalidSchema`](crate::ToolSetError::InvalidSchema)).
///
/// ```
/// # mod windlass { pub use windlass_tool::*; pub use windlass_types::*; pub mod tool { pub use windlass_tool::*; pub use windlass_types::*; } }
/// use windlass::{Json, JsonText, ToolCx, tool::tool_json};
///
/// let schema = serde_json::json!({
///     "type": "object",
///     "properties": { "city": { "type": "string", "description": "City to look up." } },
///     "required": ["city"],
/// });
/// let weather = tool_json("weather", "Current weather for a city.", schema, |input: JsonText, _: ToolCx| async move {
///     let input: serde_json::Value = input.to()?;
///     Ok(Json(serde_json::json!({ "city": input["city"], "degrees": 21 })))
/// });
/// ```
pub fn tool_json<F, I, Fut, O>(
    name: impl Into<String>,
    description: impl Into<String>,
    schema: impl Serialize,
    call: F,
) -> ToolFn<F, I>
where
    F: Fn(I, ToolCx) -> Fut + Send + Sync + 'static,
    I: DeserializeOwned + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput,
{
    // A set refuses a schema that is not an object, so it also refuses one that cannot be written.
    let schema = JsonText::of(&schema).or_else(|_| JsonText::of(&()));
    ToolFn::new(name.into(), description.into(), schema.unwrap_or_else(|_| JsonText::empty_object()), call)
}

impl<F, I> ToolFn<F, I> {
    fn new(name: String, description: String, schema: JsonText, call: F) -> Self {
        Self {
            name,
            description,
            schema,
            annotations: Annotations::default(),
            access: Box::new(|_| Access::Unknown),
            check: Box::new(|_| ToolCheck::Undecided),
            title: None,
            call,
        }
    }

    /// Sets the access of every call. Default: [`Access::Unknown`].
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        self.with_access_of(move |_| access.clone())
    }

    /// Sets the access of a call, computed from its input, see [`Tool::access`](crate::Tool::access):
    #[must_use]
    pub fn with_access_of(mut self, access: impl Fn(&I) -> Access + Send + Sync + 'static) -> Self {
        self.access = Box::new(access);
        self
    }

    /// Adds a check of the tool's calls, see [`Tool::check`](crate::Tool::check). It can only make the verdict
    /// stricter.
    #[must_use]
    pub fn with_check(mut self, check: impl Fn(&I) -> ToolCheck + Send + Sync + 'static) -> Self {
        self.check = Box::new(check);
        self
    }

    /// Sets the one-line title of a call for people, see [`Tool::title`](crate::Tool::title). Default: the tool's name.
    #[must_use]
    pub fn with_title(mut self, title: impl Fn(&I) -> String + Send + Sync + 'static) -> Self {
        self.title = Some(Box::new(title));
        self
    }

    /// Sets the properties of all calls.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = annotations;
        self
    }
}

impl<F, I> fmt::Debug for ToolFn<F, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFn").field("name", &self.name).finish_non_exhaustive()
    }
}

struct ToolFnCall<F, I> {
    tool: Arc<ToolFn<F, I>>,
    input: I,
}

impl<F, I, Fut, O> PreparedCall for ToolFnCall<F, I>
where
    F: Fn(I, ToolCx) -> Fut + Send + Sync + 'static,
    I: Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput,
{
    fn access(&self) -> Access {
        (self.tool.access)(&self.input)
    }

    fn check(&self) -> ToolCheck {
        (self.tool.check)(&self.input)
    }

    fn title(&self) -> String {
        self.tool.title.as_ref().map_or_else(|| self.tool.name.clone(), |title| title(&self.input))
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let Self { tool, input } = *self;
        Box::pin(async move { (tool.call)(input, cx).await?.into_tool_output() })
    }
}

impl<F, I, Fut, O> DynTool for ToolFn<F, I>
where
    F: Fn(I, ToolCx) -> Fut + Send + Sync + 'static,
    I: DeserializeOwned + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput + 'static,
{
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name.clone(), self.description.clone(), self.schema.clone())
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    fn annotations(&self) -> Annotations {
        self.annotations
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        let input = input.to().map_err(|error| ToolError::invalid_input(error.to_string()))?;
        Ok(Box::new(ToolFnCall { tool: self, input }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InterruptBehavior, Json, ToolSet, ToolSetError};
    use schemars::JsonSchema;
    use std::path::PathBuf;

    #[derive(serde::Deserialize, JsonSchema)]
    struct Input {
        path: PathBuf,
    }

    fn prepared(tool: impl DynTool) -> Box<dyn PreparedCall> {
        Arc::new(tool).prepare(&JsonText::parse(r#"{"path":"a"}"#).unwrap()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_closure_tool_says_nothing_of_itself_by_default() {
        let tool = tool_fn("t", "A test.", |_: Input, _| async { Ok("ok") });
        assert_eq!(DynTool::annotations(&tool), Annotations::default());
        let call = prepared(tool);
        assert_eq!((call.access(), call.check(), call.title().as_str()), (Access::Unknown, ToolCheck::Undecided, "t"));
    }

    #[test]
    fn what_is_said_of_a_call_follows_from_its_input() {
        let annotations = Annotations::default().with_interrupt(InterruptBehavior::Block).with_max_result_bytes(7);
        let tool = tool_fn("t", "A test.", |_: Input, _| async { Ok("ok") })
            .with_access_of(|input| Access::reads(&input.path))
            .with_check(|input| ToolCheck::Ask(input.path.display().to_string()))
            .with_title(|input| format!("Look at {}", input.path.display()))
            .with_annotations(annotations);
        assert_eq!(DynTool::annotations(&tool), annotations);
        let call = prepared(tool);
        assert_eq!((call.access(), call.title()), (Access::Reads(vec!["a".into()]), "Look at a".to_owned()));
        assert_eq!(call.check(), ToolCheck::Ask("a".to_owned()));
    }

    #[test]
    fn a_schema_by_hand_is_what_the_model_reads() {
        let schema = serde_json::json!({ "type": "object", "properties": { "path": { "type": "string" } } });
        let tool = tool_json("t", "A test.", &schema, |input: JsonText, _| async move { Ok(input.to_string()) });
        let spec = tool.spec();
        assert_eq!((spec.name.as_str(), spec.input_schema), ("t", JsonText::of(&schema).unwrap()));
        assert_eq!(prepared(tool).access(), Access::Unknown);
        let unfit = tool_json("t", "A test.", &schema, |input: Vec<u32>, _| async move { Ok(Json(input)) });
        assert!(Arc::new(unfit).prepare(&JsonText::empty_object()).is_err());
    }

    #[test]
    fn a_schema_that_is_no_object_is_refused() {
        let unwritable = std::collections::BTreeMap::from([((1, 2), 3)]);
        let refused = |tool: Arc<dyn DynTool>| matches!(ToolSet::new([tool]), Err(ToolSetError::InvalidSchema { .. }));
        assert!(refused(Arc::new(tool_json("t", "A test.", true, |_: JsonText, _| async { Ok(()) }))));
        assert!(refused(Arc::new(tool_json("t", "A test.", unwritable, |_: JsonText, _| async { Ok(()) }))));
        assert!(refused(Arc::new(tool_fn("t", "A test.", |_: String, _| async { Ok(()) }))));
        assert!(refused(Arc::new(tool_fn("t", "A test.", |_: Option<Input>, _| async { Ok(()) }))));
        assert!(!refused(Arc::new(tool_fn("t", "A test.", |_: Input, _| async { Ok(()) }))));
    }
}

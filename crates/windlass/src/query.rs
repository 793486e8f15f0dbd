//! Queries: a prompt with its options.

use crate::error::Error;
use crate::open::open_for_prompts;
use crate::options::Options;
use crate::prompt::{PromptInput, Prompts};
use crate::run::{PromptFeed, Run};
use crate::typed::{RunOutput, Typed};
use std::future::{Future, IntoFuture, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;
use windlass_runtime::Session;
use windlass_types::{EventKind, RunResult};

/// A prompt with its options. Stream it, or await it for its result: a [`RunResult`], or with
/// [`output`](Self::output) a [`Typed`] value.
#[derive(Debug)]
#[must_use = "a query does nothing until it is streamed or awaited"]
pub struct Query<O = RunResult> {
    prompt: PromptInput,
    pub(crate) options: Options,
    wait: Option<Duration>,
    output: PhantomData<fn() -> O>,
}

/// Begins a query: give it at least a provider, then stream or await it.
pub fn query(prompt: impl Into<PromptInput>) -> Query {
    Query::with_options(prompt, Options::default())
}

/// Default time limit for background work.
const BACKGROUND_WAIT: Duration = Duration::from_secs(600);

impl Query {
    pub(crate) fn with_options(prompt: impl Into<PromptInput>, mut options: Options) -> Self {
        let prompt = prompt.into();
        options.permissions.wait |= prompt.continues_run();
        Self { prompt, options, wait: Some(BACKGROUND_WAIT), output: PhantomData }
    }
}

impl<O> Query<O> {
    /// Sets the type of the data that the run must end with. Awaiting the query returns that value, or an error without
    /// one; see [`ToolSetOptions::output_schema`](crate::options::ToolSetOptions::output_schema) for the number of attempts.
    ///
    /// ```
    /// use windlass::{Script, ScriptedModel, query, schemars::JsonSchema};
    ///
    /// #[derive(serde::Deserialize, JsonSchema)]
    /// #[schemars(crate = "windlass::schemars")]
    /// struct Review {
    ///     approved: bool,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), windlass::Error> {
    /// let answer = serde_json::json!({ "approved": true });
    /// let model = ScriptedModel::new(Script::new().turn(|turn| turn.tool_use("StructuredOutput", answer)));
    /// let review: Review = query("Review the change").provider(model).output::<Review>().await?.value;
    /// assert!(review.approved);
    /// # Ok(())
    /// # }
    /// ```
    pub fn output<T: windlass_tool::schemars::JsonSchema>(self) -> Query<Typed<T>> {
        let Self { prompt, mut options, wait, .. } = self;
        options.tools.output_schema = Some(windlass_tool::schema_of::<T>());
        Query { prompt, options, wait, output: PhantomData }
    }

    /// Time limit for commands and agents left in the background after the run, and for the runs that begin when they
    /// end; `None` waits without limit, zero not at all. Work that still runs then is stopped, and the query is no
    /// success: [`Outcome::BackgroundStopped`](crate::Outcome::BackgroundStopped) names it. Default: ten minutes.
    pub fn background_wait(mut self, limit: Option<Duration>) -> Self {
        self.wait = limit;
        self
    }

    /// Returns the run as a stream of events. It starts when it is first polled, on the tokio runtime that polls it.
    pub fn stream(self) -> Run {
        Run::new(begin(self.prompt.0, self.options), self.wait)
    }
}

/// Opens the session, and gives it the prompt. Prompts of a stream are given by the returned future, as they arrive.
async fn begin(prompts: Prompts, options: Options) -> Result<(Session, Option<PromptFeed>), Error> {
    let mut arriving = match prompts {
        Prompts::One(prompt) => return Ok((open_for_prompts(options, Some(prompt)).await?.0, None)),
        Prompts::Many(prompts) => prompts,
    };
    let (session, mut reader) = open_for_prompts(options, None).await?;
    let feed: PromptFeed = Box::pin(async move {
        while let Some(prompt) = poll_fn(|cx| arriving.as_mut().poll_next(cx)).await {
            reader.read(prompt).await?;
        }
        reader.settled().await;
        Ok(())
    });
    Ok((session, Some(feed)))
}

impl<O: RunOutput> IntoFuture for Query<O> {
    type Output = Result<O, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Runs to the end and returns the result: the same stream, folded. Nobody sees its events, so permission requests
    /// that wait for an answer [through events](crate::permission::QuestionEvents) are denied.
    fn into_future(mut self) -> Self::IntoFuture {
        self.options.permissions.ask_via_events = false;
        Box::pin(async move {
            let mut run = self.stream();
            let mut result = None;
            while let Some(event) = run.try_next().await? {
                if event.agent.is_main()
                    && let EventKind::RunFinished(finished) = event.kind
                {
                    result = Some(finished);
                }
            }
            O::of(result.ok_or(Error::Session(windlass_runtime::SessionError::Closed))?)
        })
    }
}

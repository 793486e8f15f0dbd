//! Queries: one prompt with its options.

use crate::error::Error;
use crate::open::open;
use crate::options::Options;
#[cfg(feature = "project")]
use crate::project::{GivenSkills, LoadedProject, ProjectError};
use crate::prompt::PromptInput;
use crate::run::Run;
use crate::typed::{RunOutput, Typed};
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;
#[cfg(feature = "project")]
use windlass_runtime::Prompt;
#[cfg(feature = "project")]
use windlass_types::SessionId;
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
    pub(crate) fn with_options(prompt: impl Into<PromptInput>, options: Options) -> Self {
        Self { prompt: prompt.into(), options, wait: Some(BACKGROUND_WAIT), output: PhantomData }
    }
}

impl<O> Query<O> {
    /// Sets the type of the data that the run must end with. Awaiting the query returns that value, or an error without
    /// one; see [`output_schema`](Self::output_schema) for the number of attempts.
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
        let Self { prompt, options, wait, .. } = self.output_schema(windlass_tool::schema_of::<T>());
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
        let Self { prompt, options, wait, .. } = self;
        let opening = async move {
            #[cfg(feature = "project")]
            {
                let mut options = options;
                options.apply_project()?;
                options.wait_for_notes();
                let prompt = ReadPrompt::of(prompt, &options);
                let reads_commands = prompt.project.is_some() || prompt.given.is_some();
                // Problems of the prompt are reported before a session is opened.
                prompt.expand(None)?;
                let (session, tools) = open(options).await?;
                let prompt = prompt.expand(Some(session.handle.session_id()))?;
                #[cfg(feature = "mcp")]
                let prompt = if reads_commands { tools.prompt_of_server(prompt).await? } else { prompt };
                #[cfg(not(feature = "mcp"))]
                drop((tools, reads_commands));
                session.handle.prompt(prompt)?;
                Ok(session)
            }
            #[cfg(not(feature = "project"))]
            {
                let prompt = prompt.into_prompt()?;
                let (session, _) = open(options).await?;
                session.handle.prompt(prompt)?;
                Ok(session)
            }
        };
        Run::new(opening, wait)
    }
}

/// A prompt that the project, or the skills of the program, expand in their session.
#[cfg(feature = "project")]
struct ReadPrompt {
    prompt: PromptInput,
    project: Option<LoadedProject>,
    given: Option<GivenSkills>,
    /// Initial prompt of the session's agent.
    initial: Option<String>,
}

#[cfg(feature = "project")]
impl ReadPrompt {
    fn of(prompt: PromptInput, options: &Options) -> Self {
        Self {
            prompt,
            project: options.applied_project().cloned(),
            given: GivenSkills::of(options),
            initial: options.initial_prompt().map(str::to_owned),
        }
    }

    /// Expands the prompt for sending. `session`: id of the session, once it is open.
    fn expand(&self, session: Option<&SessionId>) -> Result<Prompt, Error> {
        let prompt = self.prompt.clone();
        match (&self.project, &self.given) {
            _ if prompt.continues_run() => prompt.into_prompt(),
            (Some(project), _) => project.prompt(prompt, self.initial.as_deref(), session)?.into_prompt(),
            (None, Some(given)) => given.expand(prompt, session).map_err(ProjectError::from)?.into_prompt(),
            (None, None) => prompt.into_prompt(),
        }
    }
}

impl<O: RunOutput> IntoFuture for Query<O> {
    type Output = Result<O, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Runs to the end and returns the result: the same stream, folded. Nobody sees its events, so permission requests
    /// that wait for an answer [through events](crate::Permissions::ask_via_events) are denied.
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

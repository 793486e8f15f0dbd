//! One prompt.

use crate::open::open;
use crate::typed::{RunOutput, Typed};
use crate::{Error, Options, PromptInput};
use futures_core::Stream;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use windlass_runtime::{EventStream, Session, SessionHandle};
use windlass_types::{Event, EventKind, RunResult};

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

/// How long background work is waited for, unless said otherwise.
const BACKGROUND_WAIT: Duration = Duration::from_secs(600);

impl Query {
    pub(crate) fn with_options(prompt: impl Into<PromptInput>, options: Options) -> Self {
        Self { prompt: prompt.into(), options, wait: Some(BACKGROUND_WAIT), output: PhantomData }
    }
}

impl<O> Query<O> {
    /// The run must end with data of this type. Awaited, the query is that value, and an error if there is none; see
    /// [`output_schema`](Self::output_schema) for how often the model is asked for it.
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

    /// How long the query waits after its run for commands and agents that were left in the
    /// background, and for the runs that begin when they end; `None` means as long
    /// as it takes, zero not at all. What still runs then is stopped. Default: ten minutes.
    pub fn background_wait(mut self, limit: Option<Duration>) -> Self {
        self.wait = limit;
        self
    }

    /// The run as a stream of events. It starts when it is first polled, on the
    /// tokio runtime that polls it.
    pub fn stream(self) -> Run {
        let Self { prompt, options, wait, .. } = self;
        let opening = async move {
            #[cfg(feature = "project")]
            let (prompt, options) = with_project(prompt, options)?;
            let prompt = prompt.into_prompt()?;
            let (session, _) = open(options).await?;
            session.handle.prompt(prompt)?;
            Ok(session)
        };
        Run { state: RunState::Opening(Box::pin(opening)), wait, notices: Vec::new() }
    }
}

/// The prompt as the project reads it, and the options as the project changes them.
#[cfg(feature = "project")]
fn with_project(prompt: PromptInput, mut options: Options) -> Result<(PromptInput, Options), Error> {
    options.apply_project()?;
    let prompt = match options.applied_project() {
        Some(project) => project.prompt(prompt, options.initial_prompt())?,
        None => prompt,
    };
    Ok((prompt, options))
}

impl<O: RunOutput> IntoFuture for Query<O> {
    type Output = Result<O, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Runs to the end and returns the result: the same stream, folded. No one sees its events, so questions that
    /// wait for an answer [through events](crate::Permissions::ask_via_events) are denied.
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

/// A run: a stream of its events, which ends after its result, when everything
/// is durable.
///
/// When commands or agents are left in the background, further runs may follow, which begin
/// when those end: see [`Query::background_wait`].
///
/// Dropping it stops the run; what was acknowledged stays in the log.
#[must_use = "a run does nothing until it is polled"]
pub struct Run {
    state: RunState,
    /// How long background work is waited for.
    wait: Option<Duration>,
    notices: Vec<String>,
}

/// Ready when nothing runs in the background any more, or it has taken too long.
type Quiet = Pin<Box<dyn Future<Output = bool> + Send>>;

enum RunState {
    Opening(Pin<Box<dyn Future<Output = Result<Session, Error>> + Send>>),
    Open {
        handle: SessionHandle,
        events: EventStream,
    },
    /// The run is over; background work may still run.
    Waiting {
        handle: SessionHandle,
        events: EventStream,
        quiet: Option<Quiet>,
    },
    Closing {
        closed: Pin<Box<dyn Future<Output = Result<(), windlass_runtime::SessionError>> + Send>>,
        events: EventStream,
    },
    Ended,
}

impl Run {
    /// The next event; `None` when everything has ended. Cancel safe.
    ///
    /// # Errors
    /// The run could not start, or the session store refused an entry; then the
    /// run's result came before. Nothing follows.
    pub async fn try_next(&mut self) -> Result<Option<Box<Event>>, Error> {
        poll_fn(|cx| self.poll(cx)).await.transpose()
    }

    /// Orders to the run: interrupt, steer, change the model or mode. Opens the
    /// session if that has not happened yet.
    ///
    /// # Errors
    /// The run could not start, or is over.
    pub async fn handle(&mut self) -> Result<SessionHandle, Error> {
        poll_fn(|cx| self.poll_open(cx)).await?;
        match &self.state {
            RunState::Open { handle, .. } | RunState::Waiting { handle, .. } => Ok(handle.clone()),
            _ => Err(Error::Session(windlass_runtime::SessionError::Closed)),
        }
    }

    /// What was found while the session was opened: allow rules that cannot be
    /// used, damaged lines of an earlier session, calls whose outcome is unknown.
    /// Empty before the first event. A query that is awaited shows none of them.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let RunState::Opening(opening) = &mut self.state {
            match ready!(opening.as_mut().poll(cx)) {
                Ok(Session { handle, events, notices, .. }) => {
                    self.notices = notices;
                    self.state = RunState::Open { handle, events };
                }
                Err(error) => {
                    self.state = RunState::Ended;
                    return Poll::Ready(Err(error));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Box<Event>, Error>>> {
        loop {
            let next = match &mut self.state {
                RunState::Opening(_) => match ready!(self.poll_open(cx)) {
                    Ok(()) => continue,
                    Err(error) => Some(Err(error)),
                },
                RunState::Open { events, .. } => {
                    ready!(Pin::new(events).poll_next(cx)).map(|next| next.map_err(Error::from))
                }
                RunState::Waiting { events, quiet, .. } => match (Pin::new(events).poll_next(cx), &mut *quiet) {
                    (Poll::Ready(next), _) => next.map(|next| next.map_err(Error::from)),
                    (Poll::Pending, Some(waiting)) => {
                        ready!(waiting.as_mut().poll(cx));
                        // Events may have come in between: they are looked for once more.
                        *quiet = None;
                        continue;
                    }
                    (Poll::Pending, None) => {
                        self.close();
                        continue;
                    }
                },
                RunState::Closing { closed, events } => {
                    let mut refused = ready!(closed.as_mut().poll(cx)).err();
                    // Everything is there already: the session has ended.
                    while let Poll::Ready(Some(last)) = Pin::new(&mut *events).poll_next(cx) {
                        refused = last.err().or(refused);
                    }
                    refused.map(|error| Err(error.into()))
                }
                RunState::Ended => None,
            };
            match &next {
                Some(Ok(event)) if event.agent.is_main() && matches!(event.kind, EventKind::RunFinished(_)) => {
                    self.wait()
                }
                Some(Ok(_)) => {}
                _ => self.state = RunState::Ended,
            }
            return Poll::Ready(next);
        }
    }

    /// A run is over: waits for what it left in the background, unless that is waited for already.
    fn wait(&mut self) {
        if self.wait == Some(Duration::ZERO) {
            return self.close();
        }
        self.state = match std::mem::replace(&mut self.state, RunState::Ended) {
            RunState::Open { handle, events } => {
                // What takes longer is stopped.
                let quiet: Quiet = Box::pin(handle.quiet_within(self.wait.unwrap_or(Duration::MAX)));
                RunState::Waiting { handle, events, quiet: Some(quiet) }
            }
            state => state,
        };
    }

    fn close(&mut self) {
        let before = std::mem::replace(&mut self.state, RunState::Ended);
        if let RunState::Open { handle, events, .. } | RunState::Waiting { handle, events, .. } = before {
            let closed = Box::pin(async move { handle.close().await });
            self.state = RunState::Closing { closed, events };
        }
    }
}

impl Stream for Run {
    type Item = Result<Box<Event>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            RunState::Opening(_) => "opening",
            RunState::Open { .. } => "open",
            RunState::Waiting { .. } => "waiting",
            RunState::Closing { .. } => "closing",
            RunState::Ended => "ended",
        };
        f.debug_struct("Run").field("state", &state).finish()
    }
}

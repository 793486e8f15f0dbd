//! A model that answers from a script, for tests and demonstrations.

mod file;
mod gate;
mod stream;
mod turn;

pub use file::ScriptError;
pub use gate::Gate;
pub use turn::ScriptedTurn;

use crate::{ModelError, ModelInfo, ModelProvider, ModelStream};
use async_trait::async_trait;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stream::{Pacing, ScriptedStream};
use windlass_types::{ContentBlock, ModelErrorKind, ModelRequest, Role};

/// Answers of a [`ScriptedModel`], turn by turn.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Script {
    /// Answers, one for each request, in order.
    pub turns: Vec<ScriptedTurn>,
}

impl Script {
    /// Returns a script without turns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn.
    #[must_use]
    pub fn turn(self, write: impl FnOnce(ScriptedTurn) -> ScriptedTurn) -> Self {
        self.then(write(ScriptedTurn::new()))
    }

    /// Adds an existing turn.
    #[must_use]
    pub fn then(mut self, turn: ScriptedTurn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Adds a turn that fails before it begins.
    #[must_use]
    pub fn fail(self, kind: ModelErrorKind) -> Self {
        self.turn(|turn| turn.fail(kind))
    }
}

/// A [`ModelProvider`] that answers from a [`Script`] or from a function.
///
/// The stream resembles a real one: blocks come in pieces ([`ScriptedModel::with_delta_chars`]), usage is counted,
/// errors and cuts come at the scripted positions. Clones share the script and the recorded requests. It needs no
/// runtime.
///
/// ```
/// # use windlass_model as windlass;
/// use serde_json::json;
/// use windlass::{Script, ScriptedModel};
///
/// let model = ScriptedModel::new(
///     Script::new()
///         .turn(|turn| turn.text("Let me look.").tool_use("Read", json!({"file_path": "/a"})))
///         .turn(|turn| turn.text("It is empty.")),
/// );
/// // Give `model.clone()` to an agent, run it, then look at what it was asked:
/// assert_eq!(model.requests().len(), 0);
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    shared: Arc<ScriptProgress>,
    name: Arc<str>,
    info: ModelInfo,
    delta_chars: usize,
    pacing: Option<Pacing>,
    record: bool,
}

type ScriptedAnswer = dyn Fn(&ModelRequest, usize) -> ScriptedTurn + Send + Sync;

struct ScriptProgress {
    source: AnswerSource,
    state: Mutex<ScriptState>,
}

enum AnswerSource {
    Script(Vec<ScriptedTurn>),
    Function(Box<ScriptedAnswer>),
}

#[derive(Default)]
struct ScriptState {
    asked: usize,
    requests: Vec<Arc<ModelRequest>>,
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("name", &self.name).field("asked", &self.asked()).finish_non_exhaustive()
    }
}

impl ScriptedModel {
    /// Returns a model that answers with the turns of a script, in order.
    pub fn new(script: Script) -> Self {
        Self::with_source(AnswerSource::Script(script.turns))
    }

    /// Returns a model that answers with the result of a function for a request and its number, counted from zero.
    ///
    /// ```
    /// # use windlass_model as windlass;
    /// use windlass::{ScriptedModel, ScriptedTurn};
    ///
    /// let echo = ScriptedModel::from_fn(|request, _| {
    ///     let asked = request.messages.last().map(|message| message.text()).unwrap_or_default();
    ///     ScriptedTurn::new().text(asked)
    /// });
    /// # drop(echo);
    /// ```
    pub fn from_fn(answer: impl Fn(&ModelRequest, usize) -> ScriptedTurn + Send + Sync + 'static) -> Self {
        Self::with_source(AnswerSource::Function(Box::new(answer)))
    }

    fn with_source(source: AnswerSource) -> Self {
        let mut info = ModelInfo::new(200_000, 32_000);
        (info.vision, info.documents) = (true, true);
        Self {
            shared: Arc::new(ScriptProgress { source, state: Mutex::default() }),
            name: Arc::from("script"),
            info,
            delta_chars: 16,
            pacing: None,
            record: true,
        }
    }

    /// Sets another name than `script`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the description of every model it plays. Default: a window of 200,000 tokens, an output of 32,000, images
    /// and documents, and no price.
    #[must_use]
    pub fn with_info(mut self, info: ModelInfo) -> Self {
        self.info = info;
        self
    }

    /// Streams at most this many characters at a time; zero sends each block in
    /// one piece. Default: 16.
    #[must_use]
    pub fn with_delta_chars(mut self, chars: usize) -> Self {
        self.delta_chars = chars;
        self
    }

    /// Waits between deltas, through a sleep of the caller's runtime, as in `with_pacing(Duration::from_millis(20),
    /// tokio::time::sleep)`.
    #[must_use]
    pub fn with_pacing<F, S>(mut self, pause: Duration, sleep: S) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
        S: Fn(Duration) -> F + Send + Sync + 'static,
    {
        self.pacing = Some(Pacing { pause, sleep: Arc::new(move |pause| Box::pin(sleep(pause))) });
        self
    }

    /// Records no requests, so that a long run needs no memory for them.
    #[must_use]
    pub fn without_recording(mut self) -> Self {
        self.record = false;
        self
    }

    /// Returns every request so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Arc<ModelRequest>> {
        self.state().requests.clone()
    }

    /// Returns the number of requests.
    pub fn asked(&self) -> usize {
        self.state().asked
    }

    /// Returns the number of turns that were not requested; `None` for a function.
    pub fn remaining(&self) -> Option<usize> {
        match &self.shared.source {
            AnswerSource::Script(turns) => Some(turns.len().saturating_sub(self.asked())),
            AnswerSource::Function(_) => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, ScriptState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_turn(&self, request: &Arc<ModelRequest>) -> Result<(usize, ScriptedTurn), ModelError> {
        let number = {
            let mut state = self.state();
            if self.record {
                state.requests.push(Arc::clone(request));
            }
            let number = state.asked;
            state.asked = number.saturating_add(1);
            number
        };
        let turn = match &self.shared.source {
            AnswerSource::Function(answer) => answer(request, number),
            AnswerSource::Script(turns) => {
                turns.get(number).cloned().ok_or_else(|| run_out(turns.len(), number, request))?
            }
        };
        Ok((number, turn))
    }
}

#[async_trait]
impl ModelProvider for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn resolve_model(&self, name: &str) -> String {
        name.to_owned()
    }

    fn model_info(&self, _: &str) -> ModelInfo {
        self.info.clone()
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let (number, turn) = self.next_turn(&request)?;
        for gate in turn.gates_at_start() {
            gate.pass().await;
        }
        let answer = turn.answer(number, &request, self.delta_chars)?;
        Ok(Box::pin(ScriptedStream::new(answer, request.raw_frames, self.pacing.clone())))
    }

    /// Estimates a token for four bytes.
    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        Ok(estimate(&request))
    }
}

/// Estimates a token for four bytes of the request.
fn estimate(request: &ModelRequest) -> u64 {
    let system = request.system.iter().map(|section| section.text.len());
    let tools =
        request.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.as_str().len());
    let messages = request.messages.iter().map(|message| message.json().len());
    let bytes = system.chain(tools).chain(messages).fold(0, usize::saturating_add);
    u64::try_from(bytes / 4).unwrap_or(u64::MAX)
}

fn run_out(turns: usize, number: usize, request: &ModelRequest) -> ModelError {
    let asked = match request.messages.last() {
        Some(message) => describe(message.role, &message.content),
        None => "nothing".to_owned(),
    };
    let text = format!(
        "the script ends after turn {turns} and is asked for turn {}; the request ends with {asked}",
        number + 1
    );
    ModelError::new(ModelErrorKind::Replay, text)
}

/// Describes a message in a few words, for errors.
pub(crate) fn describe(role: Role, content: &[ContentBlock]) -> String {
    let who = match role {
        Role::Assistant => "the model",
        _ => "the user",
    };
    let what = match content.last() {
        None => "an empty message".to_owned(),
        Some(ContentBlock::Text { text, .. }) => format!("the text {}", excerpt(text)),
        Some(ContentBlock::ToolUse(call)) => format!("a call of {}", call.name),
        Some(ContentBlock::ToolResult(result)) => {
            format!("a result of {}: {}", result.tool_use_id, excerpt(&result.content.text()))
        }
        Some(_) => "a block that is not text".to_owned(),
    };
    format!("{what} from {who}")
}

/// Returns the beginning of a text, quoted.
pub(crate) fn excerpt(text: &str) -> String {
    const CHARS: usize = 80;
    match text.char_indices().nth(CHARS) {
        Some((at, _)) => format!("{:?}…", text.get(..at).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests;

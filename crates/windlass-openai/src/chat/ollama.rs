//! API of Ollama: `POST /api/chat`, with a JSON object in each line.
//!
//! Its OpenAI-compatible endpoint cannot set the context size. The size is small there by default, and a longer prompt
//! is cut from the front behind a 200: the system prompt and the tools are lost first. Here the size is set, the server
//! is asked to refuse a prompt that does not fit (`truncate: false`, `shift: false`; since 0.12.4), and its reported
//! prompt tokens are compared with the sent bytes, for servers that ignore these options.

mod request;

pub(super) use request::call;

use super::assembly::ChatAssembly;
use super::calls::CallPiece;
use super::chunk::{is_blank, text};
use super::compat::AnswerCompat;
use super::error::from_chunk;
use super::letters::unreadable;
use crate::error::protocol;
use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_http::provider::stable_hash;
use windlass_http::provider::{Secrets, Vendor};
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, Usage, WholeNumber};

/// Default context size, in tokens. The system prompt, the tools and some files of an agent fit, and so does the
/// required memory on most machines.
pub(super) const CONTEXT_SIZE: u32 = 32_768;

/// Size of the sent prompt, to compare with the tokens that the server has read.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentPrompt {
    /// Bytes of text in messages and tools.
    pub(super) bytes: u64,
    /// Requested context size, in tokens.
    pub(super) context_size: u32,
}

/// Reader of the lines of one answer.
#[derive(Debug)]
pub(super) struct OllamaReader {
    pub(super) vendor: Vendor,
    pub(super) secrets: Secrets,
    pub(super) answer: AnswerCompat,
    pub(super) model: String,
    pub(super) sent: SentPrompt,
}

#[derive(Deserialize)]
struct OllamaLine<'a> {
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<OllamaMessage<'a>>,
    #[serde(default)]
    done: Option<bool>,
    #[serde(borrow, default)]
    done_reason: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    prompt_eval_count: Option<u64>,
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    eval_count: Option<u64>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OllamaMessage<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<OllamaCall<'a>>>,
}

/// Call, which comes whole. Its index is not read: it was zero for all calls for a long time.
#[derive(Deserialize)]
struct OllamaCall<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    function: OllamaFunction<'a>,
}

#[derive(Deserialize)]
struct OllamaFunction<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl OllamaReader {
    /// Reads a line. `true` for the last one.
    ///
    /// # Errors
    /// Fails if the line is an error of the server, is unreadable, or shows that the server has cut the prompt.
    pub(super) fn read(&self, data: &str, assembly: &mut ChatAssembly) -> Result<bool, ModelError> {
        let unreadable = |error: serde_json::Error| {
            protocol("a line cannot be read").with_source(std::io::Error::other(error.to_string()))
        };
        let line: OllamaLine<'_> = serde_json::from_str(data).map_err(unreadable)?;
        if line.error.is_some_and(|error| error.get() != "null") {
            return Err(from_chunk(&self.vendor, data, &self.secrets));
        }
        if !assembly.is_started() {
            let id = format!("ollama-{:016x}", stable_hash(data.as_bytes()) as u64);
            assembly.start(id, text(line.model).unwrap_or_else(|| self.model.clone()));
        }
        if let Some(message) = &line.message {
            add(message, assembly)?;
        }
        if line.done != Some(true) {
            return Ok(false);
        }
        let read = line.prompt_eval_count.unwrap_or_default();
        self.check_read(read)?;
        assembly.usage(Usage::new(read, line.eval_count.unwrap_or_default()));
        assembly.finish(text(line.done_reason).as_deref().unwrap_or("stop"), &self.answer);
        Ok(true)
    }

    /// Fails if the server cannot have read the whole prompt. A server that reports no figure had all of it cached.
    fn check_read(&self, read: u64) -> Result<(), ModelError> {
        let SentPrompt { bytes, context_size } = self.sent;
        let size = u64::from(context_size);
        // A token is about four bytes of prose or code, and almost never eight on average. For a prompt that is too
        // large by the first figure, a lower bound is sure enough.
        let bytes_per_token = if bytes / 4 > size { 5 } else { 8 };
        let is_cut = read > 0 && (read < bytes / bytes_per_token || read >= size);
        if !is_cut {
            return Ok(());
        }
        let estimate = bytes / 4;
        Err(ModelError::new(
            ModelErrorKind::PromptTooLong,
            format!(
                "Ollama has cut the prompt: it read {read} tokens of about {estimate}, with a context of {context_size}. Raise the \
                 context size (OLLAMA_CONTEXT_LENGTH) as far as the model and the memory allow"
            ),
        ))
    }
}

fn add(message: &OllamaMessage<'_>, assembly: &mut ChatAssembly) -> Result<(), ModelError> {
    if let Some(thinking) = text(message.thinking) {
        assembly.reasoning("thinking", thinking);
    }
    if !is_blank(message.content) {
        assembly.text(text(message.content).ok_or_else(|| unreadable("content"))?);
    }
    for call in message.tool_calls.iter().flatten() {
        let id = text(call.id);
        assembly.call(CallPiece {
            id: id.as_deref(),
            name: text(call.function.name),
            arguments: call.function.arguments.map(|arguments| arguments.get().to_owned()),
            ..CallPiece::default()
        })?;
    }
    Ok(())
}

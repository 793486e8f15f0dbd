//! Reader of chunks of Chat Completions into the assembly of a message.

use super::assembly::ChatAssembly;
use super::calls::CallPiece;
use super::chunk::{ChatChunk, ChunkCall, ChunkChoice, ChunkDelta, is_blank, parts, text};
use super::compat::{AnswerCompat, ReasoningField};
use super::details;
use super::error::from_chunk;
use super::letters::{PendingHalf, unreadable};
use super::template::{LetterTarget, Template};
use super::usage::ChatUsage;
use crate::error::protocol;
use serde_json::value::RawValue;
use windlass_http::provider::stable_hash;
use windlass_http::provider::{Secrets, Vendor};
use windlass_model::ModelError;
use windlass_types::JsonText;

/// Number of chunks of changing form after which no more forms are kept.
const MAX_MISSES: u32 = 64;

/// Reader of the chunks of one answer.
#[derive(Debug)]
pub(super) struct ChunkReader {
    pub(super) vendor: Vendor,
    pub(super) secrets: Secrets,
    pub(super) answer: AnswerCompat,
    pub(super) fields: Vec<ReasoningField>,
    /// Model of the request, for servers that do not name it.
    pub(super) model: String,
    pub(super) template: Option<Template>,
    pub(super) misses: u32,
    pub(super) half: PendingHalf,
}

impl ChunkReader {
    /// Reads the data of one event.
    ///
    /// # Errors
    /// Fails if the event is an error of the server, or is unreadable.
    pub(super) fn read(&mut self, data: &str, assembly: &mut ChatAssembly) -> Result<(), ModelError> {
        let form = self.template.as_ref().filter(|_| !self.half.is_pending());
        if let Some((template, letters)) = form.and_then(|form| Some((form, form.letters(data)?))) {
            self.misses = 0;
            return add(&template.place, letters, assembly);
        }
        // A list would be read as the members of a chunk.
        if !data.trim_start().starts_with('{') {
            return Err(protocol("a chunk is not an object"));
        }
        let chunk: ChatChunk<'_> = serde_json::from_str(data).map_err(|error| {
            protocol("a chunk cannot be read").with_source(std::io::Error::other(error.to_string()))
        })?;
        self.check_error(&chunk, data)?;
        self.start(&chunk, data, assembly);
        self.usage(&chunk, assembly);
        for choice in chunk.choices.iter().flatten().filter(|choice| choice.is_first()) {
            self.choice(choice, assembly)?;
        }
        if self.misses < MAX_MISSES {
            self.misses += 1;
            self.template = Template::of(data, &chunk, &self.fields).or(self.template.take());
        }
        Ok(())
    }

    fn check_error(&self, chunk: &ChatChunk<'_>, data: &str) -> Result<(), ModelError> {
        let is_error = |error: &Option<&RawValue>| error.is_some_and(|error| !matches!(error.get(), "null" | "\"\""));
        let groq = chunk.x_groq.as_ref().and_then(|groq| groq.error).map(RawValue::get);
        // vLLM and Mistral write the members of an error in place of a chunk.
        if is_error(&chunk.error) || text(chunk.object).is_some_and(|object| object == "error") {
            return Err(from_chunk(&self.vendor, data, &self.secrets));
        }
        if let Some(error) = groq.filter(|error| *error != "null") {
            return Err(from_chunk(&self.vendor, error, &self.secrets));
        }
        let choice = chunk.choices.iter().flatten().find(|choice| is_error(&choice.error));
        match choice.and_then(|choice| choice.error) {
            Some(error) => Err(from_chunk(&self.vendor, error.get(), &self.secrets)),
            None => Ok(()),
        }
    }

    fn start(&self, chunk: &ChatChunk<'_>, data: &str, assembly: &mut ChatAssembly) {
        // Azure begins with a chunk that has neither a choice nor a model.
        let says_something = chunk.choices.as_ref().is_some_and(|choices| !choices.is_empty());
        if assembly.is_started() || !says_something {
            return;
        }
        let made_up = || format!("chatcmpl-{:016x}", stable_hash(data.as_bytes()) as u64);
        let id = text(chunk.id).unwrap_or_else(made_up);
        assembly.start(id, text(chunk.model).unwrap_or_else(|| self.model.clone()));
    }

    fn usage(&self, chunk: &ChatChunk<'_>, assembly: &mut ChatAssembly) {
        let of_choices = chunk.choices.iter().flatten().filter_map(|choice| choice.usage);
        let all = of_choices.chain(chunk.x_groq.as_ref().and_then(|groq| groq.usage)).chain(chunk.usage);
        for usage in all {
            // An unreadable usage does not end a readable answer.
            if let Ok(usage) = ChatUsage::read(usage.get()) {
                let mut normal = usage.normal(self.answer.reasoning_beside_output);
                normal.reported_cost = usage.reported_cost(self.answer.reported_cost);
                assembly.usage(normal);
            }
        }
    }

    fn choice(&mut self, choice: &ChunkChoice<'_>, assembly: &mut ChatAssembly) -> Result<(), ModelError> {
        if let Some(delta) = &choice.delta {
            self.reasoning(delta, assembly)?;
            self.content(delta, assembly)?;
            if let Some(refusal) = text(delta.refusal) {
                assembly.refusal(refusal);
            }
            for piece in delta.tool_calls.iter().flatten() {
                self.call(piece, assembly)?;
            }
        }
        if !is_blank(choice.finish_reason) {
            let reason = text(choice.finish_reason).ok_or_else(|| unreadable("finish reason"))?;
            self.end(assembly)?;
            assembly.finish(&reason, &self.answer);
        }
        Ok(())
    }

    /// Completes a text that ended in the middle of a character.
    ///
    /// # Errors
    /// Fails if the text is the arguments of a call.
    pub(super) fn end(&mut self, assembly: &mut ChatAssembly) -> Result<(), ModelError> {
        match self.half.abandon()? {
            Some(place) => add(&place, char::REPLACEMENT_CHARACTER.to_string(), assembly),
            None => Ok(()),
        }
    }

    /// Returns the text of a member, joined with a character that the text before it began.
    fn letters(
        &mut self,
        place: &LetterTarget,
        json: &RawValue,
        assembly: &mut ChatAssembly,
    ) -> Result<String, ModelError> {
        if !self.half.continues(place) {
            self.end(assembly)?;
        }
        self.half.decode(place, json)
    }

    fn reasoning(&mut self, delta: &ChunkDelta<'_>, assembly: &mut ChatAssembly) -> Result<(), ModelError> {
        let flat = self.fields.iter().find_map(|field| {
            let member = match field {
                ReasoningField::ReasoningContent => delta.reasoning_content,
                ReasoningField::Reasoning => delta.reasoning,
                ReasoningField::ReasoningText => delta.reasoning_text,
            };
            Some((*field, member.filter(|json| json.get().starts_with('"') && json.get() != "\"\"")?))
        });
        let is_shown = flat.is_some();
        if let Some((field, json)) = flat {
            let text = self.letters(&LetterTarget::Reasoning(field), json, assembly)?;
            assembly.reasoning(field.name(), text);
        }
        let details = delta.reasoning_details.filter(|details| details.get().starts_with('[') && details.get() != "[]");
        if let Some(details) = details {
            assembly.details(&details::DetailDelta::read(details), is_shown);
        }
        Ok(())
    }

    /// Reads the content of a delta: a string, or parts.
    fn content(&mut self, delta: &ChunkDelta<'_>, assembly: &mut ChatAssembly) -> Result<(), ModelError> {
        let Some(json) = delta.content.filter(|json| !is_blank(Some(json))) else { return Ok(()) };
        if json.get().starts_with('"') {
            let letters = self.letters(&LetterTarget::Content, json, assembly)?;
            if !letters.is_empty() {
                assembly.text(letters);
            }
            return Ok(());
        }
        for part in parts(json).ok_or_else(|| unreadable("content"))? {
            match &*part.kind {
                "thinking" | "reasoning" => {
                    let all = self.thinking(part.thinking.or(part.text), assembly)?;
                    if !all.is_empty() {
                        assembly.reasoning(PART, all);
                    }
                }
                _ => {
                    if let Some(json) = part.text.filter(|json| !is_blank(Some(json))) {
                        let letters = self.letters(&LetterTarget::Content, json, assembly)?;
                        assembly.text(letters);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the text of a part that holds reasoning: a string, or parts with texts.
    fn thinking(&mut self, json: Option<&RawValue>, assembly: &mut ChatAssembly) -> Result<String, ModelError> {
        let Some(json) = json.filter(|json| !is_blank(Some(json))) else { return Ok(String::new()) };
        match parts(json) {
            Some(parts) => Ok(parts.iter().filter_map(|part| text(part.text)).collect()),
            None => self.letters(&LetterTarget::Reasoning(ReasoningField::ReasoningContent), json, assembly),
        }
    }

    fn call(&mut self, piece: &ChunkCall<'_>, assembly: &mut ChatAssembly) -> Result<(), ModelError> {
        let function = piece.function.as_ref();
        let index = piece.index().map_err(|_| unreadable("index of a call"))?;
        let id = text(piece.id);
        let json = function.and_then(|function| function.arguments).filter(|json| !is_blank(Some(json)));
        let arguments = match json {
            // A server that does not stream them writes the arguments as an object.
            Some(object) if object.get().starts_with('{') => Some(object.get().to_owned()),
            Some(json) => Some(self.letters(&LetterTarget::Arguments { index, id: id.clone() }, json, assembly)?),
            None => None,
        };
        let name = function.and_then(|function| function.name).filter(|json| !is_blank(Some(json)));
        let extra = piece.extra_content.filter(|extra| extra.get() != "null");
        assembly.call(CallPiece {
            index,
            id: id.as_deref(),
            name: name.map(|name| text(Some(name)).ok_or_else(|| unreadable("name of a call"))).transpose()?,
            arguments,
            extra: extra.map(|extra| JsonText::from(extra.to_owned())),
        })
    }
}

/// Adds the letters of a chunk that had the form of an earlier one.
fn add(place: &LetterTarget, letters: String, assembly: &mut ChatAssembly) -> Result<(), ModelError> {
    if letters.is_empty() {
        return Ok(());
    }
    match place {
        LetterTarget::Content => assembly.text(letters),
        LetterTarget::Reasoning(field) => assembly.reasoning(field.name(), letters),
        LetterTarget::Arguments { index, id } => {
            let piece =
                CallPiece { index: *index, id: id.as_deref(), arguments: Some(letters), ..CallPiece::default() };
            return assembly.call(piece);
        }
    }
    Ok(())
}

/// Stands in for the name of a member if reasoning came as a part of the content.
pub(super) const PART: &str = "thinking";

//! Form of requests for an endpoint, and the parts of it that the endpoint has refused.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_http::provider::stable_hash;
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, ModelRequest, ToolSpec};

use crate::platform::{Platform, PlatformMethod};

/// Maximum number of tools and betas that are remembered. A program has a few; a server that always refuses new ones
/// must not fill the memory.
const MAX_REMEMBERED: usize = 4096;

/// Form of one request.
#[derive(Debug, Clone)]
pub(crate) struct MessagesForm {
    /// `true` if the request has the members of models that bind reasoning to everything before it: the treatment of
    /// unbound reasoning, and tools between messages.
    pub(crate) controls: bool,
    /// Version of the API, if it belongs into the body.
    pub(crate) version: Option<&'static str>,
    /// `true` if the body of a call names the model.
    pub(crate) model: bool,
    /// Betas, as listed in the header.
    pub(crate) betas: Vec<String>,
    /// Tools whose strictness was refused.
    pub(crate) loose: HashSet<u128>,
}

impl Default for MessagesForm {
    fn default() -> Self {
        Self { controls: false, version: None, model: true, betas: Vec::new(), loose: HashSet::new() }
    }
}

impl MessagesForm {
    /// `true` if a strict tool is sent without strictness.
    pub(crate) fn is_loose(&self, tool: &ToolSpec) -> bool {
        !self.loose.is_empty() && self.loose.contains(&fingerprint(tool))
    }
}

fn fingerprint(tool: &ToolSpec) -> u128 {
    stable_hash([tool.name.as_bytes(), b"\n", tool.input_schema.as_str().as_bytes()].concat().as_slice())
}

/// Parts that an endpoint has refused. They are not sent there again, so that requests keep their beginning, and with
/// it the prompt cache.
#[derive(Debug, Default)]
pub(crate) struct RefusedFields(Mutex<AcceptedFields>);

#[derive(Debug, Default)]
struct AcceptedFields {
    /// `true` if the endpoint is a gateway that does not know the controls of newer models.
    controls: bool,
    loose: HashSet<u128>,
    betas: HashSet<(PlatformMethod, String)>,
}

impl RefusedFields {
    fn known(&self) -> MutexGuard<'_, AcceptedFields> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn controls(&self) -> bool {
        self.known().controls
    }

    /// Removes the refused parts from a form.
    pub(crate) fn reduce(&self, form: &mut MessagesForm, method: PlatformMethod) {
        let known = self.known();
        form.loose.clone_from(&known.loose);
        if !known.betas.is_empty() {
            form.betas.retain(|beta| !known.betas.contains(&(method, beta.clone())));
        }
    }

    /// `true` if an error is about a part that the request can do without. The part is remembered then, and the request
    /// must be written anew. A part that a form no longer has is not conceded again, so the retries end.
    pub(crate) fn concede(
        &self,
        sent: &MessagesForm,
        method: PlatformMethod,
        request: &ModelRequest,
        error: &ModelError,
        platform: &Platform,
    ) -> bool {
        if error.kind != ModelErrorKind::InvalidRequest {
            return false;
        }
        let mut known = self.known();
        if sent.controls && is_about_controls(&error.message) {
            known.controls = true;
            return true;
        }
        if is_about_strictness(&error.message) {
            let added = request.added_tools.iter().flat_map(|added| &added.tools);
            let strict = request.tools.iter().chain(added).filter(|tool| tool.strict).map(|tool| fingerprint(tool));
            let refused: Vec<_> = strict.filter(|tool| !sent.loose.contains(tool)).collect();
            if known.loose.len().saturating_add(refused.len()) <= MAX_REMEMBERED {
                known.loose.extend(&refused);
                return !refused.is_empty();
            }
        }
        if !platform.knows_fewer_betas() {
            return false;
        }
        let refused = refused_betas(&error.message, &sent.betas);
        let is_any = !refused.is_empty() && known.betas.len().saturating_add(refused.len()) <= MAX_REMEMBERED;
        if is_any {
            known.betas.extend(refused.into_iter().map(|beta| (method, beta)));
        }
        is_any
    }
}

fn is_about_controls(text: &str) -> bool {
    const NAMES: [&str; 5] =
        ["block_binding", "thinking-binding-controls", "tool_addition", "inline-tools", "role 'system'"];
    NAMES.iter().any(|name| text.contains(name))
}

/// `true` for a refusal of strict tools: the API compiles their schemas, and refuses those that are too large or cannot
/// be compiled.
fn is_about_strictness(text: &str) -> bool {
    const TEXTS: [&str; 5] = [
        "compiled grammar is too large",
        "Too many strict tools",
        "too many parameters with union types",
        "too many optional parameters",
        "Schema is too complex",
    ];
    TEXTS.iter().any(|part| text.contains(part)) || (text.contains("input_schema") && text.contains("not supported"))
}

/// Returns the betas that a text refuses. A text that names none refuses all of them.
fn refused_betas(text: &str, sent: &[String]) -> Vec<String> {
    if text.contains("anthropic-beta") {
        return sent.iter().filter(|beta| text.contains(&format!("`{beta}`"))).cloned().collect();
    }
    if text.contains("invalid beta flag") { sent.to_vec() } else { Vec::new() }
}

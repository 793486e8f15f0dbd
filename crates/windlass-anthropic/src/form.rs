//! How requests are written for an endpoint, and what of it the endpoint has refused.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_http::provider::stable_hash;
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, ModelRequest, ToolSpec};

use crate::platform::{Method, Platform};

/// The most tools and betas that are remembered. A program has a few; a server that refuses ever new ones must not fill the
/// memory.
const MAX_REMEMBERED: usize = 4096;

/// How one request is written.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// With what models take that bind reasoning to all before it: the choice of what happens to such reasoning, and tools
    /// between messages.
    pub(crate) controls: bool,
    /// The version of the API, where it belongs into the body.
    pub(crate) version: Option<&'static str>,
    /// Whether the body of a call names the model.
    pub(crate) model: bool,
    /// The betas, as the header lists them.
    pub(crate) betas: Vec<String>,
    /// Tools whose strictness was refused.
    pub(crate) loose: HashSet<u128>,
}

impl Default for Form {
    fn default() -> Self {
        Self { controls: false, version: None, model: true, betas: Vec::new(), loose: HashSet::new() }
    }
}

impl Form {
    /// Whether a tool that asks for strictness is sent without.
    pub(crate) fn is_loose(&self, tool: &ToolSpec) -> bool {
        !self.loose.is_empty() && self.loose.contains(&fingerprint(tool))
    }
}

fn fingerprint(tool: &ToolSpec) -> u128 {
    stable_hash([tool.name.as_bytes(), b"\n", tool.input_schema.as_str().as_bytes()].concat().as_slice())
}

/// What an endpoint has refused. It is not sent there again, so that requests keep their beginning, and with it the
/// prompt cache.
#[derive(Debug, Default)]
pub(crate) struct Refused(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Some gateways do not know the controls of newer models.
    controls: bool,
    loose: HashSet<u128>,
    betas: HashSet<(Method, String)>,
}

impl Refused {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn controls(&self) -> bool {
        self.known().controls
    }

    /// Takes out of a form what was refused.
    pub(crate) fn reduce(&self, form: &mut Form, method: Method) {
        let known = self.known();
        form.loose.clone_from(&known.loose);
        if !known.betas.is_empty() {
            form.betas.retain(|beta| !known.betas.contains(&(method, beta.clone())));
        }
    }

    /// Whether an error is about something that the request can do without. It is remembered then, and the request shall be
    /// written anew. What a form no longer has is not conceded again, so this ends.
    pub(crate) fn concede(
        &self,
        sent: &Form,
        method: Method,
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

/// The API compiles the schemas of strict tools, and refuses what is too much for that, and what it cannot compile.
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

/// The betas that a text refuses. One that names none is about all of them.
fn refused_betas(text: &str, sent: &[String]) -> Vec<String> {
    if text.contains("anthropic-beta") {
        return sent.iter().filter(|beta| text.contains(&format!("`{beta}`"))).cloned().collect();
    }
    if text.contains("invalid beta flag") { sent.to_vec() } else { Vec::new() }
}

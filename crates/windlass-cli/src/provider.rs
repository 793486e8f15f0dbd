//! The model provider of a run.

use crate::args::RunArgs;
use crate::files::recorded;
use anyhow::Context;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use windlass::project::LoadedProject;
use windlass::provider::{Endpoint, StoredKeys, from_lookup};
use windlass::testing::Scrub;
use windlass::{
    ModelProvider, Script, ScriptedModel,
    testing::{Recorder, Replayer},
};

/// A scripted model for tests of the command itself.
const SCRIPT: &str = "WINDLASS_SCRIPT";

/// Source of a stored key, as hosts know it.
const STORED_KEY: &str = "/login managed key";

/// Variables with keys, beside those of endpoints that are known by name.
const KEYS: [&str; 9] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_OPENAI_AD_TOKEN",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENAI_API_KEY",
];

/// The model provider of a run.
pub(crate) struct Provider {
    pub(crate) model: Arc<dyn ModelProvider>,
    /// Source of the key, for hosts.
    pub(crate) key_source: &'static str,
    cassette: Option<Arc<Recorder<Arc<dyn ModelProvider>>>>,
}

impl Provider {
    /// Returns the provider that the command line and the variables of a project name.
    pub(crate) fn choose(args: &RunArgs, project: &LoadedProject) -> anyhow::Result<Self> {
        let known = project.clone();
        let lookup: Lookup = Arc::new(move |name| known.variable(name));
        let (model, key_source): (Arc<dyn ModelProvider>, _) = if let Some(path) = &args.session.cassette.replay {
            (Arc::new(replay(path)?), "none")
        } else {
            let helped = project.resolved().session.api_key_helper.is_some();
            let key_source = match key_source(&lookup) {
                _ if script().is_some() => "none",
                "none" if helped => "apiKeyHelper",
                "none" if has_stored(project) => STORED_KEY,
                variable => variable,
            };
            (of_project(project)?, key_source)
        };
        let Some(path) = &args.session.cassette.record else { return Ok(Self { model, key_source, cassette: None }) };
        let file = File::create(path).with_context(|| format!("the cassette {} cannot be written", path.display()))?;
        let recorder = Recorder::start(model, BufWriter::new(file), scrub())
            .with_context(|| format!("the cassette {} cannot be written", path.display()))?;
        let recorder = Arc::new(recorder);
        Ok(Self { model: Arc::clone(&recorder) as Arc<dyn ModelProvider>, key_source, cassette: Some(recorder) })
    }

    /// Completes the cassette, if one is written.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        match &self.cassette {
            Some(recorder) => recorder.finish().context("the cassette was not written completely"),
            None => Ok(()),
        }
    }
}

/// Source of the variables of providers.
pub(crate) type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Returns the provider that the variables of a project name.
fn of_project(project: &LoadedProject) -> anyhow::Result<Arc<dyn ModelProvider>> {
    match script() {
        Some(path) => Ok(Arc::new(scripted(Path::new(&path))?)),
        None => Ok(Arc::new(project.provider())),
    }
}

/// Returns the provider that the environment names.
pub(crate) fn of_environment(lookup: &Lookup) -> anyhow::Result<Arc<dyn ModelProvider>> {
    match script() {
        Some(path) => Ok(Arc::new(scripted(Path::new(&path))?)),
        None => Ok(providers(lookup)),
    }
}

/// Returns all providers, each set up when a model of it is named.
pub(crate) fn providers(lookup: &Lookup) -> Arc<dyn ModelProvider> {
    let lookup = Arc::clone(lookup);
    Arc::new(from_lookup(move |name| lookup(name)))
}

/// Returns the source of Anthropic's key, as hosts name it; `none` if only other vendors may be set up.
fn key_source(lookup: &Lookup) -> &'static str {
    let set = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
    let names = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"];
    names.into_iter().find(|name| set(name)).unwrap_or("none")
}

/// Returns `true` if a key of the Anthropic API is stored.
fn has_stored(project: &LoadedProject) -> bool {
    project.stored_keys().is_some_and(|keys| keys.variable("ANTHROPIC_API_KEY", |_| None).is_some())
}

/// Returns a variable of this process, else the stored key of the same vendor.
pub(crate) fn own_variable(name: &str) -> Option<String> {
    let own = |name: &str| std::env::var(name).ok();
    StoredKeys::from_lookup(own).map_or_else(|| own(name), |keys| keys.variable(name, own))
}

/// Path of the script that answers instead of a model. An empty variable names none.
fn script() -> Option<OsString> {
    std::env::var_os(SCRIPT).filter(|path| !path.is_empty())
}

fn scripted(path: &Path) -> anyhow::Result<ScriptedModel> {
    let text = recorded(path).with_context(|| format!("the script {} cannot be read", path.display()))?;
    let script = Script::from_json(&text).with_context(|| path.display().to_string())?;
    Ok(ScriptedModel::new(script).without_recording())
}

fn replay(path: &Path) -> anyhow::Result<Replayer> {
    let text = recorded(path).with_context(|| format!("the cassette {} cannot be read", path.display()))?;
    Replayer::load(text.as_bytes(), scrub()).with_context(|| path.display().to_string())
}

/// Returns the scrubber for values that differ between machines, and values that must not be recorded.
fn scrub() -> Scrub {
    let mut scrub = Scrub::new();
    let endpoints = Endpoint::preset_names().filter_map(Endpoint::preset);
    let of_endpoints = endpoints.flat_map(|endpoint| endpoint.key_variables.into_owned());
    for name in KEYS.into_iter().map(Cow::Borrowed).chain(of_endpoints) {
        if let Some(secret) = own_variable(&name) {
            scrub = scrub.secret(&name, &secret);
        }
    }
    if let Ok(cwd) = std::env::current_dir().and_then(|cwd| cwd.canonicalize()) {
        scrub = scrub.place("CWD", &cwd.to_string_lossy());
    }
    if let Ok(home) = std::env::var("HOME") {
        scrub = scrub.place("HOME", &home);
    }
    scrub
}

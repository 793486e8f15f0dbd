//! The model provider of a run.

use crate::args::RunArgs;
use crate::failure::of_start;
use crate::files::recorded;
use anyhow::Context;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use windlass::crates::model::Scrub;
use windlass::{Anthropic, ModelProvider, Recorder, Replayer, Script, ScriptedModel};

/// A scripted model for tests of the command itself.
const SCRIPT: &str = "WINDLASS_SCRIPT";

/// The model provider of a run.
pub(crate) struct Provider {
    pub(crate) model: Arc<dyn ModelProvider>,
    /// Where its key came from, for hosts.
    pub(crate) key_source: &'static str,
    cassette: Option<Arc<Recorder<Arc<dyn ModelProvider>>>>,
}

impl Provider {
    /// The provider that the command line and the environment, as `lookup` knows it, name.
    pub(crate) fn choose(args: &RunArgs, lookup: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let (model, key_source): (Arc<dyn ModelProvider>, _) = if let Some(path) = &args.session.cassette.replay {
            (Arc::new(replay(path)?), "none")
        } else if let Some(path) = std::env::var_os(SCRIPT) {
            (Arc::new(scripted(Path::new(&path))?), "none")
        } else {
            anthropic(lookup)?
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

/// The Anthropic API, set up from environment variables.
pub(crate) fn anthropic(
    lookup: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<(Arc<dyn ModelProvider>, &'static str)> {
    let provider = Anthropic::from_lookup(lookup).map_err(|error| {
        let text = of_start(error.into());
        if lookup("ANTHROPIC_API_KEY").is_none() {
            anyhow::anyhow!("{text}; `windlass demo` shows an agent at work without a key")
        } else {
            text
        }
    })?;
    let set = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
    let source = if set("ANTHROPIC_AUTH_TOKEN") { "ANTHROPIC_AUTH_TOKEN" } else { "ANTHROPIC_API_KEY" };
    Ok((Arc::new(provider), source))
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

/// What differs between machines, and what must not be recorded.
fn scrub() -> Scrub {
    let mut scrub = Scrub::new();
    for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] {
        if let Ok(secret) = std::env::var(name) {
            scrub = scrub.secret(name, &secret);
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

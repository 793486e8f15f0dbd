//! The list of known models.

pub(crate) mod local;
mod shown;

use crate::args::{ModelsArgs, SettingsArgs};
use crate::failure::{Usage, of_project};
use crate::jsonl;
use crate::launch;
use crate::settings::current_directory;
use crate::terminal::clean_line;
use std::collections::BTreeMap;
use std::io::{Write, stderr, stdout};
use std::sync::Arc;
use windlass::ModelProvider;
use windlass::project::LoadedProject;
use windlass::provider::{KnownModel, Overridden, Router, from_lookup};
use windlass::text::nearest;

/// Maximum number of suggested names.
const MAX_SUGGESTIONS: usize = 3;

/// Prints the matching models, and returns the exit code. No provider is set up, so no key is needed.
pub(crate) async fn print(args: &ModelsArgs) -> anyhow::Result<i32> {
    let project = project(&args.settings)?;
    let variables = project.clone();
    let router = from_lookup(move |name| variables.variable(name));
    if let Some(provider) = args.provider.as_deref() {
        check_provider(&router, provider)?;
    }
    let overrides = project.model_overrides();
    let described = Overridden::new(Arc::new(router.clone()), overrides.clone());
    let mut models = described.known_models();
    if let Some(provider) = args.provider.as_deref() {
        models.retain(|known| provider_of(known) == provider);
        if models.is_empty() && !local::is_asked(provider) {
            // The names of a cloud's models depend on its configuration.
            if let Err(problem) = router.ready(&format!("{provider}/default")) {
                writeln!(stderr(), "windlass: {provider} is not set up: {}", clean_line(&problem.to_string()))?;
                return Ok(0);
            }
            models = described.known_models();
            models.retain(|known| provider_of(known) == provider);
        }
        if local::is_asked(provider) {
            match local::models(provider, &project).await {
                Ok(found) => models.extend(found),
                Err(problem) => writeln!(stderr(), "windlass: {}", clean_line(&problem.to_string()))?,
            }
        }
    }
    let all = models.clone();
    if let Some(pattern) = args.pattern.as_deref() {
        models.retain(|known| fits(known, pattern));
        if models.is_empty() {
            return Err(unknown(pattern, &all).into());
        }
    }
    let mut out = stdout().lock();
    if args.json {
        for known in &models {
            jsonl::write(&mut out, &shown::json(known))?;
        }
    } else {
        write!(out, "{}", shown::table(&models))?;
    }
    if let Some(name) = unlisted(&router, args, &all) {
        writeln!(stderr(), "windlass: the models of {name} are those of its server; no table has them")?;
    }
    Ok(0)
}

/// Returns the listed models whose provider can be called here.
pub(crate) fn callable(project: &LoadedProject) -> Vec<KnownModel> {
    let (router, mut models) = listed(project);
    models.retain(|known| router.ready(&known.id).is_ok());
    models
}

/// Checks that a model is known, or that its provider may have unlisted models.
///
/// # Errors
/// No model has the name; the error lists similar names.
pub(crate) fn check(project: &LoadedProject, name: &str) -> Result<(), Usage> {
    let (router, models) = listed(project);
    let bare = |known: &str| known.split_once('/').is_some_and(|(_, rest)| rest == name);
    let is_named =
        |known: &KnownModel| [&known.id].into_iter().chain(&known.aliases).any(|known| known == name || bare(known));
    let provider = name.split_once('/').map(|(provider, _)| provider);
    let is_unlisted = provider.is_some_and(|provider| {
        router.prefixes().any(|prefix| prefix == provider) && !models.iter().any(|known| provider_of(known) == provider)
    });
    if name == "default" || is_unlisted || models.iter().any(is_named) { Ok(()) } else { Err(unknown(name, &models)) }
}

/// Returns the figures of a model in a few words.
pub(crate) fn figures(known: &KnownModel) -> String {
    shown::figures(known)
}

fn listed(project: &LoadedProject) -> (Router, Vec<KnownModel>) {
    let variables = project.clone();
    let router = from_lookup(move |name| variables.variable(name));
    let described = Overridden::new(Arc::new(router.clone()), project.model_overrides());
    let models = described.known_models();
    (router, models)
}

fn project(args: &SettingsArgs) -> anyhow::Result<LoadedProject> {
    launch::project(args, &current_directory()?)?.review().map_err(of_project)
}

fn check_provider(router: &Router, provider: &str) -> Result<(), Usage> {
    if router.prefixes().any(|prefix| prefix == provider) {
        return Ok(());
    }
    let similar = nearest(provider, router.prefixes());
    let suggestion = match similar.first() {
        Some(similar) => format!("did you mean {similar:?}?"),
        None => format!("there are {}", router.prefixes().collect::<Vec<_>>().join(", ")),
    };
    Err(Usage(format!("there is no provider {provider:?}: {suggestion}")))
}

/// The provider of a listed model.
fn provider_of(known: &KnownModel) -> &str {
    known.id.split_once('/').map_or("", |(provider, _)| provider)
}

/// Returns `true` if a model matches: its name contains the pattern, or one of its aliases is the pattern.
fn fits(known: &KnownModel, pattern: &str) -> bool {
    let pattern = pattern.trim().to_ascii_lowercase();
    let bare = |name: &str| name.split_once('/').map_or("", |(_, rest)| rest).eq_ignore_ascii_case(&pattern);
    known.id.to_ascii_lowercase().contains(&pattern)
        || known.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&pattern) || bare(alias))
}

fn unknown(pattern: &str, models: &[KnownModel]) -> Usage {
    // A name may be given with its provider or without.
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for known in models {
        for name in known.aliases.iter().map(String::as_str).chain([known.id.as_str()]) {
            names.insert(name, name);
            if let Some((_, bare)) = name.split_once('/') {
                names.entry(bare).or_insert(name);
            }
        }
    }
    let near = nearest(pattern.trim(), names.keys().copied());
    let meant: Vec<String> =
        near.iter().take(MAX_SUGGESTIONS).filter_map(|name| names.get(name)).map(|name| format!("{name:?}")).collect();
    let hint = if meant.is_empty() {
        "`windlass models` lists those that are known; others may be used by their names".to_owned()
    } else {
        format!("did you mean {}?", meant.join(" or "))
    };
    Usage(format!("no known model is named {pattern:?}: {hint}"))
}

/// Returns the requested provider, if no table lists models of it.
fn unlisted<'a>(router: &Router, args: &'a ModelsArgs, listed: &[KnownModel]) -> Option<&'a str> {
    let provider = args.provider.as_deref()?;
    let is_known = router.prefixes().any(|prefix| prefix == provider);
    (is_known && listed.is_empty() && !local::is_asked(provider)).then_some(provider)
}

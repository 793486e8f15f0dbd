//! The key of the model provider, and the way to it.

use super::check::Check;
use crate::args::RunArgs;
use crate::failure::of_start;
use crate::launch::{self, Driver};
use crate::provider::Provider;
use std::time::{Duration, Instant};
use windlass::ModelProvider as _;
use windlass::project::Agents;
use windlass::project::LoadedProject;
use windlass::provider::{Endpoint, HttpOptions, HttpRequest, HttpTransport as _, NetworkTransport, StoredKeys};

/// Time limit for an answer of the provider.
const LIMIT: Duration = Duration::from_secs(5);

/// Key of the model of sessions here, and the answer of its provider.
pub(super) async fn checks(project: &LoadedProject, offline: bool) -> Vec<Check> {
    let chosen = match model(project) {
        Ok(chosen) => chosen,
        Err(error) => return vec![Check::broken("model", format!("{error:#}"))],
    };
    let mut checks = vec![key(project, &chosen)];
    if std::env::var_os("WINDLASS_SCRIPT").is_some() {
        checks.push(Check::notice("network", "not checked: WINDLASS_SCRIPT answers instead of a model"));
    } else if offline {
        checks.push(Check::ok("network", "not checked (--offline)"));
    } else {
        checks.push(network(project, vendor(&chosen.name)).await);
    }
    checks
}

/// Model of sessions here.
struct ChosenModel {
    provider: Provider,
    name: String,
}

fn model(project: &LoadedProject) -> anyhow::Result<ChosenModel> {
    let args = RunArgs::none()?;
    let provider = Provider::choose(&args, project)?;
    let builder = launch::options(&args, project, (Driver::Person, Agents::default()))?;
    let requested_model = builder.resolve().map_err(of_start)?.options().model().unwrap_or("default").to_owned();
    let name = provider.model.resolve_model(&requested_model);
    Ok(ChosenModel { provider, name })
}

/// Prefix of a model's name; that of Anthropic for names without one.
fn vendor(model: &str) -> &str {
    model.split_once('/').map_or("anthropic", |(vendor, _)| vendor)
}

fn key(project: &LoadedProject, chosen: &ChosenModel) -> Check {
    let (name, vendor) = (&chosen.name, vendor(&chosen.name));
    match chosen.provider.model.ready(name) {
        Ok(()) => Check::ok("model", format!("{name}, with {}", source(project, vendor))),
        Err(error) => {
            let text = format!("{name}: {error}");
            Check::broken("model", text).advice(format!("`windlass login {vendor}`, or --model with another one"))
        }
    }
}

/// Source of the key of a vendor. No key is shown.
fn source(project: &LoadedProject, vendor: &str) -> String {
    let is_set = |value: Option<String>| value.is_some_and(|value| !value.trim().is_empty());
    for name in StoredKeys::variables_of(vendor) {
        if is_set(project.variable(name)) {
            let location = if is_set(std::env::var(name).ok()) { "the environment" } else { "settings" };
            return format!("the key {name} of {location}");
        }
    }
    if vendor == "anthropic" && project.resolved().session.api_key_helper.is_some() {
        return "the key that apiKeyHelper prints (not started)".to_owned();
    }
    let stored = project.stored_keys().and_then(|keys| keys.vendors().ok()).unwrap_or_default();
    match stored.iter().any(|known| known == vendor) {
        true => "the stored key".to_owned(),
        false => "no key".to_owned(),
    }
}

/// Address of a vendor's API. `None` for clouds, whose addresses depend on the region.
fn address(project: &LoadedProject, vendor: &str) -> Option<String> {
    let endpoint = Endpoint::preset(vendor);
    let (variable, usual) = match (vendor, &endpoint) {
        ("anthropic", _) => ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
        ("gemini", _) => ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
        (_, Some(endpoint)) => (&*endpoint.base_url_variable, &*endpoint.base_url),
        _ => return None,
    };
    let given = project.variable(variable).filter(|url| url.contains("://"));
    Some(given.unwrap_or_else(|| usual.to_owned())).filter(|url| !url.is_empty())
}

/// Sends a request without a key. Any answer shows that the way is open.
async fn network(project: &LoadedProject, vendor: &str) -> Check {
    let Some(url) = address(project, vendor) else {
        return Check::ok("network", format!("not checked: the address of {vendor} depends on its region"));
    };
    let mut options = HttpOptions::default();
    options.look_up(&|name| project.variable(name));
    let route_note = if options.is_proxied(&url) { " through the proxy" } else { "" };
    let started = Instant::now();
    let transport = match NetworkTransport::new(&url, &options) {
        Ok(transport) => transport,
        Err(error) => return Check::broken("network", format!("{url}: {error}")),
    };
    let response = tokio::time::timeout(LIMIT, transport.send(HttpRequest::get(&url))).await;
    let advice = "look at HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE, or use --offline here";
    match response {
        Ok(Ok(_)) => {
            Check::ok("network", format!("{url} answers{route_note} after {} ms", started.elapsed().as_millis()))
        }
        Ok(Err(error)) => {
            Check::broken("network", format!("{url} cannot be reached{route_note}: {error}")).advice(advice)
        }
        Err(_) => {
            let text = format!("{url} does not answer{route_note} within {} s", LIMIT.as_secs());
            Check::broken("network", text).advice(advice)
        }
    }
}

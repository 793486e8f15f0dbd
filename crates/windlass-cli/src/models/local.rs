//! The models that a server of this machine has.

use std::time::Duration;
use windlass::project::LoadedProject;
use windlass::provider::{ChatCompletions, KnownModel};

/// How long a server of this machine may take to say what it has.
const LIMIT: Duration = Duration::from_secs(2);

/// Whether the provider is a server that is asked for its models.
pub(super) fn is_asked(provider: &str) -> bool {
    provider == "ollama"
}

/// The models of the server, by the names that windlass has for them.
pub(super) async fn models(provider: &str, project: &LoadedProject) -> Result<Vec<KnownModel>, String> {
    let failed = |problem: String| format!("the models of {provider} are not known: {problem}");
    let server = ChatCompletions::from_lookup(provider, |name| project.variable(name))
        .map_err(|error| failed(error.to_string()))?;
    let listed = tokio::time::timeout(LIMIT, server.server_models()).await;
    let listed = listed.map_err(|_| failed(format!("its server did not answer within {} s", LIMIT.as_secs())))?;
    let mut models = listed.map_err(|error| failed(error.to_string()))?;
    for model in &mut models {
        model.id = format!("{provider}/{}", model.id);
    }
    Ok(models)
}

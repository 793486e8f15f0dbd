//! Models of a server of the user.

use std::time::Duration;
use windlass::project::LoadedProject;
use windlass::provider::{ChatCompletions, KnownModel};

/// Time limit for a server's list of models.
const LIMIT: Duration = Duration::from_secs(2);

/// The provider of the address that `OPENAI_BASE_URL` names.
const OWN_URL: &str = "openai-compatible";

/// Returns `true` if the provider is a server that is asked for its models.
pub(super) fn is_asked(provider: &str) -> bool {
    const ASKED: [&str; 6] = ["ollama", "llama.cpp", "vllm", "lmstudio", "litellm", OWN_URL];
    ASKED.contains(&provider)
}

/// Returns the models of the server, by windlass's names for them.
pub(crate) async fn models(provider: &str, project: &LoadedProject) -> Result<Vec<KnownModel>, String> {
    let failed = |problem: String| format!("the models of {provider} are not known: {problem}");
    let keys = project.stored_keys();
    let variable = |name: &str| project.variable(name);
    let lookup = |name: &str| keys.as_ref().map_or_else(|| variable(name), |keys| keys.variable(name, variable));
    let server = match provider {
        OWN_URL => ChatCompletions::openai_compatible_from_lookup(lookup),
        preset => ChatCompletions::from_lookup(preset, lookup),
    };
    let server = server.map_err(|error| failed(error.to_string()))?;
    let listed = tokio::time::timeout(LIMIT, server.server_models()).await;
    let listed = listed.map_err(|_| failed(format!("its server did not answer within {} s", LIMIT.as_secs())))?;
    let mut models = listed.map_err(|error| failed(error.to_string()))?;
    for model in &mut models {
        model.id = format!("{provider}/{}", model.id);
    }
    Ok(models)
}

//! All providers of this build behind one.

#[cfg(any(feature = "bedrock", all(feature = "anthropic", feature = "gemini")))]
mod split;

use std::sync::Arc;
use windlass_model::{ModelError, ModelProvider, Router};

/// All providers that this build has, set up from the environment: `openai/gpt-5.5`, `gemini/gemini-3-pro`,
/// `ollama/qwen3`, `openrouter/…`. Each is set up when a model of it is first named, so that only the key of that one is
/// needed. A name without a prefix is that of the first provider of this list:
///
/// | prefix | feature | what it reads |
/// |---|---|---|
/// | `anthropic` | `anthropic` | [`Anthropic::from_env`](crate::provider::Anthropic::from_env) |
/// | `openai` | `openai` | the Responses API: `OPENAI_API_KEY`, `OPENAI_BASE_URL` |
/// | `openai-compatible` | `openai` | Chat Completions at `OPENAI_BASE_URL`, whatever it is |
/// | `azure`, `deepseek`, `groq`, `litellm`, `llama.cpp`, `lmstudio`, `mistral`, `moonshot`, `ollama`, `openrouter`, `qwen`, `together`, `vllm`, `xai`, `zai` | `openai` | Chat Completions with the variables of the vendor |
/// | `gemini` | `gemini` | `GEMINI_API_KEY`, else `GOOGLE_API_KEY` |
/// | `bedrock` | `bedrock` | Claude and all other models on Amazon Bedrock: `AWS_REGION`, `AWS_BEARER_TOKEN_BEDROCK`, `AWS_PROFILE`, `AWS_ACCESS_KEY_ID` and the like |
/// | `vertex` | `anthropic`, `gemini` | Claude and Gemini on Vertex AI: `GOOGLE_CLOUD_PROJECT`, `CLOUD_ML_REGION`, `GOOGLE_APPLICATION_CREDENTIALS` |
///
/// `CLAUDE_CODE_USE_BEDROCK=1` and `CLAUDE_CODE_USE_VERTEX=1` make names without a prefix those of that cloud.
///
/// ```no_run
/// # async fn run() -> Result<(), windlass::Error> {
/// let providers = windlass::provider::from_env();
/// let answer = windlass::query("Hello").provider(providers).model("ollama/qwen3").await?;
/// # Ok(()) }
/// ```
#[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
pub fn from_env() -> Router {
    from_lookup(|name| std::env::var(name).ok())
}

/// [`from_env`] with another source of the variables.
pub fn from_lookup(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Router {
    let lookup: Lookup = Arc::new(lookup);
    let mut router = Router::empty();
    for (prefix, setup) in in_order(routes(), &*lookup) {
        let lookup = Arc::clone(&lookup);
        router = router.lazy(prefix, move || setup(&*lookup));
    }
    router
}

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

type Lookup = Arc<Variables>;

/// Sets one provider up from variables.
type Setup = Box<dyn Fn(&dyn Fn(&str) -> Option<String>) -> Result<Arc<dyn ModelProvider>, ModelError> + Send + Sync>;

/// A set-up by a constructor that takes the source of the variables.
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
fn by<P: ModelProvider>(
    make: impl Fn(&dyn Fn(&str) -> Option<String>) -> Result<P, ModelError> + Send + Sync + 'static,
) -> Setup {
    Box::new(move |lookup| Ok(Arc::new(make(lookup)?)))
}

/// The provider that the user prefers goes first: it has the names without a prefix.
fn in_order(mut routes: Vec<(&'static str, Setup)>, lookup: &Variables) -> Vec<(&'static str, Setup)> {
    const SWITCHES: [(&str, &str); 2] = [("CLAUDE_CODE_USE_BEDROCK", "bedrock"), ("CLAUDE_CODE_USE_VERTEX", "vertex")];
    let is_on = |name: &str| {
        let value = lookup(name).unwrap_or_default().trim().to_ascii_lowercase();
        matches!(value.as_str(), "1" | "true" | "yes" | "on")
    };
    let preferred = SWITCHES.into_iter().find(|(switch, _)| is_on(switch)).map(|(_, prefix)| prefix);
    // Stable: the others keep their order.
    routes.sort_by_key(|(prefix, _)| Some(*prefix) != preferred);
    routes
}

fn routes() -> Vec<(&'static str, Setup)> {
    #[allow(unused_mut, reason = "without features there is no provider")]
    let mut routes: Vec<(&'static str, Setup)> = Vec::new();
    #[cfg(feature = "anthropic")]
    routes.push(("anthropic", by(|lookup| crate::provider::Anthropic::from_lookup(lookup))));
    #[cfg(feature = "openai")]
    {
        use crate::provider::{ChatCompletions, Endpoint, OpenAi};
        routes.push(("openai", by(|lookup| OpenAi::from_lookup(lookup))));
        routes.push(("openai-compatible", by(|lookup| ChatCompletions::openai_compatible_from_lookup(lookup))));
        let presets = Endpoint::preset_names().filter(|name| *name != "openai");
        routes.extend(presets.map(|name| (name, by(move |lookup| ChatCompletions::from_lookup(name, lookup)))));
    }
    #[cfg(feature = "gemini")]
    routes.push(("gemini", by(|lookup| crate::provider::Gemini::from_lookup(lookup))));
    #[cfg(feature = "bedrock")]
    routes.push(("bedrock", by(split::bedrock)));
    #[cfg(all(feature = "anthropic", feature = "gemini"))]
    routes.push(("vertex", by(split::vertex)));
    #[cfg(all(feature = "anthropic", not(feature = "gemini")))]
    routes.push(("vertex", by(|lookup| crate::provider::Anthropic::vertex_from_lookup(lookup)?.build())));
    #[cfg(all(feature = "gemini", not(feature = "anthropic")))]
    routes.push(("vertex", by(|lookup| crate::provider::Gemini::vertex_from_lookup(lookup)?.build())));
    routes
}

//! Router over all providers of this build.

mod bare_names;
mod known;
#[cfg(any(feature = "bedrock", all(feature = "anthropic", feature = "gemini")))]
mod split;

use std::sync::Arc;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
use windlass_http::HttpTransport;
use windlass_model::{ModelError, ModelProvider, Router};

/// Returns all providers of this build, set up from the environment: `openai/gpt-5.5`, `gemini/gemini-3-pro`,
/// `ollama/qwen3`, `openrouter/…`. Each is set up when one of its models is first named, so only its own key is needed.
/// A name without a prefix belongs to the first provider of this list, if it names a model of that vendor; a model that
/// another provider lists goes to that one, and any other name is an error. If the first provider has its own address
/// (`ANTHROPIC_BASE_URL`: a gateway), all names without a known prefix go there, and a session reports that once.
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
/// `CLAUDE_CODE_USE_BEDROCK=1` and `CLAUDE_CODE_USE_VERTEX=1` assign names without a prefix to that cloud.
///
/// ```no_run
/// # async fn run() -> Result<(), windlass::Error> {
/// let providers = windlass::provider::from_env();
/// let answer = windlass::query("Hello").provider(providers).model("ollama/qwen3").await?;
/// # Ok(()) }
/// ```
///
/// All of them take proxies from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, and trusted certificate
/// authorities from `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS`.
#[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
pub fn from_env() -> Router {
    from_lookup(|name| std::env::var(name).ok())
}

/// [`from_env`] with another source of the variables.
pub fn from_lookup(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Router {
    router(lookup, routes())
}

/// [`from_lookup`], with a source of keys for the Anthropic API if no variable holds one.
#[cfg(all(feature = "project", feature = "tools", feature = "anthropic"))]
pub(crate) fn from_lookup_and(
    lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    key: Option<windlass_http::provider::RefreshingCredentials>,
) -> Router {
    router(lookup, routes_over(Shared { transport: None, key }))
}

/// [`from_lookup`], with one transport for the requests of all providers.
///
/// ```
/// use std::sync::Arc;
/// use windlass::provider::{self, HttpError, HttpRequest, HttpResponse, HttpTransport};
///
/// /// Answers every request from memory, and keeps the hosts that were asked.
/// #[derive(Debug, Default)]
/// struct Recorder {
///     asked: std::sync::Mutex<Vec<String>>,
/// }
///
/// #[async_trait::async_trait]
/// impl HttpTransport for Recorder {
///     async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
///         self.asked.lock().expect("no panic").push(request.url().to_owned());
///         Ok(HttpResponse::new(500).with_bytes("not today"))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), windlass::Error> {
/// let transport = Arc::new(Recorder::default());
/// let key = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "sk-1".to_owned());
/// let providers = provider::from_lookup_over(Arc::clone(&transport), key);
/// let result = windlass::query("Hello").provider(providers).model("anthropic/claude-sonnet-4-5").max_retries(0).await?;
/// assert!(!result.outcome.is_success());
/// assert_eq!(*transport.asked.lock().expect("no panic"), ["https://api.anthropic.com/v1/messages"]);
/// # Ok(()) }
/// ```
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub fn from_lookup_over(
    transport: impl HttpTransport,
    lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Router {
    router(lookup, routes_over(Shared { transport: Some(Arc::new(transport)), key: None }))
}

fn router(
    lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    routes: Vec<(&'static str, Setup)>,
) -> Router {
    let lookup: Lookup = Arc::new(lookup);
    let mut router = Router::empty();
    let routes = in_order(routes, &*lookup);
    let first = routes.first().map_or("", |(prefix, _)| *prefix);
    let judged = Arc::clone(&lookup);
    for (prefix, setup) in routes {
        let (lookup, known) = (Arc::clone(&lookup), Arc::clone(&lookup));
        router = router.lazy_with_models(prefix, move || setup(&*lookup), move || known::models(prefix, &*known));
    }
    for (prefix, feature) in NOT_BUILT {
        if !router.prefixes().any(|known| known == *prefix) {
            let reason =
                format!("this program is built without the provider {prefix:?}: it needs the feature `{feature}`");
            router = router.missing(*prefix, reason);
        }
    }
    router.bare_names(move |name| bare_names::judge(first, &*judged, name))
}

/// The prefixes of providers that a feature brings, with that feature. A build without it refuses their names.
const NOT_BUILT: &[(&str, &str)] = &[
    ("anthropic", "anthropic"),
    ("openai", "openai"),
    ("openai-compatible", "openai"),
    ("azure", "openai"),
    ("deepseek", "openai"),
    ("groq", "openai"),
    ("litellm", "openai"),
    ("llama.cpp", "openai"),
    ("lmstudio", "openai"),
    ("mistral", "openai"),
    ("moonshot", "openai"),
    ("ollama", "openai"),
    ("openrouter", "openai"),
    ("qwen", "openai"),
    ("together", "openai"),
    ("vllm", "openai"),
    ("xai", "openai"),
    ("zai", "openai"),
    ("gemini", "gemini"),
    ("bedrock", "bedrock"),
    ("vertex", "anthropic"),
];

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

type Lookup = Arc<Variables>;

/// Sets one provider up from variables.
type Setup = Box<dyn Fn(&dyn Fn(&str) -> Option<String>) -> Result<Arc<dyn ModelProvider>, ModelError> + Send + Sync>;

/// Setup by a constructor that takes the source of the variables.
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
fn by<P: ModelProvider>(
    make: impl Fn(&dyn Fn(&str) -> Option<String>) -> Result<P, ModelError> + Send + Sync + 'static,
) -> Setup {
    Box::new(move |lookup| Ok(Arc::new(make(lookup)?)))
}

/// Moves the user's preferred provider to the front, where it has the names without a prefix.
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

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
fn routes() -> Vec<(&'static str, Setup)> {
    routes_over(Shared::default())
}

#[cfg(not(any(feature = "anthropic", feature = "gemini", feature = "openai")))]
fn routes() -> Vec<(&'static str, Setup)> {
    Vec::new()
}

/// Parts of providers that do not come from variables.
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[derive(Default)]
struct Shared {
    /// Transport of all providers.
    transport: Option<Arc<dyn HttpTransport>>,
    /// Source of keys for the Anthropic API.
    #[cfg_attr(not(feature = "anthropic"), expect(dead_code, reason = "other providers have keys of their own"))]
    key: Option<windlass_http::provider::RefreshingCredentials>,
}

/// Builds the provider of the Anthropic API, with this source of keys if there is one.
#[cfg(feature = "anthropic")]
fn keyed(
    key: Option<windlass_http::provider::RefreshingCredentials>,
) -> impl Fn(windlass_anthropic::AnthropicBuilder) -> Result<crate::provider::Anthropic, ModelError> {
    move |builder| key.iter().fold(builder, |builder, key| builder.credentials(key.clone())).build()
}

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
fn routes_over(shared: Shared) -> Vec<(&'static str, Setup)> {
    let mut routes: Vec<(&'static str, Setup)> = Vec::new();
    // Puts the transport into the options of a builder.
    let transport = shared.transport;
    let over = move || {
        let transport = transport.clone();
        move |options: &mut windlass_http::HttpOptions| options.transport.clone_from(&transport)
    };
    #[cfg(feature = "anthropic")]
    {
        use crate::provider::Anthropic;
        let over = over();
        let built = keyed(shared.key);
        routes.push(("anthropic", by(move |l| built(Anthropic::builder().lookup(l).http_options(&over)))));
    }
    #[cfg(feature = "openai")]
    {
        use crate::provider::{ChatCompletions, Endpoint, OpenAi};
        let (responses, compatible) = (over(), over());
        routes.push(("openai", by(move |lookup| OpenAi::builder().lookup(lookup).http_options(&responses).build())));
        routes.push((
            "openai-compatible",
            by(move |lookup| ChatCompletions::openai_compatible_builder(lookup).http_options(&compatible).build()),
        ));
        for name in Endpoint::preset_names().filter(|name| *name != "openai") {
            let over = over();
            routes.push((
                name,
                by(move |lookup| ChatCompletions::preset(name)?.lookup(lookup).http_options(&over).build()),
            ));
        }
    }
    #[cfg(feature = "gemini")]
    {
        use crate::provider::Gemini;
        let over = over();
        routes.push(("gemini", by(move |lookup| Gemini::builder().lookup(lookup).http_options(&over).build())));
    }
    #[cfg(feature = "bedrock")]
    {
        let over = over();
        routes.push(("bedrock", by(move |lookup| split::bedrock(lookup, &over))));
    }
    #[cfg(all(feature = "anthropic", feature = "gemini"))]
    {
        let over = over();
        routes.push(("vertex", by(move |lookup| split::vertex(lookup, &over))));
    }
    #[cfg(all(feature = "anthropic", not(feature = "gemini")))]
    {
        use crate::provider::Anthropic;
        let over = over();
        routes.push(("vertex", by(move |lookup| Anthropic::vertex_from_lookup(lookup)?.http_options(&over).build())));
    }
    #[cfg(all(feature = "gemini", not(feature = "anthropic")))]
    {
        use crate::provider::Gemini;
        let over = over();
        routes.push(("vertex", by(move |lookup| Gemini::vertex_from_lookup(lookup)?.http_options(&over).build())));
    }
    routes
}

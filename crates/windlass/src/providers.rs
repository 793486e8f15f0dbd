//! Router over all providers of this build.

#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(not(feature = "anthropic"))]
#[path = "absent/no_provider.rs"]
mod anthropic;
mod bare_names;
#[cfg(feature = "bedrock")]
mod bedrock;
#[cfg(not(feature = "bedrock"))]
#[path = "absent/no_provider.rs"]
mod bedrock;
#[cfg(feature = "gemini")]
mod gemini;
#[cfg(not(feature = "gemini"))]
#[path = "absent/no_provider.rs"]
mod gemini;
#[cfg(feature = "credentials")]
mod http;
#[cfg(not(feature = "credentials"))]
#[path = "absent/http.rs"]
mod http;
#[cfg(feature = "openai")]
mod openai;
#[cfg(not(feature = "openai"))]
#[path = "absent/no_provider.rs"]
mod openai;
mod route;
mod split;

pub(crate) use http::Connection;
use route::{Lookup, Route, Setup, Variables};
use split::Split;
use std::sync::Arc;
use windlass_model::{BareName, Router};

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

/// [`from_lookup`], with this connection to the vendors.
pub(crate) fn from_lookup_with(
    lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    connection: &Connection,
) -> Router {
    router(lookup, routes(connection))
}

/// [`from_env`] with another source of the variables.
pub fn from_lookup(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Router {
    router(lookup, routes(&Connection::default()))
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
/// let once = windlass::options::LimitOptions::new().max_retries(0);
/// let result = windlass::query("Hello").provider(providers).model("anthropic/claude-sonnet-4-5").limits(once).await?;
/// assert!(!result.outcome.is_success());
/// assert_eq!(*transport.asked.lock().expect("no panic"), ["https://api.anthropic.com/v1/messages"]);
/// # Ok(()) }
/// ```
#[cfg(feature = "credentials")]
pub fn from_lookup_over(
    transport: impl windlass_http::HttpTransport,
    lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Router {
    from_lookup_with(lookup, &Connection::over(transport))
}

fn router(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static, routes: Vec<Route>) -> Router {
    let lookup: Lookup = Arc::new(lookup);
    let mut router = Router::empty();
    let routes = in_order(routes, &*lookup);
    let first = routes.first().map(|route| (route.prefix, Arc::clone(&route.models)));
    let judged = Arc::clone(&lookup);
    for Route { prefix, setup, models } in routes {
        let (lookup, known) = (Arc::clone(&lookup), Arc::clone(&lookup));
        router = router.lazy_with_models(prefix, move || setup(&*lookup), move || models(&*known));
    }
    for (prefix, feature) in NOT_BUILT {
        if !router.prefixes().any(|known| known == *prefix) {
            let reason =
                format!("this program is built without the provider {prefix:?}: it needs the feature `{feature}`");
            router = router.missing(*prefix, reason);
        }
    }
    router.bare_names(move |name| match &first {
        Some((prefix, models)) => bare_names::judge(prefix, || models(&*judged), &*judged, name),
        None => BareName::Own,
    })
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

/// Moves the user's preferred provider to the front, where it has the names without a prefix.
fn in_order(mut routes: Vec<Route>, lookup: &Variables) -> Vec<Route> {
    const SWITCHES: [(&str, &str); 2] = [("CLAUDE_CODE_USE_BEDROCK", "bedrock"), ("CLAUDE_CODE_USE_VERTEX", "vertex")];
    let is_on = |name: &str| {
        let value = lookup(name).unwrap_or_default().trim().to_ascii_lowercase();
        matches!(value.as_str(), "1" | "true" | "yes" | "on")
    };
    let preferred = SWITCHES.into_iter().find(|(switch, _)| is_on(switch)).map(|(_, prefix)| prefix);
    // Stable: the others keep their order.
    routes.sort_by_key(|route| Some(route.prefix) != preferred);
    routes
}

/// All providers of this build.
fn routes(connection: &Connection) -> Vec<Route> {
    let providers = [anthropic::routes, openai::routes, gemini::routes, bedrock::routes];
    providers.into_iter().flat_map(|routes| routes(connection)).chain(vertex(connection)).collect()
}

/// Vertex AI: Gemini models have their own API, all others that of Claude.
fn vertex(connection: &Connection) -> Option<Route> {
    let setup: Setup = match (anthropic::vertex(connection), gemini::vertex(connection)) {
        (Some(claude), Some(gemini)) => Box::new(move |lookup: &Variables| {
            Ok(Arc::new(Split::new(claude(lookup)?, gemini(lookup)?, is_of_google)) as _)
        }),
        (claude, gemini) => claude.or(gemini)?,
    };
    Some(Route { prefix: "vertex", setup, models: Arc::new(|_| Vec::new()) })
}

fn is_of_google(model: &str) -> bool {
    model.starts_with("gemini") || model.starts_with("publishers/google/") || model.starts_with("projects/")
}

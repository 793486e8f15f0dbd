//! Web tools of the command.

use windlass::permission::network::NetworkPolicy;
use windlass::tool::Toolkit;
use windlass::web::HttpOptions;
use windlass::web::fetch::{FetchOptions, WebFetch};
use windlass::web::search::{BraveSearch, ModelSearch, TavilySearch, WebSearch};

/// Hosts that `WebFetch` may reach on this machine and its network, separated by commas. Variables of the project are
/// ignored: they are not in the environment of this process.
const PRIVATE_HOSTS: &str = "WINDLASS_PRIVATE_HOSTS";

/// Adds the web tools: `WebFetch`, and `WebSearch` if the environment has a key of a service. Each call asks, unless a
/// rule allows it.
pub(crate) fn with_web(tools: Toolkit) -> Toolkit {
    let tools = tools.with(fetch(&lookup));
    match search(&lookup) {
        Some(search) => tools.with(search),
        None => tools,
    }
}

/// Adds the web tools for a session with a model: without a key of a service, the vendor of the model does `WebSearch`,
/// if it supports searches.
pub(crate) fn with_web_of_session(tools: Toolkit) -> Toolkit {
    let search = search(&lookup).unwrap_or_else(|| WebSearch::by_model(ModelSearch::default()));
    tools.with(fetch(&lookup)).with(search)
}

fn lookup(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn fetch(lookup: &dyn Fn(&str) -> Option<String>) -> WebFetch {
    let mut options = FetchOptions::default().look_up(lookup);
    options.policy = private_hosts(&lookup(PRIVATE_HOSTS).unwrap_or_default());
    WebFetch::new(options)
}

/// Returns the search service. A key that no header can carry is ignored.
fn search(lookup: &dyn Fn(&str) -> Option<String>) -> Option<WebSearch> {
    let mut http = HttpOptions::default();
    http.look_up(lookup);
    if let Some(key) = lookup("BRAVE_API_KEY") {
        return BraveSearch::new(key, http).ok().map(WebSearch::new);
    }
    let key = lookup("TAVILY_API_KEY")?;
    TavilySearch::new(key, http).ok().map(WebSearch::new)
}

/// Returns the policy for private hosts. An entry that names no host allows none.
fn private_hosts(listed: &str) -> NetworkPolicy {
    let entries = listed.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.fold(NetworkPolicy::default(), |policy, entry| policy.clone().allow_private(entry).unwrap_or(policy))
}

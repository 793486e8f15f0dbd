//! The tools of the command that reach the web.

use windlass::permission::network::NetworkPolicy;
use windlass::tool::Toolkit;
use windlass::web::HttpOptions;
use windlass::web::fetch::{FetchOptions, WebFetch};
use windlass::web::search::{BraveSearch, TavilySearch, WebSearch};

/// Hosts that `WebFetch` may reach on this machine and its network, with commas between them. Variables of the project do
/// not count: they are not in the environment of this process.
const PRIVATE_HOSTS: &str = "WINDLASS_PRIVATE_HOSTS";

/// Adds them to others: `WebFetch`, and `WebSearch` where the environment has a key of a service. Each call asks, unless a
/// rule allows it.
pub(crate) fn with_web(tools: Toolkit) -> Toolkit {
    let lookup = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let mut options = FetchOptions::default().look_up(&lookup);
    options.policy = private_hosts(&lookup(PRIVATE_HOSTS).unwrap_or_default());
    let tools = tools.with(WebFetch::new(options));
    match search(&lookup) {
        Some(search) => tools.with(search),
        None => tools,
    }
}

/// A key that no header can carry counts as none.
fn search(lookup: &dyn Fn(&str) -> Option<String>) -> Option<WebSearch> {
    let mut http = HttpOptions::default();
    http.look_up(lookup);
    if let Some(key) = lookup("BRAVE_API_KEY") {
        return BraveSearch::new(key, http).ok().map(WebSearch::new);
    }
    let key = lookup("TAVILY_API_KEY")?;
    TavilySearch::new(key, http).ok().map(WebSearch::new)
}

/// An entry that names no host allows none.
fn private_hosts(listed: &str) -> NetworkPolicy {
    let entries = listed.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.fold(NetworkPolicy::default(), |policy, entry| policy.clone().allow_private(entry).unwrap_or(policy))
}

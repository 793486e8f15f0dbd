//! Web search of the vendor: its request and its results.
//!
//! Source: <https://developers.openai.com/api/docs/guides/tools-web-search>.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_types::{ServerTool, ServerWebSearch, WebPage, WebSearched};

/// Additional content to request: all pages of a search, not only cited ones.
pub(super) const SOURCES: &str = "web_search_call.action.sources";

/// Web search tool of a request.
#[derive(Serialize)]
pub(super) struct SearchToolBody<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    filters: Option<Filters<'a>>,
}

#[derive(Serialize)]
struct Filters<'a> {
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    allowed_domains: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    blocked_domains: &'a [String],
}

impl<'a> From<&'a ServerWebSearch> for SearchToolBody<'a> {
    fn from(search: &'a ServerWebSearch) -> Self {
        let (allowed_domains, blocked_domains) = (&*search.allowed_domains, &*search.blocked_domains);
        let is_filtered = !allowed_domains.is_empty() || !blocked_domains.is_empty();
        Self { kind: "web_search", filters: is_filtered.then_some(Filters { allowed_domains, blocked_domains }) }
    }
}

/// Returns the web search of a request, if it asks for one.
pub(super) fn of(tools: &[ServerTool]) -> Option<SearchToolBody<'_>> {
    tools.iter().find_map(|tool| match tool {
        ServerTool::WebSearch(search) => Some(search.into()),
        _ => None,
    })
}

#[derive(Deserialize)]
struct SearchCall {
    #[serde(default)]
    status: String,
    #[serde(default)]
    action: Option<SearchAction>,
}

#[derive(Deserialize)]
struct SearchAction {
    #[serde(default)]
    sources: Vec<SearchSource>,
}

#[derive(Deserialize)]
struct SearchSource {
    #[serde(default)]
    url: Option<String>,
}

/// Reads the item of a search. An unknown form is no reason to lose the answer.
pub(super) fn results(item: &str) -> Option<WebSearched> {
    let call: SearchCall = serde_json::from_str(item).ok()?;
    if call.status == "failed" {
        return Some(WebSearched::failed("the search failed"));
    }
    let sources = call.action?.sources.into_iter();
    let pages: Vec<_> = sources.filter_map(|source| Some(WebPage::new(source.url?, None))).collect();
    (!pages.is_empty()).then(|| WebSearched::found(pages))
}

#[derive(Deserialize)]
struct CitedPart<'a> {
    #[serde(default)]
    text: Option<String>,
    #[serde(borrow, default)]
    annotations: Option<Vec<CitedPage<'a>>>,
}

#[derive(Deserialize)]
struct CitedPage<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    title: Option<String>,
}

/// Returns the pages that a message cites.
pub(super) fn cited(content: Option<&RawValue>) -> Option<WebSearched> {
    let content = content?.get();
    // Nearly all messages cite none, and need not be parsed once more.
    if !content.contains("url_citation") {
        return None;
    }
    let parts: Vec<CitedPart<'_>> = serde_json::from_str(content).ok()?;
    let annotations = parts.into_iter().filter(|part| part.text.is_some()).flat_map(|part| part.annotations);
    let cited = annotations.flatten().filter(|annotation| annotation.kind == "url_citation");
    let pages: Vec<_> = cited.filter_map(|cited| Some(WebPage::new(cited.url?, cited.title))).collect();
    (!pages.is_empty()).then(|| WebSearched::found(pages))
}

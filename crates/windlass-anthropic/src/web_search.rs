//! Web search of the vendor: its request and its results.
//!
//! Source: <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_types::{NanoUsd, ServerWebSearch, WebPage, WebSearched};

/// Returns the cost of one web search by a model of the vendor: 10 USD for a thousand.
pub(crate) fn price(model: &str) -> Option<NanoUsd> {
    model.starts_with("claude-").then_some(NanoUsd::new(10_000_000))
}

/// Type of the block with the results of a search.
pub(crate) const RESULT: &str = "web_search_tool_result";

/// Web search tool of a request.
#[derive(Serialize)]
pub(crate) struct WebSearchTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    max_uses: u32,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    allowed_domains: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    blocked_domains: &'a [String],
}

impl<'a> From<&'a ServerWebSearch> for WebSearchTool<'a> {
    fn from(search: &'a ServerWebSearch) -> Self {
        Self {
            kind: "web_search_20250305",
            name: "web_search",
            max_uses: search.max_uses,
            allowed_domains: &search.allowed_domains,
            blocked_domains: &search.blocked_domains,
        }
    }
}

#[derive(Deserialize)]
struct SearchResultBlock<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct SearchHit<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    title: Option<String>,
}

#[derive(Deserialize)]
struct SearchFailure {
    #[serde(default)]
    error_code: String,
}

#[derive(Deserialize)]
struct Citation<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    cited_text: Option<String>,
}

/// Reads a block of results. An unknown form is no reason to lose the answer.
pub(crate) fn results(block: &RawValue) -> Option<WebSearched> {
    let block: SearchResultBlock<'_> = serde_json::from_str(block.get()).ok()?;
    let content = block.content?.get();
    if let Ok(found) = serde_json::from_str::<Vec<SearchHit<'_>>>(content) {
        let found = found.into_iter().filter(|found| found.kind == "web_search_result");
        return Some(WebSearched::found(
            found.filter_map(|found| Some(WebPage::new(found.url?, found.title))).collect(),
        ));
    }
    let failed: SearchFailure = serde_json::from_str(content).ok()?;
    (!failed.error_code.is_empty()).then(|| WebSearched::failed(failed.error_code))
}

/// Returns the page that a citation names, if it is one of a search.
pub(crate) fn cited(citation: &RawValue) -> Option<WebSearched> {
    let citation: Citation<'_> = serde_json::from_str(citation.get()).ok()?;
    if citation.kind != "web_search_result_location" {
        return None;
    }
    let mut page = WebPage::new(citation.url, citation.title);
    page.cited = citation.cited_text;
    Some(WebSearched::found(vec![page]))
}

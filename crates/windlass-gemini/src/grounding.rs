//! Results of the vendor's web search.
//!
//! Source: <https://ai.google.dev/gemini-api/docs/google-search>.

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_types::{ServerTool, WebPage, WebSearched};

/// Grounding of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GroundingMetadata {
    web_search_queries: Option<Vec<String>>,
    grounding_chunks: Option<Vec<GroundingChunk>>,
    grounding_supports: Option<Vec<GroundingSupport>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GroundingChunk {
    web: Option<GroundingPage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GroundingPage {
    uri: Option<String>,
    title: Option<String>,
}

/// Assignment of a segment of the answer to chunks.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GroundingSupport {
    segment: Option<GroundedSegment>,
    grounding_chunk_indices: Option<Vec<usize>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GroundedSegment {
    text: Option<String>,
}

impl GroundingMetadata {
    /// Reads the metadata. An unknown form is no reason to lose the answer.
    pub(crate) fn read(json: &RawValue) -> Option<Self> {
        serde_json::from_str(json.get()).ok()
    }

    /// Returns the number of searches.
    pub(crate) fn searches(&self) -> u64 {
        self.web_search_queries.as_ref().map_or(0, |queries| u64::try_from(queries.len()).unwrap_or(u64::MAX))
    }

    /// Returns the pages. `cited` of each is the first segment of the answer that comes from it.
    pub(crate) fn pages(self) -> Option<WebSearched> {
        let supports = self.grounding_supports.unwrap_or_default();
        let words = |chunk: usize| {
            let of =
                |support: &&GroundingSupport| support.grounding_chunk_indices.iter().flatten().any(|at| *at == chunk);
            supports.iter().find(of)?.segment.as_ref()?.text.clone()
        };
        let chunks = self.grounding_chunks.unwrap_or_default().into_iter().enumerate();
        let pages = chunks.filter_map(|(at, chunk)| {
            let web = chunk.web?;
            let mut page = WebPage::new(web.uri?, web.title);
            page.cited = words(at);
            Some(page)
        });
        let pages: Vec<_> = pages.collect();
        (!pages.is_empty()).then(|| WebSearched::found(pages))
    }
}

/// `true` if a request asks for web search.
pub(crate) fn is_wanted(tools: &[ServerTool]) -> bool {
    tools.iter().any(|tool| matches!(tool, ServerTool::WebSearch(_)))
}

//! Tools that the vendor of a model runs while the model writes.

/// A tool that the vendor runs while the model writes. The model calls it and reads its results before its message ends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerTool {
    /// A search of the web.
    WebSearch(ServerWebSearch),
}

/// A search of the web by the vendor.
///
/// Sources: Anthropic, "Web search tool", <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>;
/// OpenAI, "Web search", <https://developers.openai.com/api/docs/guides/tools-web-search>; Google, "Grounding with Google
/// Search", <https://ai.google.dev/gemini-api/docs/google-search>.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerWebSearch {
    /// Most searches in one message. Only the Messages API takes it; the others search as often as the model wants.
    pub max_uses: u32,
    /// Only pages of these domains, and of those below them. Empty: all. Gemini has no such list.
    pub allowed_domains: Vec<String>,
    /// No pages of these domains, and of those below them. Cannot be combined with `allowed_domains`. Gemini has no
    /// such list.
    pub blocked_domains: Vec<String>,
}

impl ServerWebSearch {
    /// Searches of all domains, at most so many.
    pub fn new(max_uses: u32) -> Self {
        Self { max_uses, allowed_domains: Vec::new(), blocked_domains: Vec::new() }
    }
}

/// Result of one search by the vendor, or a citation of it by the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WebSearched {
    /// The pages, as the vendor orders them.
    pub pages: Vec<WebPage>,
    /// Reason why the search failed, in the vendor's words.
    pub failure: Option<String>,
}

impl WebSearched {
    /// A search that found these pages.
    pub fn found(pages: Vec<WebPage>) -> Self {
        Self { pages, failure: None }
    }

    /// A search that failed.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { pages: Vec::new(), failure: Some(why.into()) }
    }
}

/// A page that a search of the vendor found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebPage {
    /// Address of the page. With Gemini, an address of the vendor that redirects there.
    pub url: String,
    /// Title of the page. With Gemini, its domain.
    pub title: Option<String>,
    /// Text that the model cites.
    pub cited: Option<String>,
}

impl WebPage {
    /// A page without a citation.
    pub fn new(url: impl Into<String>, title: Option<String>) -> Self {
        Self { url: url.into(), title, cited: None }
    }
}

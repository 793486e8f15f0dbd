//! Tool `WebSearch`, and its search services.

mod backend;
mod brave;
mod by_model;
mod filter;
mod service;
mod tavily;
mod tool;

pub use backend::{SearchBackend, SearchError, SearchHit, SearchQuery};
pub use brave::BraveSearch;
pub use by_model::ModelSearch;
pub use tavily::TavilySearch;
pub use tool::{WebSearch, WebSearchInput};

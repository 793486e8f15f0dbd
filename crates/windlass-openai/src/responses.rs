//! Provider of the Responses API.

mod assembly;
mod frame;
mod provider;
mod replay;
mod request;
mod stream;
mod usage;
mod web_search;

pub use provider::OpenAi;
pub(crate) use provider::ResponsesSettings;

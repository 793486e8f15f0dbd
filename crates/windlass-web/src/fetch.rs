//! Tool `WebFetch`, which reads pages.
//!
//! Access to hosts is decided three times: by the rules of the session on `WebFetch(domain:…)` before the call, by the
//! [`NetworkPolicy`](windlass_permission::network::NetworkPolicy) of the tool before a name is looked up, and by the
//! check of each address before it is dialled.

mod cache;
mod decode;
mod kind;
mod load;
mod markdown;
mod options;
mod part;
mod reader;
mod simplify;
mod tool;
mod transport;
mod url;

pub use options::{FetchOptions, Reader};
pub use tool::{WebFetch, WebFetchInput};
pub use transport::{NetworkPages, PageTransport};

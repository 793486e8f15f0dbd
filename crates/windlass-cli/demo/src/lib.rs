//! Splits long lists into pages, as a shop or an API shows them.

mod page;
mod pager;

pub use page::Page;
pub use pager::Pager;

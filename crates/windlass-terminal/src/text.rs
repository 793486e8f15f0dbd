//! Text on a terminal: what is safe to show, how wide it is, and lines of styled spans.

mod ansi;
mod line;
mod safe;
mod style;
mod width;
mod wrap;

pub use ansi::colored_line;
pub use line::{Line, Span};
pub use safe::{safe_line, safe_lines};
pub use style::{Color, Style};
pub use width::{TAB_WIDTH, clusters, truncate, width};
pub use wrap::{wrap, wrap_exact, wrap_text};

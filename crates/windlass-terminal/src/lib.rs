//! The interactive terminal of windlass.
//!
//! Finished lines are written once into the scrollback of the terminal and never touched again. A live area below
//! them, of at most half the screen, is the only thing that is redrawn.
//!
//! | module | contents |
//! |---|---|
//! | [`text`] | lines and spans that are safe to show, widths, wrapping |
//! | [`screen`] | bytes for a frame: finished rows, the live area, the alternate screen |
//! | [`capabilities`] | abilities of the terminal, and the question for its background |
//! | [`theme`] | styles as data |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod capabilities;
#[cfg(unix)]
pub mod raw;
pub mod screen;
pub mod text;
pub mod theme;

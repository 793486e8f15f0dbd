//! The interactive terminal of windlass.
//!
//! Finished lines are written once into the scrollback of the terminal and never touched again. A live area below
//! them, of at most half the screen, is the only thing that is redrawn.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod screen;
pub mod text;

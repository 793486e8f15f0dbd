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
//! | [`keys`] | keys, the actions that they stand for, and a keymap that settings change |
//! | [`input`] | bytes of a terminal as keys and pastes; the prompt as one machine |
//! | [`composer`], [`history`], [`completion`] | the editor of the prompt, earlier prompts, commands and mentions |
//! | [`dialog`], [`picker`] | questions to the person, and lists to choose from |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod capabilities;
pub mod completion;
pub mod composer;
pub mod dialog;
pub mod history;
pub mod input;
pub mod keys;
pub mod picker;
#[cfg(unix)]
pub mod raw;
pub mod screen;
pub mod text;
pub mod theme;

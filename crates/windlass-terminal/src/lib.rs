//! The interactive terminal of windlass.
//!
//! Finished lines are written once into the scrollback of the terminal and never touched again. A live area below
//! them, of at most half the screen, is the only thing that is redrawn.
//!
//! | module | contents |
//! |---|---|
//! | `app` | the loop: a conversation at the terminal of the process (Unix) |
//! | [`text`] | lines and spans that are safe to show, widths, wrapping |
//! | [`screen`] | bytes for a frame: finished rows, the live area, the alternate screen |
//! | [`capabilities`] | abilities of the terminal, and the question for its background |
//! | [`theme`], [`layout`] | styles as data; room and glyphs of rows |
//! | [`markdown`], [`diff`], [`cell`] | finished parts of a conversation as rows |
//! | [`presenter`] | updates of a conversation in, finished cells and live state out |
//! | [`live`], [`surface`] | composition of the live area, and all of the output in one place |
//! | [`prompt_area`], [`status_line`] | rows of the prompt, dialogs and pickers, and the row below them |
//! | [`transcript`], [`pager`] | the cells that were written, and a pager for the alternate screen |
//! | [`keys`] | keys, the actions that they stand for, and a keymap that settings change |
//! | [`input`] | bytes of a terminal as keys and pastes; the prompt as one machine |
//! | [`composer`], [`history`], [`completion`] | the editor of the prompt, earlier prompts, commands and mentions |
//! | [`dialog`], [`picker`] | questions to the person, and lists to choose from |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(unix)]
pub mod app;
pub mod capabilities;
pub mod cell;
pub mod completion;
pub mod composer;
pub mod dialog;
pub mod diff;
pub mod history;
pub mod input;
pub mod keys;
pub mod layout;
pub mod live;
pub mod markdown;
pub mod pager;
pub mod picker;
pub mod presenter;
pub mod prompt_area;
#[cfg(unix)]
pub mod raw;
pub mod screen;
pub mod status_line;
pub mod surface;
pub mod text;
pub mod theme;
pub mod transcript;

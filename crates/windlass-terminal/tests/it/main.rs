//! The terminal from outside.

mod emulator;
mod screen;
mod text;
mod tmux;

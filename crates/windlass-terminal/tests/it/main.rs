//! The terminal from outside.

mod text;

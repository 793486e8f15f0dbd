//! The analysis of commands against lists, generated texts and bash itself.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod bash_lines;
mod bash_words;
mod properties;
mod read_only;

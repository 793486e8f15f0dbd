//! The index of real trees.
#![allow(clippy::disallowed_methods, reason = "tests use real folders and clocks")]

#[cfg(unix)]
mod hostile;
mod project;
mod same;
mod tool;
mod tree;

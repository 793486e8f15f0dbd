//! Patches as texts: what they say, and what bytes they make of a file.

mod model;
mod placing;
mod reading;

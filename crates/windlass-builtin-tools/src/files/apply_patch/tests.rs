//! Patches as texts: their content, and the resulting bytes of a file.

mod model;
mod placing;
mod reading;

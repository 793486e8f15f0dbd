//! Tool calls: reading one, and running it with the layers around it.

pub(crate) mod artifact;
mod git;
pub(crate) mod layer;
pub(crate) mod layers;
mod path_resolver;
pub(crate) mod permit;
pub(crate) mod preparation;
pub(crate) mod preview;
mod repository;
pub(crate) mod run;

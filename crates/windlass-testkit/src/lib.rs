//! Conformance kits, a local wire-format server and fakes for testing windlass and its hosts

pub mod provider;
pub mod store;
pub mod wire;

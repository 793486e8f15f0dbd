//! The tokio driver of the windlass agent loop

//! Tests for what is built on windlass: fakes of every port, faults on demand, and kits that check whether an
//! implementation of a port keeps its promises.
pub mod fake;
mod gate;
pub mod provider;
pub mod store;
mod violation;
pub mod wire;
pub mod workspace;

pub use gate::Gate;
pub use violation::Violation;

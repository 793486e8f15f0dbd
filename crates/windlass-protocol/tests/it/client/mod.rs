//! The client over in-memory pipes and over processes: peers that behave, and peers that do not.

mod asked;
mod fake;
mod hostile;
#[cfg(unix)]
mod process;
mod served;
mod tools;

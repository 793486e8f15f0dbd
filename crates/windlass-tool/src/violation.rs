//! Operations that a sandbox has stopped.

use serde::Serialize;

/// Kind of operation that a sandbox has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ViolationKind {
    /// A write outside of the writable directories, or to a protected name.
    Write,
    /// A file that is hidden, or must not change.
    File,
    /// A host of the network.
    Host,
    /// A system call.
    Call,
}

/// An operation that a sandbox has stopped, or may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SandboxViolation {
    /// Kind of the operation.
    pub kind: ViolationKind,
    /// Path, or host with its port, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Line of the program's output that says so; empty if it is known without one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// `true` if the sandbox itself has stopped the operation. Otherwise the program's output suggests it: a file that
    /// the user may not read gives the same message.
    pub is_certain: bool,
}

impl SandboxViolation {
    /// Returns the violation of a host that was refused.
    pub fn host(host: impl Into<String>) -> Self {
        Self { kind: ViolationKind::Host, subject: Some(host.into()), evidence: String::new(), is_certain: true }
    }

    /// Returns the violation that a line of the program's output suggests.
    pub fn likely(kind: ViolationKind, subject: Option<String>, evidence: impl Into<String>) -> Self {
        Self { kind, subject, evidence: evidence.into(), is_certain: false }
    }
}

//! What a sandbox has stopped.

use serde::Serialize;

/// What of a sandbox a program ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ViolationKind {
    /// A write outside of the writable directories, or to a protected name.
    Write,
    /// A file that is hidden, or stays as it is.
    File,
    /// A host of the network.
    Host,
    /// A call of the system.
    Call,
}

/// Something that a sandbox has kept a program from, or may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SandboxViolation {
    /// What it was about.
    pub kind: ViolationKind,
    /// The path, or the host with its port, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The line of the program's output that says so; empty if it is known without one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// Whether the sandbox itself has stopped it. Otherwise the program's words look like it: a file that the user may not read says the same.
    pub is_certain: bool,
}

impl SandboxViolation {
    /// A host that was refused.
    pub fn host(host: impl Into<String>) -> Self {
        Self { kind: ViolationKind::Host, subject: Some(host.into()), evidence: String::new(), is_certain: true }
    }

    /// What a line of the program's output looks like.
    pub fn likely(kind: ViolationKind, subject: Option<String>, evidence: impl Into<String>) -> Self {
        Self { kind, subject, evidence: evidence.into(), is_certain: false }
    }
}

//! The port to those who know code.

use std::fmt::Debug;
use std::path::PathBuf;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_context::Diagnostic;

use crate::CodeError;

/// Knows code: a language server, an editor, an index.
///
/// ```
/// # mod windlass { pub use windlass_lsp as lsp; }
/// use windlass::lsp::{CodeAnswer, CodeError, CodeIntelligence, CodeOperation, CodeQuery};
///
/// /// A host that knows which tests have failed last.
/// #[derive(Debug)]
/// struct LastRun(String);
///
/// #[async_trait::async_trait]
/// impl CodeIntelligence for LastRun {
///     fn offers(&self, operation: CodeOperation) -> bool {
///         operation == CodeOperation::TestFailures
///     }
///
///     async fn ask(&self, _: CodeQuery) -> Result<CodeAnswer, CodeError> {
///         Ok(CodeAnswer::Text(self.0.clone()))
///     }
/// }
/// ```
#[async_trait]
pub trait CodeIntelligence: Debug + Send + Sync + 'static {
    /// Whether it can answer this kind of question for some files. The model is offered only operations for which this holds.
    fn offers(&self, operation: CodeOperation) -> bool;

    /// Answers a question. Cancel safe: a question that is dropped has no effect on later ones.
    ///
    /// # Errors
    /// No one can answer it, who could has failed, or the answer took too long.
    async fn ask(&self, query: CodeQuery) -> Result<CodeAnswer, CodeError>;
}

/// A kind of question about code, in the names that models know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum CodeOperation {
    /// Where the name at a place is defined.
    GoToDefinition,
    /// Where the name at a place is used.
    FindReferences,
    /// The type and documentation of the name at a place.
    Hover,
    /// What a file defines.
    DocumentSymbol,
    /// What the project defines by a name.
    WorkspaceSymbol,
    /// What implements the name at a place.
    GoToImplementation,
    /// What calls the function at a place.
    IncomingCalls,
    /// What the function at a place calls.
    OutgoingCalls,
    /// What compilers and linters say of a file.
    Diagnostics,
    /// Which files have changed.
    ChangedFiles,
    /// Which tests have failed last.
    TestFailures,
}

impl CodeOperation {
    /// All operations.
    pub const ALL: [Self; 11] = [
        Self::GoToDefinition,
        Self::FindReferences,
        Self::Hover,
        Self::DocumentSymbol,
        Self::WorkspaceSymbol,
        Self::GoToImplementation,
        Self::IncomingCalls,
        Self::OutgoingCalls,
        Self::Diagnostics,
        Self::ChangedFiles,
        Self::TestFailures,
    ];

    /// The name that models use, such as `findReferences`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GoToDefinition => "goToDefinition",
            Self::FindReferences => "findReferences",
            Self::Hover => "hover",
            Self::DocumentSymbol => "documentSymbol",
            Self::WorkspaceSymbol => "workspaceSymbol",
            Self::GoToImplementation => "goToImplementation",
            Self::IncomingCalls => "incomingCalls",
            Self::OutgoingCalls => "outgoingCalls",
            Self::Diagnostics => "diagnostics",
            Self::ChangedFiles => "changedFiles",
            Self::TestFailures => "testFailures",
        }
    }

    /// Whether it is about a place in a file.
    pub fn needs_place(self) -> bool {
        matches!(
            self,
            Self::GoToDefinition
                | Self::FindReferences
                | Self::Hover
                | Self::GoToImplementation
                | Self::IncomingCalls
                | Self::OutgoingCalls
        )
    }

    /// Whether it is about a file.
    pub fn needs_file(self) -> bool {
        self.needs_place() || matches!(self, Self::DocumentSymbol | Self::Diagnostics)
    }
}

/// A question about code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeQuery {
    /// What is asked.
    pub operation: CodeOperation,
    /// The file that it is about: absolute, with links followed. `None` for questions about the whole project.
    pub path: Option<PathBuf>,
    /// The line, from one. Default: 1.
    pub line: u32,
    /// The character in the line, from one, counted as Unicode scalar values. Default: 1.
    pub character: u32,
    /// The name that is looked for, for [`CodeOperation::WorkspaceSymbol`].
    pub name: Option<String>,
}

impl CodeQuery {
    /// A question about the whole project.
    pub fn new(operation: CodeOperation) -> Self {
        Self { operation, path: None, line: 1, character: 1, name: None }
    }

    /// Says which file it is about.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Says which place of the file it is about; both counted from one.
    #[must_use]
    pub fn at(mut self, line: u32, character: u32) -> Self {
        (self.line, self.character) = (line, character);
        self
    }

    /// Says which name is looked for.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// The answer to a question about code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeAnswer {
    /// Places in files, in the order in which they matter.
    Places(Vec<CodePlace>),
    /// A text in the words of who answers.
    Text(String),
    /// What compilers and linters say.
    Diagnostics(Vec<Diagnostic>),
    /// Files.
    Files(Vec<PathBuf>),
}

/// A place in a file, and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodePlace {
    /// The file, absolute.
    pub path: PathBuf,
    /// The line, from one.
    pub line: u32,
    /// The character in the line, from one, as UTF-16 counts them.
    pub character: u32,
    /// The name that is there, if who answers says it.
    pub name: Option<String>,
    /// What kind of name it is, such as `function`.
    pub kind: Option<&'static str>,
    /// How deep it is nested among the names of its file. Default: 0.
    pub depth: u32,
}

impl CodePlace {
    /// A place without a name; line and character are counted from one.
    pub fn new(path: impl Into<PathBuf>, line: u32, character: u32) -> Self {
        Self { path: path.into(), line, character, name: None, kind: None, depth: 0 }
    }

    /// Says what is there.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>, kind: Option<&'static str>) -> Self {
        (self.name, self.kind) = (Some(name.into()), kind);
        self
    }
}

const _: fn(&dyn CodeIntelligence) = |_| {};

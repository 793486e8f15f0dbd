//! Port to code intelligence.

use std::fmt::Debug;
use std::path::PathBuf;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_context::Diagnostic;

use crate::CodeError;

/// Source of code intelligence: a language server, an editor, an index.
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
    /// `true` if this kind of question can be answered for some files. The model is offered only such operations.
    fn offers(&self, operation: CodeOperation) -> bool;

    /// Answers a question. Cancel safe: a question that is dropped has no effect on later ones.
    ///
    /// # Errors
    /// Fails if the question cannot be answered, the source has failed, or the answer took too long.
    async fn ask(&self, query: CodeQuery) -> Result<CodeAnswer, CodeError>;
}

/// Kind of a question about code, in the names that models know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum CodeOperation {
    /// Definition of the name at a place.
    GoToDefinition,
    /// Uses of the name at a place.
    FindReferences,
    /// The type and documentation of the name at a place.
    Hover,
    /// Definitions in a file.
    DocumentSymbol,
    /// Definitions of a name in the project.
    WorkspaceSymbol,
    /// Implementations of the name at a place.
    GoToImplementation,
    /// Callers of the function at a place.
    IncomingCalls,
    /// Functions called by the function at a place.
    OutgoingCalls,
    /// Errors and warnings of compilers and linters on a file.
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

    /// Returns the name that models use, such as `findReferences`.
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

    /// `true` if the question is about a place in a file.
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

    /// `true` if the question is about a file.
    pub fn needs_file(self) -> bool {
        self.needs_place() || matches!(self, Self::DocumentSymbol | Self::Diagnostics)
    }
}

/// Question about code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeQuery {
    /// Kind of the question.
    pub operation: CodeOperation,
    /// File of the question: absolute, with links followed. `None` for questions about the whole project.
    pub path: Option<PathBuf>,
    /// Line, from one. Default: 1.
    pub line: u32,
    /// Character in the line, from one, counted as Unicode scalar values. Default: 1.
    pub character: u32,
    /// Name to look for, for [`CodeOperation::WorkspaceSymbol`].
    pub name: Option<String>,
}

impl CodeQuery {
    /// Creates a question about the whole project.
    pub fn new(operation: CodeOperation) -> Self {
        Self { operation, path: None, line: 1, character: 1, name: None }
    }

    /// Sets the file of the question.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the place in the file; both numbers are counted from one.
    #[must_use]
    pub fn at(mut self, line: u32, character: u32) -> Self {
        (self.line, self.character) = (line, character);
        self
    }

    /// Sets the name to look for.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// Answer to a question about code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeAnswer {
    /// Places in files, the most relevant first.
    Places(Vec<CodePlace>),
    /// Text in the words of the source.
    Text(String),
    /// Diagnostics of compilers and linters.
    Diagnostics(Vec<Diagnostic>),
    /// Paths of files.
    Files(Vec<PathBuf>),
}

/// Place in a file, and the name there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodePlace {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// Line, from one.
    pub line: u32,
    /// Character in the line, from one, counted as UTF-16 units.
    pub character: u32,
    /// Name at the place, if the source gives it.
    pub name: Option<String>,
    /// Kind of the name, such as `function`.
    pub kind: Option<&'static str>,
    /// Nesting depth among the names of its file. Default: 0.
    pub depth: u32,
}

impl CodePlace {
    /// Creates a place without a name; line and character are counted from one.
    pub fn new(path: impl Into<PathBuf>, line: u32, character: u32) -> Self {
        Self { path: path.into(), line, character, name: None, kind: None, depth: 0 }
    }

    /// Sets the name at the place, and its kind.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>, kind: Option<&'static str>) -> Self {
        (self.name, self.kind) = (Some(name.into()), kind);
        self
    }
}

const _: fn(&dyn CodeIntelligence) = |_| {};

//! Tool `LSP`: questions about code, for a model.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass_tool::{Annotations, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;
use windlass_types::text::{clean_line, visible_path};

use crate::{CodeAnswer, CodeIntelligence, CodeOperation, CodePlace, CodeQuery, files};

/// Maximum number of lines of a result.
const MOST_LINES: usize = 200;
/// Maximum length of a name to look for, in characters.
const LONGEST_NAME: usize = 200;

/// Tool for questions about code: definitions, references, types, symbols, calls, diagnostics.
#[derive(Debug, Clone)]
pub struct Lsp {
    code: Arc<dyn CodeIntelligence>,
}

impl Lsp {
    /// Creates the tool over a source of code intelligence.
    pub fn new(code: Arc<dyn CodeIntelligence>) -> Self {
        Self { code }
    }
}

/// Input of the tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LspInput {
    /// Kind of the question.
    pub operation: CodeOperation,
    /// The file; needed for all but workspaceSymbol, changedFiles and testFailures.
    #[serde(default)]
    pub file_path: Option<PathBuf>,
    /// The line of the name, from 1, as Read shows it.
    #[serde(default)]
    pub line: Option<u32>,
    /// The name itself as it stands in that line; the first one counts. Better than counting characters.
    #[serde(default)]
    pub symbol: Option<String>,
    /// The character of the name in its line, from 1, in the place of symbol.
    #[serde(default)]
    pub character: Option<u32>,
    /// The name to look for, for workspaceSymbol.
    #[serde(default)]
    pub query: Option<String>,
}

impl Tool for Lsp {
    const NAME: &'static str = "LSP";
    const DESCRIPTION: &'static str = "\
Asks the language server about code, exactly and without text search.

- goToDefinition, findReferences, goToImplementation, hover, incomingCalls, outgoingCalls: give filePath, line and symbol.
- documentSymbol lists what a file defines; diagnostics lists its errors and warnings: give filePath.
- workspaceSymbol finds what the project defines by a name: give query.
- changedFiles and testFailures are there if the program knows them.

Results are places (path:line:character); Read shows what stands there. The first question may take long, since the server \
reads the project first. For files without a server use Grep.";
    type Input = LspInput;
    type Output = ToolOutput;

    fn access(&self, input: &LspInput) -> Access {
        Access::reads(input.file_path.clone().unwrap_or_else(|| PathBuf::from(".")))
    }

    fn title(&self, input: &LspInput) -> Cow<'static, str> {
        let of = input.symbol.as_deref().or(input.query.as_deref()).unwrap_or_default();
        let path = input.file_path.as_ref().map(|path| format!(" in {}", path.display())).unwrap_or_default();
        Cow::Owned(format!("LSP {} {of}{path}", input.operation.as_str()))
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_foreign_output()
    }

    async fn call(&self, input: LspInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        if !cx.workspace().is_local() {
            return Err(ToolError::rejected(
                "The language server needs the files to be on this machine. Use Grep instead.",
            ));
        }
        if !self.code.offers(input.operation) {
            let offered = CodeOperation::ALL.iter().filter(|operation| self.code.offers(**operation));
            let offered: Vec<_> = offered.map(|operation| operation.as_str()).collect();
            let operation = input.operation.as_str();
            return Err(ToolError::rejected(format!("{operation} is not available here, but {}.", offered.join(", "))));
        }
        let query = query(&input, cx).await?;
        let answer = tokio::select! {
            answer = self.code.ask(query) => answer,
            () = cx.cancel().cancelled() => return Err(ToolError::cancelled()),
        };
        let answer = answer.map_err(|error| ToolError::rejected(format!("{error}.")).with_source(error))?;
        let (text, count) = shown(answer, cx);
        ToolOutput::text(text).with_structured(&json!({ "operation": input.operation.as_str(), "resultCount": count }))
    }
}

/// Builds the question of an input.
async fn query(input: &LspInput, cx: &ToolCx) -> Result<CodeQuery, ToolError> {
    let missing = |what: &str| ToolError::invalid_input(format!("{} needs {what}", input.operation.as_str()));
    let query = CodeQuery::new(input.operation);
    if input.operation == CodeOperation::WorkspaceSymbol {
        let name = input.query.as_deref().or(input.symbol.as_deref()).map(str::trim).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| missing("query"))?;
        if name.chars().count() > LONGEST_NAME {
            return Err(ToolError::invalid_input(format!("`query` has at most {LONGEST_NAME} characters")));
        }
        return Ok(query.named(name));
    }
    if !input.operation.needs_file() {
        return Ok(query);
    }
    let path = cx.absolute(input.file_path.as_deref().ok_or_else(|| missing("filePath"))?);
    let judged = cx.permit().readable(&path).map(|judged| judged.resolved.clone());
    let resolved = judged.ok_or_else(|| ToolError::rejected(format!("{} may not be read.", path.display())))?;
    let query = query.in_file(&resolved);
    if !input.operation.needs_place() {
        return Ok(query);
    }
    let line = input.line.filter(|line| *line > 0).ok_or_else(|| missing("line, from 1"))?;
    let character = match (&input.symbol, input.character) {
        (Some(symbol), _) => character_of(&resolved, line, symbol).await?,
        (None, Some(character)) if character > 0 => character,
        _ => return Err(missing("symbol, or character from 1")),
    };
    Ok(query.at(line, character))
}

/// Returns the position of a name in a line, from one.
async fn character_of(path: &Path, line: u32, symbol: &str) -> Result<u32, ToolError> {
    let text = files::text(path).await.map_err(|error| ToolError::rejected(format!("{error}.")))?;
    let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(found) = text.lines().nth(at) else {
        let lines = text.lines().count();
        return Err(ToolError::rejected(format!("{} has {lines} lines, no line {line}.", path.display())));
    };
    let Some(before) = word_at(found, symbol.trim()) else {
        return Err(ToolError::rejected(format!("Line {line} of {} does not hold {symbol:?}.", path.display())));
    };
    let before = found.get(..before).unwrap_or_default().chars().count();
    Ok(u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1))
}

/// Returns the byte at which a name begins in a line: as a whole word if possible.
fn word_at(line: &str, name: &str) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let is_word = |at: usize| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let behind = line.get(at + name.len()..).and_then(|text| text.chars().next());
        !is_part(before) && !is_part(behind)
    };
    let mut all = line.match_indices(name).map(|(at, _)| at);
    all.clone().find(|at| is_word(*at)).or_else(|| all.next())
}

/// Formats an answer for the model, and returns the number of results.
fn shown(answer: CodeAnswer, cx: &ToolCx) -> (String, usize) {
    let (lines, hidden) = match answer {
        CodeAnswer::Text(text) if text.trim().is_empty() => (Vec::new(), 0),
        CodeAnswer::Text(text) => return (windlass_types::text::clean(&text), 1),
        CodeAnswer::Places(places) => kept(&places, cx, |place| &place.path, |place| place_line(place, cx)),
        CodeAnswer::Files(files) => kept(&files, cx, |path| path, |path| visible_path(relative(path, cx))),
        CodeAnswer::Diagnostics(said) => kept(
            &said,
            cx,
            |one| &one.path,
            |one| {
                let source = one.source.as_ref().map(|source| format!(" [{}]", clean_line(source))).unwrap_or_default();
                let path = visible_path(relative(&one.path, cx));
                format!("{path}:{}: {:?}{source}: {}", one.line, one.severity, clean_line(&one.message))
            },
        ),
    };
    let count = lines.len();
    let mut text = lines.iter().take(MOST_LINES).cloned().collect::<Vec<_>>().join("\n");
    if count > MOST_LINES {
        // Writing to a text cannot fail.
        let _ = write!(text, "\nand {} more.", count - MOST_LINES);
    }
    if hidden > 0 {
        let _ = write!(text, "\n{hidden} in files that may not be read are left out.");
    }
    if count == 0 {
        text.insert_str(0, "Nothing was found.");
    }
    (text, count)
}

/// Returns a line for each item whose file may be read, and the number of the others.
fn kept<T>(items: &[T], cx: &ToolCx, path: fn(&T) -> &PathBuf, line: impl Fn(&T) -> String) -> (Vec<String>, usize) {
    let all = items.len();
    let lines: Vec<String> = items.iter().filter(|item| cx.permit().allows(path(item))).map(line).collect();
    let hidden = all - lines.len();
    (lines, hidden)
}

fn place_line(place: &CodePlace, cx: &ToolCx) -> String {
    let indent = "  ".repeat(usize::try_from(place.depth).unwrap_or_default());
    let name = place.name.as_ref().map(|name| format!("{} ", clean_line(name))).unwrap_or_default();
    let kind = place.kind.map(|kind| format!("({kind}) ")).unwrap_or_default();
    let path = visible_path(relative(&place.path, cx));
    format!("{indent}{name}{kind}{path}:{}:{}", place.line, place.character)
}

/// Returns a path of the workspace relative to the current directory.
fn relative(path: &Path, cx: &ToolCx) -> String {
    path.strip_prefix(cx.cwd()).unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_word_first() {
        for (line, name, expected) in [
            ("let ab = a;", "a", Some(9)),
            ("let ab = 1;", "a", Some(4)),
            ("é.name()", "name", Some(3)),
            ("x", "", None),
            ("x", "y", None),
        ] {
            assert_eq!(word_at(line, name), expected, "{line} {name}");
        }
    }
}

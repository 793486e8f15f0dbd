//! Tolerant parsing of server answers: items of another shape are left out. Pure.

use std::path::Path;

use serde_json::Value;
use windlass_context::{Diagnostic, Severity};

use crate::CodePlace;
use crate::error::clipped;
use crate::uri;

/// Maximum number of places of an answer.
const MOST_PLACES: usize = 1000;
/// Maximum number of diagnostics of a file.
const MOST_DIAGNOSTICS: usize = 1000;
/// Maximum number of levels of nested symbols.
const DEEPEST: u32 = 16;
/// Maximum length of a text, in characters.
const LONGEST_TEXT: usize = 20_000;

/// Returns the places of an answer: one or many, as `Location` or as `LocationLink`.
pub(crate) fn places(answer: &Value) -> Vec<CodePlace> {
    let place = |value: &Value| {
        let link = value.get("targetUri");
        let uri = link.or_else(|| value.get("uri"))?.as_str()?;
        let range = match link {
            Some(_) => value.get("targetSelectionRange").or_else(|| value.get("targetRange")),
            None => value.get("range"),
        };
        at(uri, range)
    };
    items(answer).iter().filter_map(place).take(MOST_PLACES).collect()
}

/// Returns the symbols that a file defines, in its order: nested ones, or a flat list with places.
pub(crate) fn document_symbols(path: &Path, answer: &Value) -> Vec<CodePlace> {
    let mut found = Vec::new();
    // Stack of the remaining symbols with their depths; the next one is at the end.
    let mut open: Vec<(u32, &Value)> = items(answer).iter().rev().map(|symbol| (0, symbol)).collect();
    while let Some((depth, symbol)) = open.pop() {
        if found.len() >= MOST_PLACES {
            break;
        }
        if symbol.get("location").is_some() {
            found.extend(flat_symbol(symbol));
            continue;
        }
        let range = symbol.get("selectionRange").or_else(|| symbol.get("range"));
        if let Some((line, character)) = range.and_then(start) {
            let mut place = named(CodePlace::new(path, line, character), symbol);
            place.depth = depth;
            found.push(place);
        }
        if depth < DEEPEST {
            let children = symbol.get("children").map(items).unwrap_or_default();
            open.extend(children.iter().rev().map(|child| (depth + 1, child)));
        }
    }
    found
}

/// Returns the symbols of a project that an answer lists.
pub(crate) fn workspace_symbols(answer: &Value) -> Vec<CodePlace> {
    items(answer).iter().filter_map(flat_symbol).take(MOST_PLACES).collect()
}

/// Returns the functions at the other end of calls: `from` of incoming, `to` of outgoing ones.
pub(crate) fn calls(answer: &Value, end: &str) -> Vec<CodePlace> {
    let place = |call: &Value| {
        let item = call.get(end)?;
        let range = item.get("selectionRange").or_else(|| item.get("range"));
        Some(named(at(item.get("uri")?.as_str()?, range)?, item))
    };
    items(answer).iter().filter_map(place).take(MOST_PLACES).collect()
}

/// Returns the hover text of a place.
pub(crate) fn hover(answer: &Value) -> Option<String> {
    let contents = answer.get("contents")?;
    let parts: Vec<&str> = match contents {
        Value::Array(parts) => parts.iter().filter_map(marked).collect(),
        one => marked(one).into_iter().collect(),
    };
    let text = parts.join("\n\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(LONGEST_TEXT).collect())
}

/// Returns the diagnostics of a file: the items of a notification, or of an answer.
pub(crate) fn diagnostics(path: &Path, said: &Value) -> Vec<Diagnostic> {
    let read = |value: &Value| {
        let (line, _) = start(value.get("range")?)?;
        let message = clipped(value.get("message")?.as_str()?);
        let severity = match value.get("severity").and_then(Value::as_u64) {
            // Without a severity the client decides; it may be an error.
            None | Some(1) => Severity::Error,
            Some(2) => Severity::Warning,
            Some(_) => Severity::Hint,
        };
        let diagnostic = Diagnostic::error(path, line, message).with_severity(severity);
        Some(match value.get("source").and_then(Value::as_str) {
            Some(source) => diagnostic.with_source(clipped(source)),
            None => diagnostic,
        })
    };
    items(said).iter().filter_map(read).take(MOST_DIAGNOSTICS).collect()
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

fn marked(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("value")?.as_str())
}

fn flat_symbol(symbol: &Value) -> Option<CodePlace> {
    let location = symbol.get("location")?;
    Some(named(at(location.get("uri")?.as_str()?, location.get("range"))?, symbol))
}

fn named(place: CodePlace, symbol: &Value) -> CodePlace {
    let Some(name) = symbol.get("name").and_then(Value::as_str) else { return place };
    place.with_name(clipped(name), symbol.get("kind").and_then(Value::as_u64).and_then(kind))
}

fn at(uri: &str, range: Option<&Value>) -> Option<CodePlace> {
    // Some servers name a file without a position in it.
    let (line, character) = range.and_then(start).unwrap_or((1, 1));
    Some(CodePlace::new(uri::to_path(uri)?, line, character))
}

/// Returns the start of a range, counted from one.
fn start(range: &Value) -> Option<(u32, u32)> {
    let start = range.get("start")?;
    let number = |name: &str| Some(u32::try_from(start.get(name)?.as_u64()?).ok()?.saturating_add(1));
    Some((number("line")?, number("character")?))
}

fn kind(number: u64) -> Option<&'static str> {
    const KINDS: [&str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "enum member",
        "struct",
        "event",
        "operator",
        "type parameter",
    ];
    KINDS.get(usize::try_from(number.checked_sub(1)?).ok()?).copied()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn range(line: u64, character: u64) -> Value {
        json!({"start": {"line": line, "character": character}, "end": {"line": line, "character": character}})
    }

    fn shown(places: &[CodePlace]) -> Vec<String> {
        let show = |place: &CodePlace| {
            let (name, kind) = (place.name.as_deref().unwrap_or_default(), place.kind.unwrap_or_default());
            format!("{}:{}:{} {name} {kind} {}", place.path.display(), place.line, place.character, place.depth)
        };
        places.iter().map(show).collect()
    }

    #[test]
    fn places_come_in_each_of_their_shapes() {
        let location = json!({"uri": "file:///a", "range": range(0, 4)});
        let link = json!({"targetUri": "file:///b", "targetRange": range(1, 1), "targetSelectionRange": range(2, 2)});
        let odd = json!([location, link, 1, {"uri": "http://a", "range": range(0, 0)}, {"uri": "file:///c"}]);
        assert_eq!(shown(&places(&odd)), ["/a:1:5   0", "/b:3:3   0", "/c:1:1   0"]);
        assert_eq!(places(&location).len(), 1);
        assert!(places(&Value::Null).is_empty());
        let many: Vec<&Value> = std::iter::repeat_n(&location, 5000).collect();
        assert_eq!(places(&json!(many)).len(), MOST_PLACES);
    }

    #[test]
    fn symbols_keep_their_order_and_depth() {
        let nested = json!([
            {"name": "A", "kind": 5, "range": range(0, 0), "selectionRange": range(0, 6), "children": [
                {"name": "f\n", "kind": 6, "range": range(1, 0), "selectionRange": range(1, 8)},
            ]},
            {"name": "B", "kind": 99, "range": range(5, 0)},
        ]);
        let names = document_symbols(Path::new("/a.py"), &nested);
        assert_eq!(shown(&names), ["/a.py:1:7 A class 0", "/a.py:2:9 f  method 1", "/a.py:6:1 B  0"]);
        let flat = json!([{"name": "f", "kind": 12, "location": {"uri": "file:///x", "range": range(3, 0)}}]);
        assert_eq!(shown(&workspace_symbols(&flat)), ["/x:4:1 f function 0"]);
        assert_eq!(document_symbols(Path::new("/a.py"), &flat), workspace_symbols(&flat));
        let call =
            json!([{"from": {"name": "g", "kind": 12, "uri": "file:///x", "range": range(0, 0)}, "fromRanges": []}]);
        assert_eq!(shown(&calls(&call, "from")), ["/x:1:1 g function 0"]);
    }

    #[test]
    fn texts_and_diagnostics_are_bounded() {
        for (contents, expected) in [
            (json!("a"), Some("a")),
            (json!({"kind": "markdown", "value": "b"}), Some("b")),
            (json!([{"language": "rust", "value": "fn"}, "c"]), Some("fn\n\nc")),
            (json!([]), None),
        ] {
            assert_eq!(hover(&json!({ "contents": contents })).as_deref(), expected);
        }
        assert_eq!(hover(&json!({"contents": "x".repeat(90_000)})).unwrap().len(), LONGEST_TEXT);
        let said = json!([
            {"range": range(2, 0), "message": "bad\u{1b}[0m\nline", "severity": 2, "source": "pyright"},
            {"range": range(0, 0), "message": "y".repeat(9000)},
            {"message": "nowhere"},
        ]);
        let found = diagnostics(Path::new("/a"), &said);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].severity, found[0].message.as_str()), (3, Severity::Warning, "bad line"));
        assert_eq!(found[1].message.len(), 500);
    }

    proptest! {
        #[test]
        fn any_answer_is_read(text in "[\\[\\]{}\",:a-z0-9]{0,40}") {
            let answer: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            let _ = (places(&answer), document_symbols(Path::new("/a"), &answer), workspace_symbols(&answer));
            let _ = (calls(&answer, "to"), hover(&answer), diagnostics(Path::new("/a"), &answer));
        }
    }
}

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::*;

/// A notebook as written by Jupyter, with unknown fields.
const JUPYTER: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {"tags":   ["keep", 1.50]},
   "source": [
    "# Title"
   ]
  },
  {
   "attachments": {},
   "cell_type": "code",
   "execution_count": 7,
   "id": "b2",
   "metadata": {},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["1\n"]}
   ],
   "source": [
    "x = 1\n",
    "print(x)"
   ],
   "zz_unknown": null
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "c3",
   "metadata": {},
   "outputs": [],
   "source": []
  }
 ],
 "metadata": {"language_info": {"name": "julia"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

#[track_caller]
fn changed(text: &str, change: Change<'_>) -> String {
    Notebook::read(text.as_bytes()).unwrap().changed(change).unwrap().text
}

fn replace<'c>(cell: &'c str, source: &'c str) -> Change<'c> {
    Change::Replace { cell, kind: None, source }
}

#[test]
fn a_source_is_replaced_where_it_stands() {
    let expected = JUPYTER
        .replace("\"execution_count\": 7", "\"execution_count\": null")
        .replace("[\n    {\"name\": \"stdout\", \"output_type\": \"stream\", \"text\": [\"1\\n\"]}\n   ]", "[]")
        .replace("    \"x = 1\\n\",\n    \"print(x)\"", "    \"y = 2\\n\",\n    \"\\n\",\n    \"é\\\"\\n\"");
    assert_eq!(changed(JUPYTER, replace("b2", "y = 2\n\né\"\n")), expected);
    let expected = JUPYTER.replace("\"# Title\"", "\"# Other\"");
    assert_eq!(changed(JUPYTER, replace("a1", "# Other")), expected);
    let emptied = JUPYTER.replace("[\n    \"# Title\"\n   ]", "[]");
    assert_eq!(changed(JUPYTER, replace("cell-1", "")), emptied);
    assert_eq!(changed(&emptied, replace("a1", "# Title")), JUPYTER, "and back");
}

#[test]
fn a_cell_is_inserted_and_removed_without_a_trace() {
    let insert = |after| Change::Insert { after, kind: "code", source: "a\nb", id: "new" };
    for after in [None, Some("a1"), Some("b2"), Some("c3")] {
        let text = changed(JUPYTER, insert(after));
        let cell = concat!(
            "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"new\",\n   \"metadata\": {},\n",
            "   \"outputs\": [],\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  }",
        );
        assert!(text.contains(cell), "{text}");
        assert_eq!(changed(&text, Change::Delete { cell: "new" }), JUPYTER, "{after:?}");
    }
    let alone = changed(&changed(JUPYTER, Change::Delete { cell: "a1" }), Change::Delete { cell: "b2" });
    let none = changed(&alone, Change::Delete { cell: "c3" });
    assert!(none.starts_with("{\n \"cells\": [],\n"), "{none}");
    let again = changed(&none, Change::Insert { after: None, kind: "markdown", source: "x", id: "new" });
    let cell = "[\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"new\",\n   \"metadata\": {},\n   \"source\": [\n    \"x\"\n   ]\n  }\n ]";
    assert!(again.starts_with(&format!("{{\n \"cells\": {cell},\n")), "{again}");
}

#[test]
fn a_type_is_changed_and_unknown_members_stay() {
    let text = changed(JUPYTER, Change::Replace { cell: "b2", kind: Some("markdown"), source: "text" });
    let cell: Value = serde_json::from_str::<Value>(&text).unwrap()["cells"][1].clone();
    let expected = json!({
        "attachments": {}, "cell_type": "markdown", "id": "b2", "metadata": {}, "source": ["text"], "zz_unknown": null,
    });
    assert_eq!(cell, expected);
    let text = changed(&text, Change::Replace { cell: "b2", kind: Some("code"), source: "x = 1\nprint(x)" });
    let back = changed(JUPYTER, replace("b2", "other"));
    assert_eq!(text, changed(&back, replace("b2", "x = 1\nprint(x)")));
}

#[test]
fn other_layouts_are_kept() {
    // In one line, with texts instead of arrays, without ids, in ASCII.
    let text = r#"{"cells":[{"cell_type":"code","source":"\u00e9","metadata":{},"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":2}"#;
    assert_eq!(changed(text, replace("cell-1", "ü\n😀")), text.replace("\\u00e9", "\\u00fc\\n\\ud83d\\ude00"));
    let inserted = changed(text, Change::Insert { after: Some("cell-1"), kind: "markdown", source: "x", id: "id" });
    let expected = r#""execution_count":null},{"cell_type":"markdown","metadata":{},"source":["x"]}],"#;
    assert!(inserted.contains(expected), "{inserted}");
    // With tabs and the line breaks of Windows.
    let text = JUPYTER.replace("\n ", "\n\t").replace('\n', "\r\n");
    let inserted = changed(&text, Change::Insert { after: Some("a1"), kind: "markdown", source: "x", id: "new" });
    assert_eq!(inserted.matches('\n').count(), inserted.matches("\r\n").count());
    assert_eq!(changed(&inserted, Change::Delete { cell: "new" }), text);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let doubled = JUPYTER.replace("\"c3\"", "\"a1\"");
    let notebook = Notebook::read(doubled.as_bytes()).unwrap();
    for (change, expected) in [
        (replace("a1", "x"), "2 cells have the id \"a1\". Name one as cell-1 or cell-3."),
        (replace("zz", "x"), "No cell has the id \"zz\"; there are 3 cells."),
        (Change::Delete { cell: "cell-0" }, "No cell has the id \"cell-0\""),
        (Change::Delete { cell: "cell-4" }, "No cell has the id \"cell-4\""),
        (replace("b2", "x = 1\nprint(x)"), "has this source already"),
    ] {
        let error = notebook.changed(change).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    for (text, expected) in [
        ("", "is not valid JSON"),
        ("[]", "is not valid JSON"),
        ("{\"nbformat\":3,\"worksheets\":[]}", "not a notebook of the format 4: its `nbformat` is 3"),
        ("{}", "its `nbformat` is none"),
        ("{\"nbformat\":4}", "has no array `cells`"),
        ("{\"nbformat\":4,\"cells\":[1]}", "has a cell 1 that is no object"),
        ("{\"nbformat\":4,\"cells\":[{}]}", "has a cell 1 without a `cell_type`"),
        ("{\"nbformat\":4,\"cells\":[{\"cell_type\":\"code\",\"source\":1}]}", "whose `source` is no text"),
    ] {
        let error = Notebook::read(text.as_bytes()).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    assert!(Notebook::read(b"\xFF").unwrap_err().contains("not in UTF-8"));
}

/// Cells of any kind, with unknown members.
fn cell() -> impl Strategy<Value = Value> {
    let source = prop_oneof![
        "[a-z\"\\\\\n é😀]{0,12}".prop_map(Value::from),
        proptest::collection::vec("[a-z\"\\\\ é]{0,6}\n", 0..4).prop_map(Value::from),
    ];
    let kind = prop_oneof![Just("code"), Just("markdown"), Just("raw")];
    (source, kind, any::<bool>(), "[a-z]{0,3}", any::<i32>()).prop_map(|(source, kind, run, name, number)| {
        let mut cell = json!({ "cell_type": kind, "metadata": { name.clone(): number }, "source": source });
        if kind == "code" {
            cell["outputs"] = if run { json!([{ "output_type": "stream", "text": name }]) } else { json!([]) };
            cell["execution_count"] = if run { json!(number) } else { Value::Null };
        }
        cell[format!("x{name}")] = json!([number, { "}": "]" }]);
        cell
    })
}

/// A notebook in one of several layouts.
fn laid_out(cells: &[Value], layout: u8) -> String {
    let notebook = json!({ "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2 });
    let pretty = serde_json::to_string_pretty(&notebook).unwrap();
    match layout {
        0 => serde_json::to_string(&notebook).unwrap(),
        1 => pretty,
        2 => pretty.replace("\n", "\r\n"),
        _ => {
            let mut tabs = Vec::new();
            let formatter = serde_json::ser::PrettyFormatter::with_indent(b"\t");
            notebook.serialize(&mut serde_json::Serializer::with_formatter(&mut tabs, formatter)).unwrap();
            String::from_utf8(tabs).unwrap() + "\n"
        }
    }
}

proptest! {
    /// Compared with the same change of the parsed value. No byte outside the cell changes.
    #[test]
    fn changes_are_exact(
        cells in proptest::collection::vec(cell(), 1..5),
        layout in 0_u8..4,
        at in any::<prop::sample::Index>(),
        source in "[a-z\"\\\\\n\té😀]{0,20}",
        kind in prop_oneof![Just("code"), Just("markdown")],
    ) {
        let text = laid_out(&cells, layout);
        let notebook = Notebook::read(text.as_bytes()).unwrap();
        let at = at.index(cells.len());
        let name = format!("cell-{}", at + 1);
        let place = span(&text, notebook.cells[at].text);
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap()["cells"].as_array().unwrap().clone();
        let read_source = |text: &str, at: usize| Notebook::read(text.as_bytes()).unwrap().cells[at].source.clone();

        if let Ok(done) = notebook.changed(Change::Replace { cell: &name, kind: Some(kind), source: &source }) {
            prop_assert!(done.text.starts_with(text.get(..place.start).unwrap()));
            prop_assert!(done.text.ends_with(text.get(place.end..).unwrap()));
            let mut cell = parsed(&done.text)[at].clone();
            prop_assert_eq!(read_source(&done.text, at), source.clone());
            let mut expected = cells[at].clone();
            expected["cell_type"] = kind.into();
            if kind == "code" {
                expected["outputs"] = json!([]);
                expected["execution_count"] = Value::Null;
            } else {
                expected.as_object_mut().unwrap().remove("outputs");
                expected.as_object_mut().unwrap().remove("execution_count");
            }
            for cell in [&mut cell, &mut expected] {
                cell.as_object_mut().unwrap().remove("source");
            }
            prop_assert_eq!(cell, expected);
        }

        let inserted = notebook.changed(Change::Insert { after: Some(&name), kind, source: &source, id: "x" }).unwrap();
        prop_assert_eq!(read_source(&inserted.text, at + 1), source);
        prop_assert!(inserted.text.starts_with(text.get(..place.end).unwrap()));
        prop_assert!(inserted.text.ends_with(text.get(place.end..).unwrap()));
        let deleted = notebook.changed(Change::Delete { cell: &name }).unwrap();
        let mut expected = cells.clone();
        expected.remove(at);
        prop_assert_eq!(parsed(&deleted.text), expected);
        let back = Notebook::read(inserted.text.as_bytes()).unwrap();
        let back = back.changed(Change::Delete { cell: &inserted.cell }).unwrap();
        prop_assert_eq!(back.text, text);
    }
}

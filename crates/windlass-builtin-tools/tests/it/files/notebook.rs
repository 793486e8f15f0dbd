use serde_json::{Value, json};
use windlass_types::{ContentBlock, ToolResultContent};

use crate::files::session::{Session, structured};

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A notebook with outputs of each kind.
fn notebook() -> String {
    let (head, tail) = PIXEL.split_at(40);
    let notebook = json!({
        "cells": [
            { "cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "Text"] },
            { "cell_type": "code", "id": "plot", "metadata": {}, "execution_count": 3, "source": "plot(x)", "outputs": [
                { "output_type": "stream", "name": "stderr", "text": ["\u{1b}[31mwarn\u{1b}[0m\n"] },
                { "output_type": "display_data", "metadata": {}, "data": {
                    "image/png": [format!("{head}\n"), tail], "text/plain": "<Figure>" } },
                { "output_type": "execute_result", "execution_count": 3, "metadata": {}, "data": {
                    "text/html": "<b>2</b>", "text/plain": ["2"] } },
                { "output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["line 1", "\u{1b}[1mline 2"] },
            ] },
            { "cell_type": "raw", "id": "end", "metadata": {}, "source": [] },
        ],
        "metadata": { "kernelspec": { "language": "R" } }, "nbformat": 4, "nbformat_minor": 5,
    });
    serde_json::to_string_pretty(&notebook).unwrap()
}

async fn edit(session: &Session, input: Value) -> Result<String, String> {
    let mut whole = json!({ "notebook_path": "/w/a.ipynb", "new_source": "" });
    whole.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
    session.call("NotebookEdit", whole).await.map(|output| output.content.text())
}

#[tokio::test]
async fn cells_and_outputs_are_shown_with_images_at_their_places() {
    let session = Session::new();
    session.put("/w/a.ipynb", notebook());
    let output = session.call("Read", json!({ "file_path": "/w/a.ipynb" })).await.unwrap();
    let ToolResultContent::Blocks(blocks) = &output.content else { panic!("{output:?}") };
    let [ContentBlock::Text { text: before, .. }, ContentBlock::Image { .. }, ContentBlock::Text { text: behind, .. }] =
        blocks.as_slice()
    else {
        panic!("{blocks:?}")
    };
    let expected = "[Notebook: 3 cells, language R, format 4.5. A cell is named by its id.]\n\n\
        --- cell 1, id intro, markdown ---\n# Title\nText\n\n\
        --- cell 2, id plot, code, run 3 ---\nplot(x)\n--- output, stderr ---\nwarn\n--- output, image/png ---\n";
    assert_eq!(before, expected);
    let expected = "--- output, text/plain (also as text/html) ---\n2\n--- error, ValueError: bad ---\nline 1\nline 2\n\n\
        --- cell 3, id end, raw ---\n";
    assert_eq!(behind, expected);
    let data = structured(&output);
    assert_eq!(
        (&data["type"], &data["file"]["cells"][1]["outputs"][0]["output_type"]),
        (&json!("notebook"), &json!("stream"))
    );
    assert!(!data.to_string().contains(PIXEL), "images stand in the content alone");
}

#[tokio::test]
async fn large_notebooks_come_in_pages_of_cells() {
    let session = Session::new();
    let cell = |at: usize| json!({ "cell_type": "code", "metadata": {}, "outputs": [], "source": format!("{at} {}", "x".repeat(6_000)) });
    let cells: Vec<Value> = (1..=40).map(cell).collect();
    session.put("/w/a.ipynb", json!({ "cells": cells, "nbformat": 4, "nbformat_minor": 4 }).to_string());
    let first = session.read("/w/a.ipynb").await;
    let note = first.lines().last().unwrap();
    assert!(note.starts_with("[PARTIAL: cells 1-") && note.contains(" of 40. To go on, Read with offset "), "{note}");
    let next: u64 = note.trim_end_matches(".]").rsplit(' ').next().unwrap().parse().unwrap();
    let input = json!({ "file_path": "/w/a.ipynb", "offset": next, "limit": 2 });
    let second = session.call("Read", input).await.unwrap().content.text();
    assert!(second.contains(&format!("--- cell {next}, id cell-{next}, code ---\n{next} xxx")), "{second}");
    assert!(second.contains(&format!("[PARTIAL: cells {next}-{} of 40", next + 1)));
    let beyond = session.call("Read", json!({ "file_path": "/w/a.ipynb", "offset": 41 })).await.unwrap_err();
    assert!(beyond.contains("has only 40 cells"), "{beyond}");
    // One cell that is larger than a page is cut, and a large output loses its middle.
    let output = json!([{ "output_type": "stream", "name": "stdout", "text": "é".repeat(100_000) }]);
    let huge = json!({ "cell_type": "code", "metadata": {}, "outputs": output, "source": "y".repeat(300_000) });
    session.put("/w/b.ipynb", json!({ "cells": [huge, cell(1)], "nbformat": 4 }).to_string());
    let cut = session.read("/w/b.ipynb").await;
    assert!(cut.contains("bytes of this cell left out") && cut.len() < 120_000, "{}", cut.len());
}

#[tokio::test]
async fn what_is_no_notebook_is_shown_as_text() {
    let session = Session::new();
    for (content, shown) in [
        ("{\"nbformat\": 3, \"worksheets\": []}", "1\t{\"nbformat\": 3"),
        ("{\"nbformat\": 4, \"cells\": [", "1\t{\"nbformat\": 4"),
        ("", "exists, but it is empty"),
    ] {
        session.put("/w/old.ipynb", content);
        let text = session.read("/w/old.ipynb").await;
        assert!(text.contains(shown), "{text}");
    }
}

#[tokio::test]
async fn cells_are_changed_by_the_rules_of_edits() {
    let session = Session::new();
    session.put("/w/a.ipynb", notebook());
    let error = edit(&session, json!({ "cell_id": "plot", "new_source": "x" })).await.unwrap_err();
    assert!(error.contains("has not been read in this session"), "{error}");
    session.read("/w/a.ipynb").await;
    let text = edit(&session, json!({ "cell_id": "plot", "new_source": "y = 2" })).await.unwrap();
    assert_eq!(text, "Replaced the source of the code cell plot in /w/a.ipynb. Its 4 outputs are gone.");
    let insert = json!({ "cell_id": "intro", "new_source": "z\n", "cell_type": "markdown", "edit_mode": "insert" });
    let text = edit(&session, insert).await.unwrap();
    let id = text.strip_prefix("Inserted the markdown cell ").unwrap().split(' ').next().unwrap().to_owned();
    assert!(text.ends_with(" into /w/a.ipynb, which has 4 cells now."), "{text}");
    edit(&session, json!({ "cell_id": "end", "edit_mode": "delete" })).await.unwrap();
    let shown = session.read("/w/a.ipynb").await;
    assert!(shown.contains(&format!("--- cell 2, id {id}, markdown ---\nz\n")), "{shown}");
    assert!(shown.contains("--- cell 3, id plot, code ---\ny = 2\n") && !shown.contains("id end"), "{shown}");

    session.put("/w/a.ipynb", notebook());
    let error = edit(&session, json!({ "cell_id": "plot", "new_source": "x" })).await.unwrap_err();
    assert!(error.contains("has changed on disk since it was last read"), "{error}");
    assert_eq!(session.get("/w/a.ipynb").unwrap(), notebook().into_bytes());
}

#[tokio::test]
async fn changes_that_make_no_sense_are_refused() {
    let session = Session::new();
    session.put("/w/a.ipynb", notebook());
    session.put("/w/b.txt", "text");
    session.put("/w/c.ipynb", "{}");
    for path in ["/w/a.ipynb", "/w/b.txt", "/w/c.ipynb"] {
        session.read(path).await;
    }
    for (input, expected) in [
        (json!({ "new_source": "x" }), "cell_id is missing"),
        (json!({ "edit_mode": "delete" }), "cell_id is missing"),
        (json!({ "edit_mode": "insert", "cell_id": "plot" }), "cell_type is missing"),
        (json!({ "cell_id": "nope" }), "No cell has the id \"nope\"; there are 3 cells."),
        (
            json!({ "cell_id": "x", "notebook_path": "/w/b.txt" }),
            "is not a notebook: its name does not end with .ipynb",
        ),
        (json!({ "cell_id": "x", "notebook_path": "/w/c.ipynb" }), "is not a notebook of the format 4"),
        (json!({ "cell_id": "x", "notebook_path": "/w/none.ipynb" }), "does not exist"),
    ] {
        let error = edit(&session, input.clone()).await.unwrap_err();
        assert!(error.contains(expected), "{input}: {error}");
    }
    assert_eq!(session.get("/w/a.ipynb").unwrap(), notebook().into_bytes());
}

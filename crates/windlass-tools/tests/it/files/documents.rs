//! Documents that real programs have written, and damaged ones: each is shown, or refused with the reason.
//! `tests/documents/make.py` makes them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_tool::ToolOutput;
use windlass_tools::LocalWorkspace;
use windlass_types::{ContentBlock, ToolResultContent};

use crate::files::session::Session;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents").canonicalize().unwrap()
}

async fn read(session: &Session, name: &str, pages: Option<&str>) -> Result<ToolOutput, String> {
    let mut input = json!({ "file_path": folder().join(name) });
    if let Some(pages) = pages {
        input["pages"] = Value::from(pages);
    }
    session.call("Read", input).await
}

/// What the model gets, in short: texts as they are, and the kind of other blocks.
fn shown(output: &ToolOutput) -> String {
    let ToolResultContent::Blocks(blocks) = &output.content else { return output.content.text() };
    let parts = blocks.iter().map(|block| match block {
        ContentBlock::Text { text, .. } => text.clone(),
        ContentBlock::Image { .. } => "<image>".to_owned(),
        ContentBlock::Document { .. } => "<document>".to_owned(),
        other => format!("{other:?}"),
    });
    parts.collect()
}

/// Whether what is shown of each document has its words; words after `!` are those of a refusal.
async fn check(cases: &[(&str, Option<&str>, &str)]) {
    let session = Session::over(LocalWorkspace::new(), &folder());
    let mut wrong = Vec::new();
    for (name, pages, words) in cases {
        let result = read(&session, name, *pages).await;
        let is_right = match (&result, words.strip_prefix('!')) {
            (Ok(output), None) => shown(output).contains(words),
            (Err(error), Some(reason)) => error.contains(reason) && error.len() < 600,
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{name} {pages:?} should have {words:?}: {:?}", result.as_ref().map(shown)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const NOTEBOOKS: &[(&str, Option<&str>, &str)] = &[
    ("whole.ipynb", None, "--- output, image/png ---\n<image>--- output, text/plain (also as text/html) ---\n2\n"),
    ("one_line.ipynb", None, "--- error, ZeroDivisionError: division by zero ---\nTrace\n"),
    ("mark.ipynb", None, "--- cell 1, id title, markdown ---\n# Title\nWith *text*\n"),
    ("windows.ipynb", None, "[Notebook: 4 cells, language R, format 4.5."),
    ("none.ipynb", None, "[Notebook: 0 cells, language python, format 4.5."),
    ("no_ids.ipynb", None, "--- cell 2, id cell-2, code, run 1 ---\nplot(1)\n2\n"),
    ("third.ipynb", None, "\"worksheets\""),
    ("broken.ipynb", None, "1\t{\n2\t"),
    ("widget.ipynb", None, "--- output, application/vnd.jupyter.widget-view+json ---"),
    ("widget.ipynb", None, "--- output, image/svg+xml ---\n<svg/>"),
    ("widget.ipynb", None, "[the image/png is not shown: it is no PNG, JPEG, GIF or WebP image]"),
];

const IMAGES: &[(&str, Option<&str>, &str)] = &[
    ("rgb.png", None, "<image>"),
    ("alpha.png", None, "<image>"),
    ("palette.png", None, "<image>"),
    ("bit.png", None, "<image>"),
    ("gray.png", None, "<image>"),
    ("deep.png", None, "<image>"),
    ("animated.png", None, "<image>"),
    ("wide.png", None, "<image>"),
    ("photo.jpg", None, "<image>"),
    ("gray.jpg", None, "<image>"),
    ("cmyk.jpg", None, "<image>"),
    ("progressive.jpg", None, "<image>"),
    ("turned.jpg", None, "<image>"),
    ("still.gif", None, "<image>"),
    ("animated.gif", None, "<image>"),
    ("lossy.webp", None, "<image>"),
    ("lossless.webp", None, "<image>"),
    ("animated.webp", None, "<image>"),
    ("lies.jpg", None, "<image>"),
    ("a.bmp", None, "!it looks like BMP image"),
    ("a.tiff", None, "!it looks like TIFF image"),
    ("a.ico", None, "!it looks like Windows icon"),
    ("a.svg", None, "1\t<svg"),
];

/// What is refused only where images are decoded.
const DECODED: &[(&str, Option<&str>, &str)] = &[
    ("wide.png", None, "<image>[Shown with 2000×40 pixels; the image has 3000×60.]"),
    ("turned.jpg", None, "<image>[Shown with 33×2000 pixels; the image has 2400×40.]"),
    ("cut.png", None, "!begins like a PNG image but is cut off or damaged"),
    ("cut.jpg", None, "!begins like a JPEG image but is cut off or damaged"),
    ("cut.webp", None, "!begins like a WebP image but is cut off or damaged"),
    ("bomb.png", None, "!take more than 256 MiB of memory"),
    ("flat.png", None, "!take more than 256 MiB of memory"),
];

const PDFS: &[(&str, Option<&str>, &str)] = &[
    ("plain.pdf", None, "<document>"),
    ("plain.pdf", Some("2"), "--- page 2 ---\nHello from page 2\nA second line\n"),
    ("plain.pdf", Some("2-9"), "--- page 3 ---\nHello from page 3\n"),
    ("plain.pdf", Some("4"), "!it has only 3 pages"),
    ("plain.pdf", Some("0-3"), "!names no pages"),
    ("plain.pdf", Some("3-1"), "!names no pages"),
    ("plain.pdf", Some("1-21"), "!more than 20 pages"),
    ("plain.pdf", Some("all"), "!names no pages"),
    ("uncompressed.pdf", Some("1"), "Hello from page 1\nA second line\n"),
    ("paragraphs.pdf", Some("1"), "First of three lines\nsecond of three\nthird\n"),
    ("columns.pdf", Some("1"), "left column\nright column\n"),
    ("kerned.pdf", Some("1"), "spaced out and italic\n"),
    ("truetype.pdf", Some("1"), "Grüße, naïve café – Ω?\n"),
    ("rotated.pdf", Some("1"), "turned by ninety degrees\n"),
    ("scan.pdf", None, "<document>"),
    ("scan.pdf", Some("1"), "[no text: it may be a scan]"),
    ("twelve.pdf", None, "!has 12 pages; at most 10 are shown at once. Give pages"),
    ("twelve.pdf", Some("11-12"), "--- page 12 ---\nHello from page 12\n"),
    ("streams.pdf", Some("1"), "Hello from page 1\n"),
    ("password.pdf", None, "!it is protected by a password"),
    ("owner.pdf", Some("1"), "Hello from page 1\n"),
    ("attached.pdf", Some("1-3"), "Hello from page 3\n"),
    ("named.txt", None, "<document>"),
    ("cut.pdf", None, "!cannot be shown: it is damaged"),
    ("xref.pdf", Some("3"), "Hello from page 3\n"),
    ("junk.pdf", Some("1"), "Hello from page 1\n"),
    ("empty.pdf", None, "!it is damaged"),
    ("bomb.pdf", Some("1"), "[not readable: "),
    ("nested.pdf", Some("1"), "--- page 1 ---\n"),
    ("loop.pdf", Some("1"), "--- page 1 ---\n"),
];

#[tokio::test]
async fn notebooks_are_shown() {
    check(NOTEBOOKS).await;
}

#[tokio::test]
async fn images_are_shown_or_refused() {
    check(IMAGES).await;
    if cfg!(feature = "images") {
        check(DECODED).await;
    }
}

#[cfg(feature = "pdf")]
#[tokio::test]
async fn pdf_documents_are_shown_or_refused() {
    check(PDFS).await;
}

#[test]
fn each_document_has_a_case() {
    let cases = NOTEBOOKS.iter().chain(IMAGES).chain(DECODED).chain(PDFS);
    let cases: BTreeSet<&str> = cases.map(|(name, _, _)| *name).collect();
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = files.filter(|name| name != "make.py").collect();
    assert_eq!(cases, files.iter().map(String::as_str).collect());
    assert!(files.len() >= 30);
}

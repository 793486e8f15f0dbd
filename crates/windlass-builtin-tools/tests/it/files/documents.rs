//! Documents that real programs have written, and damaged ones: each is shown, or refused with the reason.
//! `tests/documents/make.py` makes them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_local::LocalWorkspace;
use windlass_tool::{BoxFuture, Completed, Completion, Completions, ToolError, ToolOutput};
use windlass_types::{ContentBlock, ImageSource, ModelInfo, ToolResultContent};

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

/// Short form of the output for the model: texts unchanged, and the kind of other blocks.
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

/// Checks that the output of each document has its words; words after `!` are those of a refusal.
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

/// A model that takes little.
#[derive(Debug)]
struct SmallModel(ModelInfo);

impl SmallModel {
    fn session() -> Session {
        let mut info = ModelInfo::new(100_000, 1_000);
        (info.media.image_bytes, info.media.count) = (8_000, 2);
        Session::over(LocalWorkspace::new(), &folder()).with_model(Self(info))
    }
}

impl Completions for SmallModel {
    fn model_info(&self, _: Option<&str>) -> ModelInfo {
        self.0.clone()
    }

    fn complete(&self, _: Completion) -> BoxFuture<'static, Result<Completed, ToolError>> {
        Box::pin(async { Err(ToolError::rejected("it writes nothing")) })
    }
}

#[tokio::test]
async fn images_are_as_small_as_the_model_wants_them() {
    let size = |output: &ToolOutput| match &output.content {
        ToolResultContent::Blocks(blocks) => match blocks.first() {
            Some(ContentBlock::Image { source: ImageSource::Base64 { data, .. } }) => data.len(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let name = "turned.jpg";
    let whole = read(&Session::over(LocalWorkspace::new(), &folder()), name, None).await.unwrap();
    assert!(size(&whole) > 8_000, "{}", size(&whole));
    match read(&SmallModel::session(), name, None).await {
        Ok(small) => assert!(cfg!(feature = "images") && size(&small) <= 8_000, "{}", size(&small)),
        Err(error) => assert!(cfg!(not(feature = "images")) && error.contains("at most 6000 can be shown"), "{error}"),
    }
}

#[cfg(feature = "pdf")]
#[tokio::test]
async fn a_model_that_reads_no_documents_gets_their_text() {
    let session = SmallModel::session();
    let text = shown(&read(&session, "plain.pdf", None).await.unwrap());
    assert!(text.contains("--- page 1 ---") && text.contains("Hello from page 3"), "{text}");
    let text = shown(&read(&session, "twelve.pdf", None).await.unwrap());
    assert!(text.contains("--- page 12 ---"), "{text}");
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
    ("sixteen.ipynb", None, "x = 'é'"),
    ("latin.ipynb", None, "x = 'é'"),
    ("later.ipynb", None, "\"nbformat\": 5"),
    ("twice.ipynb", None, "[Notebook: 1 cells"),
    ("deep.ipynb", None, "[Notebook: 1 cells"),
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
    ("wide.svg", None, "<svg>é</svg>"),
    ("interlaced.png", None, "<image>"),
    ("sixteen.png", None, "<image>"),
    ("behind.png", None, "<image>"),
    ("adobe.jpg", None, "<image>"),
    ("commented.jpg", None, "<image>"),
    ("clear.gif", None, "<image>"),
    ("extended.webp", None, "<image>"),
    ("pages.tiff", None, "!it looks like TIFF image"),
    ("a.avif", None, "!it looks like AVIF image"),
    ("a.jp2", None, "!it looks like JPEG 2000 image"),
];

/// Cases that are refused only if images are decoded.
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
    ("strong.pdf", None, "!it is protected by a password"),
    ("strong_owner.pdf", Some("1"), "Hello from page 1\n"),
    ("huge_page.pdf", None, "<document>"),
    ("huge_page.pdf", Some("1"), "Hello from page 1\n"),
    ("form.pdf", Some("1"), "A form\n"),
    ("cid.pdf", Some("1"), "--- page 1 ---\n"),
    ("mail.pdf", None, "1\tFrom: somebody\n2\t\n3\t%PDF-"),
    ("no_pages.pdf", None, "!cannot be shown: it is damaged"),
    ("wrong_xref.pdf", Some("2"), "Hello from page 2\n"),
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

/// A notebook whose one cell has put out 100 MB is refused before all of it is in memory, and the model reads the
/// advice.
#[tokio::test]
async fn a_notebook_with_a_flood_of_output_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("flood.ipynb");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let start = r#"{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"code","id":"a","metadata":{},"source":"","outputs":[{"output_type":"stream","name":"stdout","text":["#;
    file.write_all(start.as_bytes()).unwrap();
    for _ in 0..1_000_000 {
        writeln!(file, "{:98},", "\"x\"").unwrap();
    }
    file.write_all(br#"""]}]}]}"#).unwrap();
    file.into_inner().unwrap();
    let session = Session::over(LocalWorkspace::new(), path.parent().unwrap());
    let refusal = session.call("Read", json!({ "file_path": path })).await.map(|output| shown(&output)).unwrap_err();
    assert!(refusal.contains("a notebook of 100000"), "{refusal}");
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

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use windlass_types::{ContentBlock, DocumentSource, ImageSource, ToolResultContent};

use crate::files::session::{Session, structured};

/// A whole image of one pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1F\x15\xC4\x89\0\0\0\x0D\
    IDATx\xDAcd\xF8\xCFP\x0F\0\x03\x86\x01\x80Z4}k\0\0\0\0IEND\xAEB`\x82";

/// The beginning of an image.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes
}

#[tokio::test]
async fn text_comes_with_line_numbers_and_as_data() {
    let session = Session::new();
    session.put("/w/a.txt", "one\r\ntwo\r\nthree\r\n");
    let output = session.call("Read", json!({ "file_path": "/w/a.txt", "offset": 2, "limit": 1 })).await.unwrap();
    assert!(output.content.text().starts_with("2\ttwo\n\n[PARTIAL: lines 2-2 of 4"), "{}", output.content.text());
    assert_eq!(
        structured(&output),
        json!({ "type": "text", "file": {
            "filePath": "/w/a.txt", "content": "two", "numLines": 1, "startLine": 2, "totalLines": 4,
        }})
    );
    assert_eq!(session.read("a.txt").await, "1\tone\n2\ttwo\n3\tthree\n4\t");
}

#[tokio::test]
async fn short_reads_give_the_same_page() {
    let session = Session::new();
    session.put("/w/a.txt", "äöü\n".repeat(3000));
    let whole = session.read("/w/a.txt").await;
    session.disk.set_read_size(7);
    assert_eq!(session.read("/w/a.txt").await, whole);
    assert!(whole.contains("2000\täöü\n\n[PARTIAL: lines 1-2000 of 3001"));
}

#[tokio::test]
async fn a_page_has_a_token_limit_that_can_be_raised() {
    let session = Session::new();
    session.put("/w/a.txt", format!("{}\n", "word ".repeat(100)).repeat(1000));
    let count = |output: &windlass_tool::ToolOutput| structured(output)["file"]["numLines"].as_u64().unwrap();
    let small = session.call("Read", json!({ "file_path": "/w/a.txt" })).await.unwrap();
    assert_eq!(structured(&small)["file"]["truncatedByTokenCap"], true);
    assert!(small.content.text().contains("the size limit of one page"));
    let large = session.call("Read", json!({ "file_path": "/w/a.txt", "allow_large": true })).await.unwrap();
    assert!(count(&large) > 3 * count(&small), "{} {}", count(&large), count(&small));
    let limited = json!({ "file_path": "/w/a.txt", "limit": 100_000 });
    let limited = session.call("Read", limited).await.unwrap();
    assert_eq!(count(&limited), count(&small));
}

#[tokio::test]
async fn what_is_no_readable_text_is_refused_by_name() {
    let session = Session::new();
    session.put("/w/prog", b"\x7FELF\x02\0\0\0");
    session.put("/w/dir/file", "x");
    session.put("/w/a.txt", "one\n");
    session.put("/w/cut.png", b"\x89PNG\r\n\x1A\n\0\0");
    session.put("/w/wide.png", png(9000, 10));
    session.put("/w/big.png", [png(10, 10), vec![0; 34_000_000]].concat());
    session.put("/w/big.pdf", [b"%PDF-1.4".to_vec(), vec![b' '; 11_000_000]].concat());
    session.device("/dev/zero");
    for (path, expected) in [
        ("/w/prog", "ELF program"),
        ("/w/dir", "is a directory. List its files with Glob"),
        ("/dev/zero", "is not a regular file. Only regular files"),
        ("/w/cut.png", "cut off or damaged"),
        ("/w/wide.png", if cfg!(feature = "images") { "cut off or damaged" } else { "9000×10 pixels" }),
        ("/w/big.png", if cfg!(feature = "images") { "at most 33554432" } else { "at most 10485760 can be shown" }),
        ("/w/big.pdf", "at most 10485760 can be shown"),
        ("", "file_path is empty"),
    ] {
        let error = session.call("Read", json!({ "file_path": path })).await.unwrap_err();
        assert!(error.contains(expected), "{path}: {error}");
    }
    let beyond = session.call("Read", json!({ "file_path": "/w/a.txt", "offset": 9 })).await.unwrap_err();
    assert!(beyond.contains("only 2 lines"), "{beyond}");
}

#[tokio::test]
async fn images_and_documents_are_blocks() {
    let session = Session::new();
    session.put("/w/a.bin", PIXEL);
    let pdf = include_bytes!("../../documents/plain.pdf");
    session.put("/w/b.pdf", pdf);
    let output = session.call("Read", json!({ "file_path": "/w/a.bin" })).await.unwrap();
    let data =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==".to_owned();
    let source = ImageSource::Base64 { media_type: "image/png".into(), data: data.clone() };
    assert_eq!(output.content, ToolResultContent::Blocks(vec![ContentBlock::Image { source }]));
    assert_eq!(
        structured(&output),
        json!({ "type": "image", "file": {
            "base64": data, "type": "image/png", "originalSize": 70,
            "dimensions": { "originalWidth": 1, "originalHeight": 1, "displayWidth": 1, "displayHeight": 1 },
        }})
    );
    let output = session.call("Read", json!({ "file_path": "/w/b.pdf" })).await.unwrap();
    let ToolResultContent::Blocks(blocks) = &output.content else { panic!() };
    let source = DocumentSource::Base64 { media_type: "application/pdf".into(), data: STANDARD.encode(pdf) };
    assert_eq!(blocks[..], [ContentBlock::Document { source, title: Some("b.pdf".into()) }]);
    assert_eq!(structured(&output)["type"], "pdf");
}

#[tokio::test]
async fn an_empty_file_says_so() {
    let session = Session::new();
    session.put("/w/empty", "");
    session.put("/w/bom", "\u{FEFF}");
    for path in ["/w/empty", "/w/bom"] {
        let output = session.call("Read", json!({ "file_path": path })).await.unwrap();
        assert!(output.content.text().contains("exists, but it is empty"));
        assert_eq!(structured(&output)["file"]["totalLines"], 0);
    }
}

#[tokio::test]
async fn a_missing_file_comes_with_guesses() {
    let session = Session::new();
    session.put("/w/src/main.rs", "fn main() {}\n");
    session.put("/w/config.yaml", "a: 1\n");
    for (path, expected) in [
        ("/src/main.rs", "Did you mean /w/src/main.rs?"),
        ("/w/w/src/main.rs", "Did you mean /w/src/main.rs?"),
        ("/w/config.yml", "Did you mean /w/config.yaml?"),
        ("/w/src/mian.rs", "Did you mean /w/src/main.rs?"),
        ("/w/~/a.txt", "`~` is not expanded here: give the absolute path."),
        ("/w/zebra", "The current directory is /w. Find the file with Glob."),
    ] {
        let error = session.call("Read", json!({ "file_path": path })).await.unwrap_err();
        assert!(error.starts_with(&format!("{path} does not exist.")), "{error}");
        assert!(error.ends_with(expected), "{path}: {error}");
    }
}

#[tokio::test]
async fn nothing_is_revealed_about_files_outside() {
    let session = Session::new();
    session.put("/x/secret.yaml", "a: 1\n");
    session.link("/w/config.yaml", "/x/secret.yaml");
    session.link("/w/out", "/x");
    for path in ["/x/secret.yml", "/w/out/secret.yml"] {
        let error = session.call("Read", json!({ "file_path": path })).await.unwrap_err();
        assert!(error.contains("does not exist") && !error.contains("mean"), "{error}");
    }
    // The name of a link is one of the workspace; where it leads is not revealed.
    let error = session.call("Read", json!({ "file_path": "/w/config.yml" })).await.unwrap_err();
    assert_eq!(error, "/w/config.yml does not exist. Did you mean /w/config.yaml?");
}

#[tokio::test]
async fn a_read_stops_when_it_is_cancelled() {
    let session = Session::new();
    session.put("/w/a.txt", "line\n".repeat(2_000_000));
    let reading = session.call("Read", json!({ "file_path": "/w/a.txt" }));
    let error = session.cancelled_at_read(4, reading).await.unwrap_err();
    assert!(error.contains("stopped"), "{error}");
}

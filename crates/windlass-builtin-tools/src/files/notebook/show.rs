//! A notebook for a model: its cells in order, their outputs, and the position of the rest.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use windlass_types::{ContentBlock, ImageSource, MediaLimits};

use super::document::{Cell, Notebook};
use super::json::{Members, joined};
use crate::bash::clean;
use crate::files::page::{cut_chars, estimate_tokens};
use crate::files::picture::{Picture, is_picture};

/// Maximum number of characters of one output: of longer ones the beginning and the end are shown.
const MAX_OUTPUT_CHARS: usize = 8_000;
/// Maximum number of images of a notebook that are shown at once, if a request may hold twice as many.
const MAX_IMAGES: usize = 20;
/// Maximum number of bytes of images, in base64, that are shown at once.
const MAX_IMAGE_BYTES: usize = 12 * 1024 * 1024;

/// Requested cells, and the limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellRange {
    /// First cell, from 1.
    pub(crate) offset: u64,
    /// Maximum number of cells.
    pub(crate) limit: u64,
    /// Maximum number of estimated tokens of text.
    pub(crate) max_tokens: u64,
    /// Limits of a request's images.
    pub(crate) media: MediaLimits,
}

/// Shown part of a notebook.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) blocks: Vec<ContentBlock>,
    /// Cells for programs.
    pub(crate) cells: Vec<Value>,
}

/// Shows cells of a notebook; `None` if it has none from the first requested one on.
pub(crate) fn show(notebook: &Notebook<'_>, range: CellRange) -> Option<Shown> {
    let mut page = Page { tokens_left: range.max_tokens, media: range.media, ..Page::default() };
    let count = notebook.cells.len();
    let first = usize::try_from(range.offset).unwrap_or(usize::MAX);
    if count > 0 && first > count {
        return None;
    }
    page.text(&format!(
        "[Notebook: {count} cells, language {}, format 4.{}. A cell is named by its id.]\n",
        notebook.language, notebook.minor
    ));
    let limit = usize::try_from(range.limit).unwrap_or(usize::MAX);
    let mut cells = Vec::new();
    let mut shown_to = first.saturating_sub(1);
    for cell in notebook.cells.iter().skip(shown_to).take(limit) {
        let mut part = CellText::of(cell);
        let cost = estimate_tokens(&part.text);
        if cost > page.tokens_left && !cells.is_empty() {
            break;
        }
        if cost > page.tokens_left {
            part.cut(page.tokens_left);
        }
        page.tokens_left = page.tokens_left.saturating_sub(cost);
        page.add(part);
        cells.push(data(notebook, cell));
        shown_to = cell.number;
    }
    if shown_to < count {
        let next = shown_to + 1;
        page.text(&format!("\n[PARTIAL: cells {first}-{shown_to} of {count}. To go on, Read with offset {next}.]"));
    }
    Some(Shown { blocks: page.finish(), cells })
}

/// Text of a cell with its outputs, with the images of these at their places.
#[derive(Default)]
struct CellText {
    text: String,
    /// Position of each image in the text, with its media type and base64 form.
    images: Vec<(usize, String, String)>,
}

impl CellText {
    fn of(cell: &Cell<'_>) -> Self {
        let run = cell.run().map(|run| format!(", run {run}")).unwrap_or_default();
        let header = format!("\n--- cell {}, id {}, {}{run} ---\n", cell.number, cell.name(), cell.kind);
        let mut part = Self { text: header, images: Vec::new() };
        part.text.push_str(&cell.source);
        part.end_line();
        for output in cell.outputs() {
            part.output(&output);
            part.end_line();
        }
        part
    }

    fn end_line(&mut self) {
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn output(&mut self, output: &Members<'_>) {
        let kind = output.text("output_type").unwrap_or_default();
        match kind.as_str() {
            "stream" => {
                let name = output.text("name").unwrap_or_else(|| "stdout".to_owned());
                self.push_section(&format!("output, {name}"), &output.get("text").and_then(joined).unwrap_or_default());
            }
            "error" => {
                let field = |name: &str| output.text(name).unwrap_or_default();
                let trace = output.get("traceback").and_then(|lines| serde_json::from_str::<Vec<String>>(lines).ok());
                let trace = trace.unwrap_or_default().join("\n");
                self.push_section(&format!("error, {}: {}", field("ename"), clean(&field("evalue"))), &trace);
            }
            _ => self.push_bundle(output),
        }
    }

    /// One output in several formats: the image, else the plain text, else the first text; the others are named.
    fn push_bundle(&mut self, output: &Members<'_>) {
        let Some(data) = output.get("data").and_then(Members::of) else { return };
        let names: Vec<&str> = data.0.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(name) = names.iter().find(|name| is_picture(name)) {
            let base64: String =
                data.get(name).and_then(joined).unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
            self.text.push_str(&format!("--- output, {name} ---\n"));
            self.images.push((self.text.len(), (*name).to_owned(), base64));
            return;
        }
        let shown = ["text/plain", "text/markdown", "text/html"].into_iter().find(|name| names.contains(name));
        let Some(shown) = shown.or(names.first().copied()) else { return };
        let others: Vec<&str> = names.iter().copied().filter(|name| *name != shown).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (also as {})", others.join(", ")) };
        let text = data.get(shown).map(|value| joined(value).unwrap_or_else(|| value.to_owned())).unwrap_or_default();
        self.push_section(&format!("output, {shown}{others}"), &text);
    }

    fn push_section(&mut self, header: &str, text: &str) {
        self.text.push_str(&format!("--- {header} ---\n{}", beginning_and_end(&clean(text))));
        self.end_line();
    }

    /// Cuts the text to about so many tokens. Images after the cut are left out.
    fn cut(&mut self, tokens: u64) {
        let chars = usize::try_from(tokens.saturating_mul(3)).unwrap_or(usize::MAX);
        let kept = cut_chars(&self.text, chars).0.len();
        let left_out = self.text.len() - kept;
        self.text.truncate(kept);
        self.images.retain(|(at, _, _)| *at <= kept);
        self.text
            .push_str(&format!("\n[{left_out} bytes of this cell left out. See them with a program through Bash.]\n"));
    }
}

/// A text, or its beginning and end with a note between them.
fn beginning_and_end(text: &str) -> String {
    let (head, rest) = cut_chars(text, MAX_OUTPUT_CHARS);
    if rest.is_empty() {
        return text.to_owned();
    }
    let head = cut_chars(head, MAX_OUTPUT_CHARS / 2).0;
    let tail_start = text.char_indices().nth_back(MAX_OUTPUT_CHARS / 2).map_or(0, |(at, _)| at);
    let tail = text.get(tail_start..).unwrap_or_default();
    let left_out = text.len().saturating_sub(head.len() + tail.len());
    format!("{head}\n[{left_out} bytes left out]\n{tail}")
}

/// Blocks so far.
#[derive(Default)]
struct Page {
    blocks: Vec<ContentBlock>,
    /// Text that follows the last block.
    text: String,
    /// Estimated tokens that are left.
    tokens_left: u64,
    media: MediaLimits,
    images: usize,
    image_bytes: usize,
}

impl Page {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn add(&mut self, part: CellText) {
        let mut at = 0;
        for (place, name, base64) in part.images {
            self.text.push_str(part.text.get(at..place).unwrap_or_default());
            self.image(&name, &base64);
            at = place;
        }
        self.text.push_str(part.text.get(at..).unwrap_or_default());
    }

    fn image(&mut self, name: &str, base64: &str) {
        let max_images = MAX_IMAGES.min((self.media.count / 2).max(1));
        if self.images >= max_images {
            return self.text(&format!("[not shown: {max_images} images are shown at once. Read fewer cells.]\n"));
        }
        let bytes = BASE64.decode(base64).map_err(|_| "its base64 is damaged".to_owned());
        let picture = bytes.and_then(|bytes| Picture::fit(bytes, MediaLimits::of_file(self.media.image_bytes)));
        match picture {
            Ok(picture) => {
                let data = BASE64.encode(&picture.bytes);
                if self.image_bytes.saturating_add(data.len()) > MAX_IMAGE_BYTES.min(self.media.bytes / 2) {
                    return self.text("[not shown: together the images are too large. Read fewer cells.]\n");
                }
                self.image_bytes += data.len();
                self.images += 1;
                self.blocks.push(ContentBlock::text(std::mem::take(&mut self.text)));
                let media_type = picture.media_type.to_owned();
                self.blocks.push(ContentBlock::Image { source: ImageSource::Base64 { media_type, data } });
            }
            Err(problem) => self.text(&format!("[the {name} is not shown: {problem}]\n")),
        }
    }

    fn finish(mut self) -> Vec<ContentBlock> {
        if !self.text.is_empty() {
            self.blocks.push(ContentBlock::text(self.text));
        }
        self.blocks
    }
}

/// Cell for programs. Images are not repeated there.
fn data(notebook: &Notebook<'_>, cell: &Cell<'_>) -> Value {
    let outputs: Vec<Value> = cell.outputs().iter().map(output_data).collect();
    let mut data = json!({ "cellType": cell.kind, "source": cell.source, "cell_id": cell.name() });
    if let (Some(data), "code") = (data.as_object_mut(), cell.kind.as_str()) {
        data.insert("language".to_owned(), notebook.language.as_str().into());
        data.insert("execution_count".to_owned(), cell.run().into());
        data.insert("outputs".to_owned(), outputs.into());
    }
    data
}

fn output_data(output: &Members<'_>) -> Value {
    let mut part = CellText::default();
    part.output(output);
    json!({ "output_type": output.text("output_type"), "text": part.text })
}

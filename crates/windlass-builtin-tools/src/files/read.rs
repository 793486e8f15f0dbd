//! The Read tool.

mod media;

use std::borrow::Cow;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_tool::{Annotations, OpenFile, SeenFiles, Tool, ToolCx, ToolError, ToolOutput, WorkspaceErrorKind};
use windlass_types::text::visible_path;
use windlass_types::{Access, JsonText};

use super::charset::{Content, SAMPLE, TextFormat, classify};
use super::kind::Kind;
use super::ledger::{ReadLedger, Seen};
use super::notebook::{CellRange, is_notebook};
use super::open::named_path;
use super::open::{MAX_EDIT, failed, not_found, read_up_to, stop_if_cancelled, target};
use super::page::{PageReader, PageRequest};

/// Maximum number of bytes of a huge file that are counted after the page is full.
const MAX_COUNTED: u64 = 256 * 1024 * 1024;

/// Reads files: text with line numbers, images, notebooks and PDF documents.
///
/// Text is decoded from UTF-8, UTF-16 or the likeliest legacy encoding and shown as `<number>\t<line>`. A page has at
/// most 2,000 lines and about 25,000 tokens; memory does not grow with the file. Each read is recorded in the
/// [`ReadLedger`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Read {
    page: PageRequest,
}

impl Read {
    /// Sets the size of one page in estimated tokens. Default: 25,000.
    #[must_use]
    pub fn with_page_tokens(mut self, tokens: u64) -> Self {
        self.page.max_tokens = tokens;
        self
    }

    /// Sets the number of lines of one page when the call names no limit. Default: 2,000.
    #[must_use]
    pub fn with_page_lines(mut self, lines: u64) -> Self {
        self.page.limit = lines;
        self
    }
}

/// Input of [`Read`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ReadInput {
    /// Absolute path of the file.
    #[serde(deserialize_with = "named_path")]
    pub file_path: String,
    /// First line to read, counted from 1; of a notebook the first cell.
    #[serde(default)]
    pub offset: Option<u64>,
    /// How many lines to read; of a notebook cells.
    #[serde(default)]
    pub limit: Option<u64>,
    /// Pages of a PDF document whose text is wanted, such as "3" or "1-5", at most 20.
    #[serde(default)]
    pub pages: Option<String>,
    /// Return up to four times as much text in one page.
    #[serde(default)]
    pub allow_large: Option<bool>,
}

impl Tool for Read {
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = "Reads one file. Text comes as numbered lines: the number, a tab, then the \
        line; the number and the tab are not part of the file. Without offset and limit you get the first 2000 \
        lines; a PARTIAL note says when there is more and how to go on. Images (PNG, JPEG, GIF, \
        WebP), notebooks (.ipynb, as cells) and PDF documents are shown to you; with pages you get the text of some \
        pages. Directories, devices and other binary files are refused. Read a file before you change it with Edit or \
        Write. To look at several files, call Read several times in one reply.";
    type Input = ReadInput;
    type Output = ToolOutput;

    fn access(&self, input: &ReadInput) -> Access {
        Access::reads(&input.file_path)
    }

    fn title(&self, input: &ReadInput) -> Cow<'static, str> {
        format!("Read {}", input.file_path).into()
    }

    fn annotations(&self) -> Annotations {
        // A page limits itself, at a line end and with a note.
        Annotations::default().with_max_result_bytes(2_000_000)
    }

    async fn call(&self, input: ReadInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let (path, resolved) = target(cx, &input.file_path)?;
        let mut file = match cx.workspace().open(cx.permit(), &path).await {
            Ok(file) => file,
            Err(e) if e.kind == WorkspaceErrorKind::NotFound => return Err(Box::pin(not_found(cx, &path)).await),
            Err(e) => return Err(failed(&e)),
        };
        let sample = read_up_to(&mut *file, cx, SAMPLE).await?;
        let complete = sample.len() < SAMPLE;
        let mut reading = FileReading { cx, path: &path, resolved: &resolved, sample, complete };
        let content = classify(&reading.sample, complete);
        if matches!(content, Content::Text(_))
            && is_notebook(&path)
            && let Some(shown) = Box::pin(reading.notebook(&mut *file, self.cells(&input, cx))).await?
        {
            return Ok(shown);
        }
        // Rare cases are boxed, so that their futures do not enlarge every call.
        match content {
            Content::Text(format) => reading.text(&mut *file, format, self.request(&input)).await,
            Content::Binary(Kind::Image(format)) => Box::pin(reading.image(&mut *file, format)).await,
            Content::Binary(Kind::Pdf) => Box::pin(reading.pdf(&mut *file, input.pages.as_deref())).await,
            Content::Binary(kind) => Err(ToolError::rejected(format!(
                "{} is not text: it looks like {}. Read shows text, images and PDF documents; \
                 use a program through Bash to look into it.",
                visible_path(path),
                kind.phrase(),
            ))),
        }
    }
}

impl Read {
    fn request(&self, input: &ReadInput) -> PageRequest {
        let factor = if input.allow_large == Some(true) { 4 } else { 1 };
        PageRequest {
            offset: input.offset.unwrap_or(1).max(1),
            limit: input.limit.unwrap_or(self.page.limit).max(1),
            max_tokens: self.page.max_tokens.saturating_mul(factor),
            max_line_chars: self.page.max_line_chars,
        }
    }
}

impl Read {
    /// Requested cells of a notebook.
    fn cells(&self, input: &ReadInput, cx: &ToolCx) -> CellRange {
        let PageRequest { offset, max_tokens, .. } = self.request(input);
        CellRange { offset, limit: input.limit.unwrap_or(u64::MAX).max(1), max_tokens, media: cx.model().media }
    }
}

/// Result of a text for hosts and hooks.
struct ShownText<'a> {
    content: &'a str,
    file_path: &'a str,
    num_lines: u64,
    start_line: u64,
    total_lines: u64,
    truncated_by_token_cap: bool,
}

impl ShownText<'_> {
    fn json(&self) -> JsonText {
        let texts = self.content.len() + self.file_path.len();
        let mut json = String::with_capacity(texts + texts / 16 + 192);
        json.push_str(r#"{"file":{"content":"#);
        JsonText::push_string(self.content, &mut json);
        json.push_str(r#","filePath":"#);
        JsonText::push_string(self.file_path, &mut json);
        let mut digits = itoa::Buffer::new();
        for (name, number) in [
            (r#","numLines":"#, self.num_lines),
            (r#","startLine":"#, self.start_line),
            (r#","totalLines":"#, self.total_lines),
        ] {
            json.push_str(name);
            json.push_str(digits.format(number));
        }
        json.push_str(if self.truncated_by_token_cap { r#","truncatedByTokenCap":true"# } else { "" });
        json.push_str(r#"},"type":"text"}"#);
        JsonText::from_parsed(json)
    }
}

struct FileReading<'a> {
    cx: &'a ToolCx,
    path: &'a Path,
    resolved: &'a Path,
    sample: Vec<u8>,
    /// `true` if the sample is the whole file.
    complete: bool,
}

impl FileReading<'_> {
    async fn text(
        self,
        file: &mut dyn OpenFile,
        format: TextFormat,
        request: PageRequest,
    ) -> Result<ToolOutput, ToolError> {
        let mut reader = PageReader::new(format, request);
        let text = if self.complete { SeenFiles::text(&self.sample) } else { None };
        // A digest takes much memory, and short texts need none.
        let mut hasher = text.is_none().then(|| Box::new(blake3::Hasher::new()));
        let (mut size, mut counted, mut chunk) = (0_u64, 0_u64, self.sample);
        let complete = loop {
            if chunk.is_empty() {
                break true;
            }
            size += chunk.len() as u64;
            if size > MAX_EDIT && counted > MAX_COUNTED {
                break false;
            }
            if let Some(hasher) = hasher.as_mut().filter(|_| size <= MAX_EDIT) {
                hasher.update(&chunk);
            }
            if reader.is_full() {
                counted += chunk.len() as u64;
            }
            reader.push(&chunk);
            stop_if_cancelled(self.cx)?;
            if self.complete {
                break true;
            }
            chunk = file.read(4 * SAMPLE).await.map_err(|e| failed(&e))?;
        };
        let mut page = reader.finish(complete);
        match (text, hasher) {
            (Some(text), _) => ReadLedger::know_text(self.cx, self.resolved, text),
            (None, hasher) => {
                let digest = hasher.filter(|_| size <= MAX_EDIT).map(|hasher| Seen::Content(hasher.finalize()));
                self.cx.state::<ReadLedger>().insert(self.resolved, digest.unwrap_or(Seen::TooLarge));
                self.cx.state::<SeenFiles>().forget(self.resolved);
            }
        }

        let path = visible_path(self.path);
        let is_empty = size <= format.bom as u64;
        if page.lines == 0 && !is_empty {
            return Err(ToolError::rejected(format!(
                "{path} has only {} lines, so there is nothing from line {} on.",
                page.total_lines, request.offset
            )));
        }
        let text = if is_empty { format!("[{path} exists, but it is empty.]") } else { page.take_text() };
        let shown = ShownText {
            content: &page.content,
            file_path: &self.path.to_string_lossy(),
            num_lines: if is_empty { 0 } else { page.lines },
            start_line: page.first_line,
            total_lines: if is_empty { 0 } else { page.total_lines },
            truncated_by_token_cap: page.cut == Some(super::page::Cut::Tokens),
        };
        let mut output = ToolOutput::text(text);
        output.structured = Some(shown.json());
        Ok(output)
    }

    /// Reads the whole file, or refuses with an error that names `limit`.
    async fn read_whole(&mut self, file: &mut dyn OpenFile, limit: usize, kind: &str) -> Result<Vec<u8>, ToolError> {
        let mut bytes = std::mem::take(&mut self.sample);
        let room = (limit + 1).saturating_sub(bytes.len());
        let reported_size = usize::try_from(file.info().size).unwrap_or(usize::MAX);
        if reported_size.max(bytes.len()) <= limit {
            bytes.extend(read_up_to(file, self.cx, room).await?);
        }
        if reported_size.max(bytes.len()) > limit {
            return Err(ToolError::rejected(format!(
                "{} is a {kind} of {} bytes; at most {limit} can be shown. Make a smaller copy with a program \
                 through Bash and read that.",
                visible_path(self.path),
                reported_size.max(bytes.len()),
            )));
        }
        self.cx.state::<ReadLedger>().record(self.resolved, &bytes);
        Ok(bytes)
    }
}

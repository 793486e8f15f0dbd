//! Read for files other than plain text: images, notebooks and PDF documents.

#[cfg(feature = "pdf")]
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::json;
use windlass_tool::{OpenFile, ToolError, ToolOutput};
use windlass_types::text::visible_path;
use windlass_types::{ContentBlock, DocumentSource, ImageSource, MediaLimits};

use super::FileReading;
use crate::files::kind::ImageFormat;
use crate::files::notebook::{CellRange, Notebook, Shown, show};
use crate::files::open::MAX_EDIT;
#[cfg(feature = "pdf")]
use crate::files::pdf;
use crate::files::picture::{MAX_FILE, Picture};
use windlass_blocking::run_blocking;

/// Maximum size of a PDF document in bytes.
const MAX_PDF: usize = 10 * 1024 * 1024;
/// Maximum size in bytes of a PDF document for reading the text of some pages.
const MAX_PDF_FOR_TEXT: usize = if cfg!(feature = "pdf") { 32 * 1024 * 1024 } else { MAX_PDF };
/// Maximum number of pages of a PDF document that is shown unchanged.
#[cfg(feature = "pdf")]
const WHOLE_PAGES: u32 = 10;
/// Maximum number of pages whose text is read at once.
const MAX_PAGES: u32 = 20;
/// Time limit for reading the text of pages.
#[cfg(feature = "pdf")]
const MAX_TEXT_TIME: Duration = Duration::from_secs(20);

impl FileReading<'_> {
    pub(super) async fn image(mut self, file: &mut dyn OpenFile, format: ImageFormat) -> Result<ToolOutput, ToolError> {
        let bytes = self.read_whole(file, MAX_FILE, &format!("{} image", format.name())).await?;
        let size = bytes.len();
        let path = visible_path(self.path);
        let max_bytes = MediaLimits::of_file(self.cx.model().media.image_bytes);
        let fitted = run_blocking(move || Picture::fit(bytes, max_bytes)).await?;
        let picture = fitted.map_err(|problem| {
            ToolError::rejected(format!(
                "{path} cannot be shown: {problem}. A program through Bash can look into it or make a smaller copy."
            ))
        })?;
        let data = BASE64.encode(&picture.bytes);
        let (original, shown) = (picture.original, picture.shown);
        let structured = json!({ "type": "image", "file": {
            "base64": data,
            "type": picture.media_type,
            "originalSize": size,
            "dimensions": {
                "originalWidth": original.width, "originalHeight": original.height,
                "displayWidth": shown.width, "displayHeight": shown.height,
            },
        }});
        let source = ImageSource::Base64 { media_type: picture.media_type.to_owned(), data };
        let mut blocks = vec![ContentBlock::Image { source }];
        if shown != original {
            blocks.push(ContentBlock::text(format!(
                "[Shown with {}×{} pixels; the image has {}×{}.]",
                shown.width, shown.height, original.width, original.height
            )));
        }
        ToolOutput::blocks(blocks).with_structured(&structured)
    }

    /// Shows the cells of a notebook; `None` if it cannot be read as one.
    pub(super) async fn notebook(
        &mut self,
        file: &mut dyn OpenFile,
        range: CellRange,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let limit = usize::try_from(MAX_EDIT).unwrap_or(usize::MAX);
        let bytes = self.read_whole(file, limit, "notebook").await?;
        let shown = run_blocking(move || {
            let shown = Notebook::read(&bytes).map(|notebook| (notebook.cells.len(), show(&notebook, range)));
            (shown, bytes)
        });
        let (shown, bytes) = shown.await?;
        let Ok((count, shown)) = shown else {
            // The file is shown as plain text.
            (self.sample, self.complete) = (bytes, true);
            return Ok(None);
        };
        let Shown { blocks, cells } = shown.ok_or_else(|| {
            let path = visible_path(self.path);
            ToolError::rejected(format!(
                "{path} has only {count} cells, so there is none from cell {} on.",
                range.offset
            ))
        })?;
        let structured = json!({ "type": "notebook", "file": {
            "filePath": self.path.to_string_lossy(),
            "cells": cells,
        }});
        ToolOutput::blocks(blocks).with_structured(&structured).map(Some)
    }

    /// Shows a PDF document unchanged, or the text of some of its pages.
    pub(super) async fn pdf(mut self, file: &mut dyn OpenFile, pages: Option<&str>) -> Result<ToolOutput, ToolError> {
        let pages = pages.map(pages_of).transpose().map_err(ToolError::invalid_input)?;
        let model = self.cx.model();
        let as_text = pages.is_some() || cfg!(feature = "pdf") && !model.documents;
        let max_bytes = MAX_PDF.min(MediaLimits::of_file(model.media.document_bytes));
        let max_bytes = if as_text { MAX_PDF_FOR_TEXT } else { max_bytes };
        let bytes = self.read_whole(file, max_bytes, "PDF document").await?;
        if let Some(pages) = pages {
            return self.pdf_text(bytes, pages).await;
        }
        if as_text {
            return self.pdf_as_text(bytes).await;
        }
        let bytes = self.checked_pdf(bytes).await?;
        let data = BASE64.encode(&bytes);
        let structured = json!({ "type": "pdf", "file": {
            "filePath": self.path.to_string_lossy(),
            "base64": data,
            "originalSize": bytes.len(),
        }});
        let title = self.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let source = DocumentSource::Base64 { media_type: "application/pdf".to_owned(), data };
        ToolOutput::blocks(vec![ContentBlock::Document { source, title }]).with_structured(&structured)
    }

    /// Refuses a document that models would refuse, or with too many pages for one result.
    #[cfg(feature = "pdf")]
    async fn checked_pdf(&self, bytes: Vec<u8>) -> Result<Vec<u8>, ToolError> {
        let (count, bytes) = run_blocking(move || (pdf::page_count(&bytes), bytes)).await?;
        match count {
            Ok(count) if count > WHOLE_PAGES => Err(self.too_many_pages(count, WHOLE_PAGES)),
            Ok(_) => Ok(bytes),
            Err(problem) => Err(self.unreadable(&problem)),
        }
    }

    #[cfg(not(feature = "pdf"))]
    #[expect(clippy::unused_async, reason = "with the feature it waits")]
    async fn checked_pdf(&self, bytes: Vec<u8>) -> Result<Vec<u8>, ToolError> {
        Ok(bytes)
    }

    /// Text of all pages, for a model that does not read documents.
    #[cfg(feature = "pdf")]
    async fn pdf_as_text(&self, bytes: Vec<u8>) -> Result<ToolOutput, ToolError> {
        let (count, bytes) = run_blocking(move || (pdf::page_count(&bytes), bytes)).await?;
        match count.map_err(|problem| self.unreadable(&problem))? {
            count if count > MAX_PAGES => Err(self.too_many_pages(count, MAX_PAGES)),
            count => self.pdf_text(bytes, (1, count.max(1))).await,
        }
    }

    #[cfg(feature = "pdf")]
    fn too_many_pages(&self, count: u32, max_pages: u32) -> ToolError {
        let path = visible_path(self.path);
        ToolError::rejected(format!(
            "{path} has {count} pages; at most {max_pages} are shown at once. Give pages, such as \"1-{MAX_PAGES}\", to read their \
             text."
        ))
    }

    #[cfg(feature = "pdf")]
    async fn pdf_text(&self, bytes: Vec<u8>, (first, last): (u32, u32)) -> Result<ToolOutput, ToolError> {
        let cx = self.cx.clone();
        let size = bytes.len();
        let text = run_blocking(move || {
            let end = cx.clock().now().after(MAX_TEXT_TIME);
            let is_late = || cx.clock().now() > end;
            pdf::text(&bytes, first, last, &mut || cx.cancel().is_cancelled() || is_late())
        });
        let text = text.await?.map_err(|problem| self.unreadable(&problem))?;
        let structured = json!({ "type": "parts", "file": {
            "filePath": self.path.to_string_lossy(),
            "originalSize": size,
            "count": last - first + 1,
        }});
        ToolOutput::text(text).with_structured(&structured)
    }

    #[cfg(not(feature = "pdf"))]
    async fn pdf_as_text(&self, bytes: Vec<u8>) -> Result<ToolOutput, ToolError> {
        self.pdf_text(bytes, (1, MAX_PAGES)).await
    }

    #[cfg(not(feature = "pdf"))]
    #[expect(clippy::unused_async, reason = "with the feature it waits")]
    async fn pdf_text(&self, _: Vec<u8>, _: (u32, u32)) -> Result<ToolOutput, ToolError> {
        Err(ToolError::rejected("Single pages cannot be read in this program. Read the document without pages."))
    }

    #[cfg(feature = "pdf")]
    fn unreadable(&self, problem: &str) -> ToolError {
        ToolError::rejected(format!(
            "{} cannot be shown: {problem}. A program through Bash, such as pdftotext, can look into it.",
            visible_path(self.path)
        ))
    }
}

/// First and last page that a call names.
fn pages_of(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number > 0);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last && last - first < MAX_PAGES => Ok((first, last)),
        (Some(first), Some(last)) if first <= last => {
            Err(format!("pages: {text} are more than {MAX_PAGES} pages, give fewer at once"))
        }
        _ => Err(format!("pages: {text:?} names no pages; give one, such as \"3\", or a range, such as \"1-5\"")),
    }
}

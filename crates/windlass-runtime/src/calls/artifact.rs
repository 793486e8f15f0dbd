//! Results that are too large for the model.

use std::path::{Path, PathBuf};
use windlass_blocking::run_blocking;
use windlass_context::{beginning, ending};
use windlass_tool::{Ids, private_file};
use windlass_types::{ContentBlock, JsonText, ToolResultContent};

/// Size of a block beside its text, in bytes.
const FRAME: usize = 32;
/// Maximum size of images, documents and other media in one result, in bytes: a request must have space for those of
/// other results, too.
const MAX_MEDIA_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of images, documents and other media in one result.
const MAX_MEDIA: usize = 100;

/// Cuts a result to a number of bytes: the texts and frames of all its blocks together. The middle is left out, and the
/// whole text is kept as one artifact, if there is a folder for it. Images and other media stay, up to their limits.
pub(crate) async fn fit(
    content: ToolResultContent,
    most: usize,
    artifacts: Option<&Path>,
    ids: &dyn Ids,
) -> ToolResultContent {
    match content {
        ToolResultContent::Text(text) if text.len() <= most => ToolResultContent::Text(text),
        ToolResultContent::Text(text) => ToolResultContent::Text(cut(&text, most, artifacts, ids).await),
        ToolResultContent::Blocks(blocks) => {
            let blocks = without_surplus_media(blocks);
            let size = blocks.iter().map(size).fold(0, usize::saturating_add);
            let is_one = matches!(blocks.as_slice(), [ContentBlock::Text { text, .. }] if text.len() <= most);
            if size <= most || is_one {
                return ToolResultContent::Blocks(blocks);
            }
            let artifact_note = note(keep(artifacts, &texts(&blocks), ids).await);
            ToolResultContent::Blocks(ends(blocks, room(most, &artifact_note), &artifact_note))
        }
    }
}

fn size(block: &ContentBlock) -> usize {
    block.as_text().map_or(0, str::len).saturating_add(FRAME)
}

/// Replaces media beyond the limits of one result by one text.
fn without_surplus_media(blocks: Vec<ContentBlock>) -> Vec<ContentBlock> {
    let (mut bytes, mut count, mut left_out) = (0_usize, 0_usize, 0_usize);
    let mut remaining: Vec<ContentBlock> = Vec::with_capacity(blocks.len());
    for block in blocks {
        if block.as_text().is_none() {
            let size = JsonText::of(&block).map_or(usize::MAX, |json| json.as_str().len());
            if count >= MAX_MEDIA || bytes.saturating_add(size) > MAX_MEDIA_BYTES {
                left_out = left_out.saturating_add(1);
                continue;
            }
            (bytes, count) = (bytes.saturating_add(size), count.saturating_add(1));
        }
        remaining.push(block);
    }
    if left_out > 0 {
        remaining.push(ContentBlock::text(format!(
            "[… {left_out} images or documents left out: together they are too large. Ask for fewer. …]"
        )));
    }
    remaining
}

fn texts(blocks: &[ContentBlock]) -> String {
    let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::as_text).collect();
    texts.join("\n")
}

/// Returns the first and the last texts in `room` bytes together, with one note in place of the middle.
fn ends(blocks: Vec<ContentBlock>, room: usize, artifact_note: &str) -> Vec<ContentBlock> {
    let (mut front, mut back) = (room / 2, room / 2);
    let (mut first, mut last) = (0, blocks.len());
    let fits = |block: &ContentBlock, room: &mut usize| match room.checked_sub(size(block)) {
        Some(rest) => {
            *room = rest;
            true
        }
        None => false,
    };
    while blocks.get(first).is_some_and(|block| fits(block, &mut front)) {
        first += 1;
    }
    while last > first && blocks.get(last - 1).is_some_and(|block| fits(block, &mut back)) {
        last -= 1;
    }
    let mut fitted = Vec::new();
    let mut left_out = LeftOut::default();
    let mut noted = None;
    for (at, block) in blocks.into_iter().enumerate() {
        let Some(text) = block.as_text().filter(|_| (first..last).contains(&at)) else {
            fitted.push(block);
            continue;
        };
        let head = if at == first { beginning(text, front.saturating_sub(FRAME)) } else { "" };
        let rest = text.get(head.len()..).unwrap_or_default();
        let tail = if at + 1 == last { ending(rest, back.saturating_sub(FRAME)) } else { "" };
        left_out.add(rest.len().saturating_sub(tail.len()));
        if !head.is_empty() {
            fitted.push(ContentBlock::text(head));
        }
        // The text of the note is set when all sizes are known.
        noted.get_or_insert(fitted.len());
        if !tail.is_empty() {
            fitted.push(ContentBlock::text(tail));
        }
    }
    if let Some(at) = noted {
        fitted.insert(at, ContentBlock::text(left_out.marker(artifact_note)));
    }
    fitted
}

#[derive(Debug, Default)]
struct LeftOut {
    bytes: usize,
    parts: usize,
}

impl LeftOut {
    fn add(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.parts = self.parts.saturating_add(1);
    }

    fn marker(&self, artifact_note: &str) -> String {
        let parts = if self.parts > 1 { format!(" in {} parts", self.parts) } else { String::new() };
        format!("[… {} bytes{parts} left out here.{artifact_note} …]", self.bytes)
    }
}

/// Returns the beginning and the end of a text in `most` bytes together, with a note between.
async fn cut(text: &str, most: usize, artifacts: Option<&Path>, ids: &dyn Ids) -> String {
    let artifact_note = note(keep(artifacts, text, ids).await);
    let half = room(most, &artifact_note) / 2;
    let head = beginning(text, half);
    let rest = text.get(head.len()..).unwrap_or_default();
    let tail = ending(rest, half);
    let left_out = LeftOut { bytes: rest.len().saturating_sub(tail.len()), parts: 1 };
    format!("{head}\n{}\n{tail}", left_out.marker(&artifact_note))
}

/// Returns the bytes for texts beside a note, at least half of the budget.
fn room(most: usize, note: &str) -> usize {
    /// The fixed words of a note around the path, and the line ends.
    const AROUND: usize = 80 + 3 * FRAME;
    most.saturating_sub(note.len().saturating_add(AROUND)).max(most / 2)
}

fn note(kept: Option<PathBuf>) -> String {
    match kept {
        Some(path) => {
            format!(" The whole is in {}: read the part you need with Read or search it with Grep.", path.display())
        }
        None => " Ask for less, or for a part of it.".to_owned(),
    }
}

/// Writes a text to a new private file, durable with its name: the result that names it is durable, too. Returns `None`
/// on failure, so that the model reads of no file.
async fn keep(artifacts: Option<&Path>, text: &str, ids: &dyn Ids) -> Option<PathBuf> {
    let text = text.to_owned();
    let path = artifacts?.join(format!("result-{:032x}.txt", ids.bits()));
    let write = move || private_file::write_new(&path, text.as_bytes()).map(|()| path);
    match run_blocking(write).await {
        Ok(Ok(path)) => Some(path),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a large result is not kept");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "a large result is not kept");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use windlass_types::ImageSource;

    #[derive(Debug)]
    struct One;

    impl Ids for One {
        fn bits(&self) -> u128 {
            1
        }
    }

    #[tokio::test]
    async fn long_results_keep_head_and_tail_on_character_boundaries() {
        let text = "é".repeat(1_000);
        for most in [0, 1, 2, 3, 100, 101, 1_999] {
            let ToolResultContent::Text(fitted) = fit(text.clone().into(), most, None, &One).await else { panic!() };
            assert!(fitted.contains("left out"), "{most}");
            assert!(fitted.len() <= most + 120);
        }
        assert_eq!(fit(text.clone().into(), 2_000, None, &One).await, text.into());
    }

    #[tokio::test]
    async fn the_whole_is_kept_privately() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("tool-results");
        let text = "x".repeat(10_000);
        let ToolResultContent::Text(fitted) = fit(text.clone().into(), 100, Some(&place), &One).await else { panic!() };
        let kept = fs::read_dir(&place).unwrap().next().unwrap().unwrap();
        assert!(fitted.contains(&*kept.path().to_string_lossy()));
        assert_eq!(fs::read_to_string(kept.path()).unwrap(), text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    fn image(bytes: usize) -> ContentBlock {
        let source = ImageSource::Base64 { media_type: "image/png".to_owned(), data: "x".repeat(bytes) };
        ContentBlock::Image { source }
    }

    /// Returns the size of a result as sent to the model, in bytes.
    fn sent(content: &ToolResultContent) -> usize {
        serde_json::to_string(content).unwrap().len()
    }

    fn blocks(content: ToolResultContent) -> Vec<ContentBlock> {
        let ToolResultContent::Blocks(blocks) = content else { panic!("not blocks: {content:?}") };
        blocks
    }

    /// Fits blocks with a folder for artifacts; returns the blocks and the artifacts.
    async fn fitted(given: Vec<ContentBlock>, most: usize) -> (Vec<ContentBlock>, Vec<String>) {
        let directory = tempfile::tempdir().unwrap();
        let fitted = blocks(fit(ToolResultContent::Blocks(given), most, Some(directory.path()), &One).await);
        let kept = fs::read_dir(directory.path()).unwrap();
        let kept = kept.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        (fitted, kept)
    }

    #[tokio::test]
    async fn many_blocks_have_one_note_and_one_file_and_keep_the_budget() {
        let texts = |count: usize, length: usize| {
            (0..count).map(|at| ContentBlock::text(format!("{at:05}{}", "y".repeat(length)))).collect::<Vec<_>>()
        };
        for (given, most) in [
            (texts(1_000, 400), 100_000),
            (texts(1_000, 0), 10_000),
            (texts(100_000, 0), 100_000),
            (texts(3, 90_000), 100_000),
            (texts(2, 100_000), 20_000),
            (texts(1, 200_000), 20_000),
            (std::iter::repeat_n(ContentBlock::text(""), 50_000).collect(), 100_000),
        ] {
            let whole = texts_of(&given);
            let count = given.len();
            let (fitted, kept) = fitted(given, most).await;
            assert!(sent(&ToolResultContent::Blocks(fitted.clone())) <= most, "{count}");
            assert_eq!(kept, [whole], "{count}");
            let notes: Vec<&ContentBlock> = fitted
                .iter()
                .filter(|block| block.as_text().is_some_and(|text| text.contains("left out here")))
                .collect();
            assert_eq!(notes.len(), 1, "{count}");
            if count > 1 && most >= 20_000 && fitted.len() > 2 {
                assert!(fitted[0].as_text().unwrap().starts_with("00000") || fitted[0].as_text() == Some(""));
            }
        }
    }

    fn texts_of(blocks: &[ContentBlock]) -> String {
        blocks.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
    }

    #[tokio::test]
    async fn what_fits_is_left_as_it_is() {
        let given = vec![ContentBlock::text("a"), image(1_000_000), ContentBlock::text("b")];
        let (kept_blocks, kept) = fitted(given.clone(), 1_000).await;
        assert_eq!((kept_blocks, kept.len()), (given, 0));
        let one = vec![ContentBlock::text("x".repeat(100))];
        assert_eq!(fitted(one.clone(), 100).await.0, one);
    }

    #[tokio::test]
    async fn images_stay_where_texts_are_left_out_but_not_without_end() {
        let long = || ContentBlock::text("t".repeat(50_000));
        let (kept_blocks, _) = fitted(vec![long(), image(1_000), long(), image(2_000), long()], 10_000).await;
        assert_eq!(kept_blocks.iter().filter(|block| block.as_text().is_none()).count(), 2);
        for (given, kept_images) in
            [(vec![image(5 << 20); 20], 3), (vec![image(10); 5_000], MAX_MEDIA), (vec![image(20 << 20), image(10)], 1)]
        {
            let (kept_blocks, _) = fitted(given, 100_000).await;
            let images = kept_blocks.iter().filter(|block| block.as_text().is_none()).count();
            assert_eq!(images, kept_images);
            assert_eq!(kept_blocks.len(), kept_images + 1, "one text says what was left out");
            assert!(kept_blocks.last().unwrap().as_text().unwrap().contains("left out"));
        }
    }

    #[tokio::test]
    async fn results_of_any_shape_keep_their_budget() {
        for seed in 0..400_usize {
            let length = |at: usize| (seed * 7_919 + at * 104_729) % [7, 90, 3_000][(seed + at) % 3];
            let texts = (0..seed % 60).map(|at| ["x", "é"][at % 2].repeat(length(at)));
            let given = texts.map(ContentBlock::text).collect();
            let most = 2_000 + (seed * 613) % 28_000;
            let content = fit(ToolResultContent::Blocks(given), most, None, &One).await;
            assert!(sent(&content) <= most + FRAME, "{seed}");
        }
    }

    /// The result that names the file is durable, so the file and the names on the way to it must be.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_whole_is_durable_before_it_is_named() {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let traced = std::process::Command::new("strace")
            .args(["-f", "-y", "-e", "trace=fsync,fdatasync", "-o"])
            .arg(trace.path())
            .arg(std::env::current_exe().unwrap())
            .args(["calls::artifact::tests::the_whole_is_kept_privately", "--exact"])
            .output();
        if !traced.is_ok_and(|traced| traced.status.success()) {
            windlass_testkit::skipped("an strace that may trace");
            return;
        }
        let calls = fs::read_to_string(trace.path()).unwrap();
        let synced = |end: &str| calls.lines().any(|line| line.contains(&format!("{end}>) ")) && line.ends_with("= 0"));
        // The content has another name until it is complete.
        let is_content = |line: &str| line.contains("/tool-results/.windlass-") && line.ends_with("= 0");
        assert!(calls.lines().any(is_content), "{calls}");
        assert!(synced("/tool-results"), "{calls}");
        let folder = std::env::temp_dir().canonicalize().unwrap();
        assert!(synced(&folder.to_string_lossy()), "{calls}");
    }
}

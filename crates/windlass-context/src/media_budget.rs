//! Replacement of images and documents of old results by notes, before a request becomes too large to be sent.

use crate::imitation::foreign_text;
use crate::{estimate_blocks, estimate_text};
use windlass_types::{
    ContentBlock, DocumentSource, ImageSource, MediaLimits, SharedMessage, ToolResult, ToolResultContent, TrimRecord,
    TrimmedResult,
};

/// Maximum number of characters of a result's own text that its note keeps.
const KEPT_TEXT: usize = 4_000;

/// Returns half the weight of the images and documents of a conversation, for one that a service has refused as too
/// large.
#[must_use]
pub fn half_of_media(messages: &[SharedMessage], limits: MediaLimits) -> MediaLimits {
    let total = messages.iter().map(|message| weight(&message.content)).fold(Weight::default(), Weight::and);
    limits.with_total(total.bytes / 2, total.count / 2)
}

/// Returns the results of tools whose images and documents should be dropped, the oldest first; `None` if all are
/// within the limits, or none can be dropped.
///
/// Once some are dropped, more are, down to three quarters of the limits: the provider reads the conversation anew
/// after the first of them, and that should not happen with each image. A single one that is too large is dropped
/// whatever the rest weighs: it was made for another model. Content from the user stays.
#[must_use]
pub fn media_to_drop(messages: &[SharedMessage], limits: MediaLimits, context: u64) -> Option<TrimRecord> {
    let mut remaining = messages.iter().map(|message| weight(&message.content)).fold(Weight::default(), Weight::and);
    let target = if remaining.fits(limits) { limits } else { three_quarters(limits) };
    let (mut dropped, mut freed) = (Vec::new(), 0_u64);
    for block in messages.iter().flat_map(|message| &message.content) {
        let ContentBlock::ToolResult(result) = block else { continue };
        let block_weight = weight(std::slice::from_ref(block));
        if !remaining.is_eased_by(block_weight, target) && block_weight.each_fits(limits) {
            continue;
        }
        let note = note(result, block_weight.count);
        freed = freed.saturating_add(estimate_blocks(std::slice::from_ref(block)).saturating_sub(estimate_text(&note)));
        remaining = remaining.without(block_weight);
        dropped.push(TrimmedResult::new(result.tool_use_id.clone(), note));
    }
    (!dropped.is_empty()).then(|| TrimRecord::new(dropped, context, freed))
}

/// Tally of the images and documents of a conversation, updated as it grows. It never counts too little.
#[derive(Debug, Clone, Copy, Default)]
pub struct MediaTally(Weight);

impl MediaTally {
    /// Returns the tally of all messages.
    #[must_use]
    pub fn of<'a>(messages: impl Iterator<Item = &'a SharedMessage>) -> Self {
        let mut tally = Self::default();
        messages.for_each(|message| tally.add(&message.content));
        tally
    }

    /// Counts further blocks.
    pub fn add(&mut self, blocks: &[ContentBlock]) {
        self.0 = self.0.and(weight(blocks));
    }

    /// Counts a result.
    pub fn add_result(&mut self, result: &ToolResult) {
        if let ToolResultContent::Blocks(blocks) = &result.content {
            self.add(blocks);
        }
    }

    /// `true` if [`media_to_drop`] may find something to drop.
    #[must_use]
    pub fn may_exceed(&self, limits: MediaLimits) -> bool {
        !(self.0.fits(limits) && self.0.each_fits(limits))
    }
}

fn three_quarters(limits: MediaLimits) -> MediaLimits {
    let reduce = |limit: usize| limit - limit / 4;
    let mut aim = limits.with_total(reduce(limits.bytes), reduce(limits.count));
    aim.documents = reduce(limits.documents);
    aim
}

/// Weight of images and documents: sizes in bytes, and counts.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    bytes: usize,
    count: usize,
    documents: usize,
    largest_image: usize,
    largest_document: usize,
}

impl Weight {
    fn image(bytes: usize) -> Self {
        Self { bytes, count: 1, largest_image: bytes, ..Self::default() }
    }

    fn document(bytes: usize) -> Self {
        Self { bytes, count: 1, documents: 1, largest_document: bytes, ..Self::default() }
    }

    fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            count: self.count.saturating_add(other.count),
            documents: self.documents.saturating_add(other.documents),
            largest_image: self.largest_image.max(other.largest_image),
            largest_document: self.largest_document.max(other.largest_document),
        }
    }

    fn without(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            count: self.count.saturating_sub(other.count),
            documents: self.documents.saturating_sub(other.documents),
            ..self
        }
    }

    fn fits(self, limits: MediaLimits) -> bool {
        self.bytes <= limits.bytes && self.count <= limits.count && self.documents <= limits.documents
    }

    fn each_fits(self, limits: MediaLimits) -> bool {
        self.largest_image <= limits.image_bytes && self.largest_document <= limits.document_bytes
    }

    /// `true` if dropping `part` reduces an excess over the limits.
    fn is_eased_by(self, part: Self, limits: MediaLimits) -> bool {
        let exceeds = self.bytes > limits.bytes || self.count > limits.count;
        exceeds && part.count > 0 || self.documents > limits.documents && part.documents > 0
    }
}

fn weight(blocks: &[ContentBlock]) -> Weight {
    let each = blocks.iter().map(|block| match block {
        ContentBlock::Image { source: ImageSource::Base64 { data, .. } } => Weight::image(data.len()),
        ContentBlock::Image { .. } => Weight::image(0),
        ContentBlock::Document { source: DocumentSource::Base64 { data, .. }, .. } => Weight::document(data.len()),
        ContentBlock::Document { source: DocumentSource::Url { .. } | DocumentSource::File { .. }, .. } => {
            Weight::document(0)
        }
        ContentBlock::ToolResult(ToolResult { content: ToolResultContent::Blocks(inner), .. }) => weight(inner),
        _ => Weight::default(),
    });
    each.fold(Weight::default(), Weight::and)
}

/// Returns the text for the model instead of a result with images: its text, and a note that they are gone.
fn note(result: &ToolResult, count: usize) -> String {
    let text = result.content.text();
    let shown_text: String = text.chars().take(KEPT_TEXT).collect();
    let cut = if shown_text.len() < text.len() { " The end of its text went with them." } else { "" };
    let subject = if count == 1 { "An image or document".to_owned() } else { format!("{count} images or documents") };
    let gap = if shown_text.is_empty() { "" } else { "\n" };
    let verb = if count == 1 { "was" } else { "were" };
    format!(
        "{shown_text}{gap}{}",
        foreign_text(&format!(
            "[{subject} of this result {verb} taken out: the conversation had more than can be sent.{cut} Make the call \
             again if you need to look once more.]"
        ))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::{Message, ToolUseId};

    fn image(bytes: usize) -> ContentBlock {
        let source = ImageSource::Base64 { media_type: "image/png".to_owned(), data: "x".repeat(bytes) };
        ContentBlock::Image { source }
    }

    fn result(id: &str, blocks: Vec<ContentBlock>) -> SharedMessage {
        SharedMessage::from(Message::user(vec![ContentBlock::ToolResult(ToolResult::ok(id, blocks))]))
    }

    fn dropped(messages: &[SharedMessage], bytes: usize, count: usize) -> Vec<String> {
        dropped_by(messages, total(bytes, count))
    }

    fn total(bytes: usize, count: usize) -> MediaLimits {
        MediaLimits::default().with_total(bytes, count)
    }

    fn dropped_by(messages: &[SharedMessage], limits: MediaLimits) -> Vec<String> {
        let record = media_to_drop(messages, limits, 1_000);
        record.into_iter().flat_map(|record| record.results).map(|result| result.tool_use_id.to_string()).collect()
    }

    #[test]
    fn the_oldest_go_first_and_down_to_three_quarters() {
        let messages: Vec<SharedMessage> = (0..8).map(|at| result(&format!("t{at}"), vec![image(100)])).collect();
        assert_eq!(dropped(&messages, 800, 8), [] as [&str; 0]);
        assert_eq!(dropped(&messages, 799, 8), ["t0", "t1"]);
        assert_eq!(dropped(&messages, 8_000, 4), ["t0", "t1", "t2", "t3", "t4"]);
        let half = half_of_media(&messages, MediaLimits::default());
        assert_eq!(half, total(400, 4));
        assert_eq!(dropped(&messages, half.bytes, half.count).len(), 5);
    }

    #[test]
    fn single_ones_that_are_too_large_go_alone() {
        let document = |data: &str| ContentBlock::Document {
            source: DocumentSource::Base64 { media_type: "application/pdf".to_owned(), data: data.to_owned() },
            title: None,
        };
        let messages = [
            result("small", vec![image(10)]),
            result("large", vec![image(101)]),
            result("short", vec![document("x")]),
            result("long", vec![image(1), document("xxx")]),
        ];
        let mut limits = total(1_000, 9);
        assert_eq!(dropped_by(&messages, limits), [] as [&str; 0]);
        (limits.image_bytes, limits.document_bytes) = (100, 2);
        assert_eq!(dropped_by(&messages, limits), ["large", "long"]);
        limits.documents = 1;
        assert_eq!(dropped_by(&messages, limits), ["large", "short", "long"]);
    }

    #[test]
    fn many_documents_take_no_images_along() {
        let document = || ContentBlock::Document { source: DocumentSource::Url { url: "u".to_owned() }, title: None };
        let mut messages = vec![result("image", vec![image(10)])];
        messages.extend((0..6).map(|at| result(&format!("d{at}"), vec![document()])));
        let mut limits = total(1_000, 90);
        limits.documents = 5;
        assert_eq!(dropped_by(&messages, limits), ["d0", "d1"]);
    }

    #[test]
    fn what_the_user_sent_and_what_has_no_images_stays() {
        let prompt = SharedMessage::from(Message::user(vec![image(1_000)]));
        let messages = [prompt.clone(), result("text", vec![ContentBlock::text("a")]), result("t", vec![image(10)])];
        assert_eq!(dropped(&messages, 500, 9), ["t"]);
        assert_eq!(dropped(&[prompt], 500, 9), [] as [&str; 0]);
        assert_eq!(dropped(&[], 0, 0), [] as [&str; 0]);
    }

    #[test]
    fn a_note_keeps_the_text_of_its_result() {
        let blocks = vec![ContentBlock::text("cell 1"), image(90), image(90)];
        let record = media_to_drop(&[result("t", blocks)], total(0, 0), 7).unwrap();
        let [only] = record.results.as_slice() else { panic!("{record:?}") };
        assert_eq!(only.tool_use_id, ToolUseId::from("t"));
        let says = "cell 1\n[2 images or documents of this result were taken out:";
        assert!(only.note.starts_with(says), "{}", only.note);
        assert_eq!(record.pre_tokens, 7);
        let long = vec![ContentBlock::text("é".repeat(5_000)), image(9)];
        let record = media_to_drop(&[result("t", long)], total(0, 0), 7).unwrap();
        assert!(record.results.iter().all(|result| result.note.contains("The end of its text went with them.")));
    }
}

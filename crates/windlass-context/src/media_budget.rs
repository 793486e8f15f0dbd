//! Images and documents of old results that notes stand for, before a request becomes too large to be sent.

use crate::imitation::foreign_text;
use crate::{estimate_blocks, estimate_text};
use windlass_types::{
    ContentBlock, DocumentSource, ImageSource, SharedMessage, ToolResult, ToolResultContent, TrimRecord, TrimmedResult,
};

/// Most characters of a result's own text that its note keeps.
const KEPT_TEXT: usize = 4_000;

/// How much of images and documents a request may hold. Services refuse larger ones, and then every later one, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaLimits {
    /// Most bytes of all of them together, as they are sent, which is mostly base64. Default: 20 MiB.
    pub bytes: usize,
    /// Most images and documents. Default: 90.
    pub count: usize,
}

impl Default for MediaLimits {
    fn default() -> Self {
        Self { bytes: 20 * 1024 * 1024, count: 90 }
    }
}

impl MediaLimits {
    /// Half of what a conversation has, for one that a service has refused as too large.
    #[must_use]
    pub fn half_of(messages: &[SharedMessage]) -> Self {
        let all = messages.iter().map(|message| weight(&message.content)).fold(Weight::default(), Weight::and);
        Self { bytes: all.bytes / 2, count: all.count / 2 }
    }
}

/// The results of tools whose images and documents should go, the oldest first; `None` if all are within the limits, or none
/// can go.
///
/// Once some go, more do, down to three quarters of the limits: the provider reads the conversation anew behind the first of
/// them, and that should not happen with each image. What the user has sent stays.
#[must_use]
pub fn media_to_drop(messages: &[SharedMessage], limits: MediaLimits, context: u64) -> Option<TrimRecord> {
    let mut left = messages.iter().map(|message| weight(&message.content)).fold(Weight::default(), Weight::and);
    if left.fits(limits) {
        return None;
    }
    let aim = MediaLimits { bytes: limits.bytes - limits.bytes / 4, count: limits.count - limits.count / 4 };
    let (mut dropped, mut freed) = (Vec::new(), 0_u64);
    for block in messages.iter().flat_map(|message| &message.content) {
        if left.fits(aim) {
            break;
        }
        let ContentBlock::ToolResult(result) = block else { continue };
        let own = weight(std::slice::from_ref(block));
        if own.count == 0 {
            continue;
        }
        let note = note(result, own.count);
        freed = freed.saturating_add(estimate_blocks(std::slice::from_ref(block)).saturating_sub(estimate_text(&note)));
        left = Weight { bytes: left.bytes.saturating_sub(own.bytes), count: left.count.saturating_sub(own.count) };
        dropped.push(TrimmedResult::new(result.tool_use_id.clone(), note));
    }
    (!dropped.is_empty()).then(|| TrimRecord::new(dropped, context, freed))
}

/// What images and documents weigh.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    bytes: usize,
    count: usize,
}

impl Weight {
    fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_add(other.bytes), count: self.count.saturating_add(other.count) }
    }

    fn fits(self, limits: MediaLimits) -> bool {
        self.bytes <= limits.bytes && self.count <= limits.count
    }
}

fn weight(blocks: &[ContentBlock]) -> Weight {
    let one = |bytes| Weight { bytes, count: 1 };
    let each = blocks.iter().map(|block| match block {
        ContentBlock::Image { source: ImageSource::Base64 { data, .. } }
        | ContentBlock::Document { source: DocumentSource::Base64 { data, .. }, .. } => one(data.len()),
        ContentBlock::Image { .. } => one(0),
        ContentBlock::Document { source: DocumentSource::Url { .. } | DocumentSource::File { .. }, .. } => one(0),
        ContentBlock::ToolResult(ToolResult { content: ToolResultContent::Blocks(inner), .. }) => weight(inner),
        _ => Weight::default(),
    });
    each.fold(Weight::default(), Weight::and)
}

/// What the model reads instead of a result with images: its text, and that they are gone.
fn note(result: &ToolResult, count: usize) -> String {
    let text = result.content.text();
    let kept: String = text.chars().take(KEPT_TEXT).collect();
    let cut = if kept.len() < text.len() { " The end of its text went with them." } else { "" };
    let what = if count == 1 { "An image or document".to_owned() } else { format!("{count} images or documents") };
    let gap = if kept.is_empty() { "" } else { "\n" };
    let verb = if count == 1 { "was" } else { "were" };
    format!(
        "{kept}{gap}{}",
        foreign_text(&format!(
            "[{what} of this result {verb} taken out: the conversation had more than can be sent.{cut} Make the call again \
             if you need to look once more.]"
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
        let record = media_to_drop(messages, MediaLimits { bytes, count }, 1_000);
        record.into_iter().flat_map(|record| record.results).map(|result| result.tool_use_id.to_string()).collect()
    }

    #[test]
    fn the_oldest_go_first_and_down_to_three_quarters() {
        let messages: Vec<SharedMessage> = (0..8).map(|at| result(&format!("t{at}"), vec![image(100)])).collect();
        assert_eq!(dropped(&messages, 800, 8), [] as [&str; 0]);
        assert_eq!(dropped(&messages, 799, 8), ["t0", "t1"]);
        assert_eq!(dropped(&messages, 8_000, 4), ["t0", "t1", "t2", "t3", "t4"]);
        let half = MediaLimits::half_of(&messages);
        assert_eq!(half, MediaLimits { bytes: 400, count: 4 });
        assert_eq!(dropped(&messages, half.bytes, half.count).len(), 5);
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
        let record = media_to_drop(&[result("t", blocks)], MediaLimits { bytes: 0, count: 0 }, 7).unwrap();
        let [only] = record.results.as_slice() else { panic!("{record:?}") };
        assert_eq!(only.tool_use_id, ToolUseId::from("t"));
        let says = "cell 1\n[2 images or documents of this result were taken out:";
        assert!(only.note.starts_with(says), "{}", only.note);
        assert_eq!(record.pre_tokens, 7);
        let long = vec![ContentBlock::text("é".repeat(5_000)), image(9)];
        let record = media_to_drop(&[result("t", long)], MediaLimits { bytes: 0, count: 0 }, 7).unwrap();
        assert!(record.results.iter().all(|result| result.note.contains("The end of its text went with them.")));
    }
}

//! Summary of a session for lists, from the ends of its log.

#[cfg(test)]
mod tests;

use crate::SessionSummary;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use windlass_types::{ContentBlock, SessionId, Timestamp};

/// Bytes of each end of a log that a summary is made from.
pub const SUMMARY_BYTES: usize = 64 * 1024;

/// Maximum number of prompt characters in a summary.
const PROMPT_CHARS: usize = 200;

/// Beginnings of user texts that are not prompts.
const NO_PROMPTS: [&str; 5] =
    ["<local-command-stdout>", "<session-start-hook>", "<tick>", "<goal>", "[Request interrupted by user"];

type Fields<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// Returns the summary of a session from the first and the last [`SUMMARY_BYTES`] of its log (all of it, twice, when it
/// is shorter). `None` for another agent's log, and for one without a fact to list.
///
/// `last_modified` is in milliseconds since the Unix epoch, `file_size` in bytes.
pub fn summarize(
    session: &SessionId,
    head: &[u8],
    tail: &[u8],
    last_modified: u64,
    file_size: u64,
) -> Option<SessionSummary> {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let first: Fields<'_> = head.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    if get::<bool>(&first, "isSidechain") == Some(true) {
        return None;
    }
    let at_head = Ends::of(&head);
    let at_tail = Ends::of(&tail);
    let custom_title = at_tail.title.or(at_head.title).or(at_tail.ai_title).or(at_head.ai_title);
    let first_prompt = at_head.first_prompt.or_else(|| cut_prompt(&head));
    let last_prompt = at_tail.last_prompt.or(at_head.last_prompt).map(|prompt| shorten(&prompt));
    let stored = at_tail.summary.or(at_head.summary);
    let summary = custom_title.clone().or(last_prompt).or(stored).or_else(|| first_prompt.clone())?;
    Some(SessionSummary {
        session_id: session.clone(),
        summary,
        last_modified,
        file_size,
        custom_title,
        first_prompt,
        git_branch: at_tail.git_branch.or(at_head.git_branch),
        cwd: at_head.cwd,
        tag: at_tail.tag.or(at_head.tag).filter(|tag| !tag.is_empty()),
        created_at: at_head.created_at,
    })
}

/// Facts from one end of a log.
#[derive(Default)]
struct Ends {
    title: Option<String>,
    ai_title: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    tag: Option<String>,
    git_branch: Option<String>,
    cwd: Option<String>,
    created_at: Option<Timestamp>,
    first_prompt: Option<String>,
}

impl Ends {
    fn of(text: &str) -> Self {
        let mut ends = Self::default();
        let mut command = None;
        for line in text.lines() {
            let Ok(fields) =
                serde_json::from_str::<Fields<'_>>(line.trim_matches(|c: char| c == '\0' || c.is_whitespace()))
            else {
                continue;
            };
            last(&mut ends.title, &fields, "customTitle");
            last(&mut ends.ai_title, &fields, "aiTitle");
            last(&mut ends.last_prompt, &fields, "lastPrompt");
            last(&mut ends.git_branch, &fields, "gitBranch");
            match get::<Cow<'_, str>>(&fields, "type").as_deref() {
                Some("summary") => last(&mut ends.summary, &fields, "summary"),
                Some("tag") => last(&mut ends.tag, &fields, "tag"),
                _ => {}
            }
            ends.cwd = ends.cwd.or_else(|| get(&fields, "cwd"));
            ends.created_at = ends.created_at.or_else(|| get(&fields, "timestamp"));
            if ends.first_prompt.is_none() {
                ends.first_prompt = prompt(&fields, &mut command);
            }
        }
        ends.first_prompt = ends.first_prompt.or(command);
        ends
    }
}

fn last(slot: &mut Option<String>, fields: &Fields<'_>, name: &str) {
    if let Some(value) = get(fields, name) {
        *slot = Some(value);
    }
}

fn get<'a, T: Deserialize<'a>>(fields: &Fields<'a>, name: &str) -> Option<T> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

/// Returns the prompt of a line, if it is one. A slash command is used only if no prompt follows.
fn prompt(fields: &Fields<'_>, command: &mut Option<String>) -> Option<String> {
    let is = |name: &str| get::<bool>(fields, name) == Some(true);
    if get::<Cow<'_, str>>(fields, "type")? != "user" || is("isMeta") || is("isCompactSummary") || is("isSidechain") {
        return None;
    }
    let message: windlass_types::Message = get(fields, "message")?;
    if message.content.iter().any(|block| matches!(block, ContentBlock::ToolResult(_))) {
        return None;
    }
    let texts = message.content.iter().filter_map(ContentBlock::as_text);
    texts.filter_map(|text| prompt_text(text, command)).map(|text| shorten(&text)).next()
}

/// Returns the text of a prompt in one line, if it is one. The name of a slash command is stored in `command`.
pub(crate) fn prompt_text(text: &str, command: &mut Option<String>) -> Option<String> {
    let text = text.replace('\n', " ");
    let text = text.trim();
    let is_whole = |tag: &str| text.starts_with(&format!("<{tag}>")) && text.ends_with(&format!("</{tag}>"));
    if text.is_empty()
        || NO_PROMPTS.iter().any(|start| text.starts_with(start))
        || is_whole("ide_opened_file")
        || is_whole("ide_selection")
    {
        return None;
    }
    let name = text.split_once("<command-name>").and_then(|(_, rest)| rest.split_once("</command-name>"));
    if let Some((name, _)) = name {
        command.get_or_insert_with(|| name.to_owned());
        return None;
    }
    Some(text.to_owned())
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(PROMPT_CHARS).and_then(|(at, _)| text.get(..at)) {
        Some(cut) => format!("{}…", cut.trim_end()),
        None => text.to_owned(),
    }
}

/// Returns the prompt of a first line that is longer than the part that was read.
fn cut_prompt(head: &str) -> Option<String> {
    let line = head.lines().next_back().filter(|line| line.contains("\"type\":\"user\""))?;
    let (_, rest) = line.split_once("\"content\":\"").or_else(|| line.split_once("\"text\":\""))?;
    let (end, _) = rest.char_indices().nth(PROMPT_CHARS * 6)?;
    // The cut may fall into an escape of up to twelve characters.
    (0..12).find_map(|less| {
        let text = rest.get(..end.checked_sub(less)?)?;
        let text: String = serde_json::from_str(&format!("\"{text}\"")).ok()?;
        prompt_text(&text, &mut None).map(|text| shorten(&text))
    })
}

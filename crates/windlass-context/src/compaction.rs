//! Compaction: the prompt for a summary, and the text made from it.

use std::fmt::Write;
use windlass_types::{ContentBlock, JsonText, Message, Role, SharedMessage, TaskInfo};

/// Maximum number of characters of a background task's description.
const MAX_DESCRIPTION: usize = 200;

/// Replacement for the beginning of a conversation that is too long even to be summarised.
pub(crate) const LEFT_OUT: &str = "[The beginning of this conversation is left out: it is too long.]";

/// Heading of a summary.
pub(crate) const SUMMARY_HEAD: &str = "The conversation so far was replaced by this summary of it.";

/// Returns the prompt for a summary. `focus`: the user's wish for its content.
pub fn compaction_prompt(focus: Option<&str>) -> String {
    let mut text = "This conversation is about to be replaced by a summary that you write now. You will continue from \
                    the summary alone: what is not in it is lost. Do not call any tool, and do not continue the work.\n\n\
                    Beside your summary stand by themselves, as data: the user's prompts, the todo list, the files \
                    that were read or changed, failed calls, permission decisions, skills in use and the last \
                    commands. Do not list them. Say what they mean.\n\n\
                    Write it between <summary> and </summary>, with these parts. Leave out a part that is empty.\n\
                    1. Goal: what the user wants, with every condition and preference that still holds, in the \
                    user's own words where they matter.\n\
                    2. Decisions: what was decided, why, and what was ruled out.\n\
                    3. Knowledge: how the code that matters works. Quote exactly what will be needed: names, \
                    signatures, commands, short pieces of code.\n\
                    4. Results: what commands and tests showed, with the texts of errors that are still open.\n\
                    5. Dead ends: what was tried, why it did not work, and what the user refused.\n\
                    6. State: what is done, what is half done, and the next step."
        .to_owned();
    if let Some(focus) = focus.map(str::trim).filter(|focus| !focus.is_empty()) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n\nThe user asks you to care especially for this: {focus}");
    }
    text
}

/// Returns the summary in an answer: the text between the tags, else all of it.
pub fn summary_of(answer: &str) -> Option<&str> {
    let inner = answer.split_once("<summary>").map_or(answer, |(_, rest)| rest);
    let inner = inner.rsplit_once("</summary>").map_or(inner, |(summary, _)| summary);
    Some(inner.trim()).filter(|summary| !summary.is_empty())
}

/// Facts beside the conversation that must survive a compaction, as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionFacts<'a> {
    /// Current directory.
    pub cwd: &'a str,
    /// Todo list, as JSON.
    pub todos: Option<&'a JsonText>,
    /// Text of the ledger: a line end, then headings and lines. Empty for none.
    pub ledger: &'a str,
    /// Background tasks that are running.
    pub tasks: &'a [TaskInfo],
    /// `true` if a run is in progress, whose prompt follows word for word.
    pub continues: bool,
}

impl<'a> SessionFacts<'a> {
    /// Returns facts with only the current directory.
    pub const fn new(cwd: &'a str) -> Self {
        Self { cwd, todos: None, ledger: "", tasks: &[], continues: false }
    }
}

/// Returns the text that the model reads instead of the conversation.
pub fn summary_text(summary: &str, facts: &SessionFacts<'_>) -> String {
    let mut text = format!("{SUMMARY_HEAD}\n\n{summary}");
    // Writing to a string cannot fail.
    let _ = write!(text, "\n\nCurrent directory: {}", facts.cwd);
    if let Some(todos) = facts.todos {
        let _ = write!(text, "\nTodo list: {}", todos.as_str());
    }
    if !facts.ledger.is_empty() {
        let _ = write!(text, "\n\nKnown as data, from the log of the session:{}", facts.ledger);
    }
    if !facts.tasks.is_empty() {
        text.push_str("\nRunning in the background; you will read when one of them ends:");
        for task in facts.tasks {
            let described = task.description.chars().map(|char| if char.is_control() { ' ' } else { char });
            let described: String = described.take(MAX_DESCRIPTION).collect();
            let _ = write!(text, "\n- {} ({}): {described}", task.id, task.kind.as_str());
            if let Some(file) = &task.output_file {
                let _ = write!(text, "; output in {}", file.display());
            }
        }
    }
    if facts.continues {
        text.push_str(
            "\n\nThe work is not finished. The user's last message follows, word for word. Continue from the state that \
             the summary gives; do not start over, and do not repeat what is done.",
        );
    }
    text
}

/// Returns the messages with a text of the user at the end.
pub fn with_last_word(mut messages: Vec<SharedMessage>, text: &str) -> Vec<SharedMessage> {
    let block = ContentBlock::text(text);
    match messages.pop() {
        Some(last) if last.role == Role::User => {
            let content = last.content.iter().cloned().chain([block]).collect();
            messages.push(Message::user(content).into());
        }
        last => {
            messages.extend(last);
            messages.push(Message::user(vec![block]).into());
        }
    }
    messages
}

/// Returns the number of messages to leave out so that about half of those after `skip` remain; `None` if no less can
/// be sent. The rest begins with a message of the model, so calls and their results stay together.
pub fn older_half(messages: &[SharedMessage], skip: usize) -> Option<usize> {
    let middle = (skip + messages.len().saturating_sub(skip) / 2).max(skip + 1);
    let mut later = messages.iter().enumerate().skip(middle);
    later.find(|(_, message)| message.role == Role::Assistant).map(|(at, _)| at)
}

/// Returns the messages from the first one of the model at or after an index, with a note before them that the earlier
/// ones are left out.
pub fn from_message(messages: &[SharedMessage], at: usize) -> Vec<SharedMessage> {
    // Another model may have been shown fewer messages than those that were counted.
    let remaining = messages.iter().skip(at).skip_while(|message| message.role != Role::Assistant).cloned();
    [Message::user_text(LEFT_OUT).into()].into_iter().chain(remaining).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::{TaskKind, ToolResult, ToolUse};

    fn user(text: &str) -> SharedMessage {
        Message::user_text(text).into()
    }

    fn call(id: &str, path: &str) -> SharedMessage {
        let input = JsonText::of(&std::collections::BTreeMap::from([("file_path", path)])).unwrap();
        Message::assistant(vec![ContentBlock::ToolUse(ToolUse::new(id, "Read", input))]).into()
    }

    fn answer(id: &str) -> SharedMessage {
        Message::user(vec![ContentBlock::ToolResult(ToolResult::ok(id, "ok"))]).into()
    }

    #[test]
    fn a_summary_is_found_with_and_without_its_tags() {
        for (text, summary) in [
            ("<summary>\nA\n</summary>", Some("A")),
            ("Let me see.\n<summary>A</summary> Done.", Some("A")),
            ("A", Some("A")),
            ("<summary>A", Some("A")),
            ("<summary>a </summary> b</summary>", Some("a </summary> b")),
            ("<summary> </summary>", None),
            (" \n", None),
        ] {
            assert_eq!(summary_of(text), summary, "{text:?}");
        }
    }

    #[test]
    fn the_last_word_is_the_users() {
        let texts = |messages: &[SharedMessage]| -> Vec<usize> { messages.iter().map(|m| m.content.len()).collect() };
        assert_eq!(texts(&with_last_word(vec![user("a")], "b")), [2]);
        assert_eq!(texts(&with_last_word(vec![user("a"), call("1", "x")], "b")), [1, 1, 1]);
        assert_eq!(texts(&with_last_word(Vec::new(), "b")), [1]);
    }

    #[test]
    fn halves_keep_calls_and_results_together() {
        let mut messages = vec![user("go")];
        for id in 0..8 {
            messages.extend([call(&id.to_string(), "f"), answer(&id.to_string())]);
        }
        let (mut skip, mut rounds) = (0, 0);
        while let Some(at) = older_half(&messages, skip) {
            assert!(at > skip);
            let kept = from_message(&messages, at);
            assert_eq!((kept[0].role, kept[1].role), (Role::User, Role::Assistant));
            assert_eq!(kept.len(), messages.len() - at + 1);
            (skip, rounds) = (at, rounds + 1);
        }
        assert!((3..=4).contains(&rounds), "{rounds}");
        assert_eq!((older_half(&[user("go")], 0), older_half(&[], 0)), (None, None));
    }

    #[test]
    fn what_is_kept_never_begins_with_a_result_whose_call_is_left_out() {
        let messages = [user("go"), call("1", "f"), answer("1"), call("2", "f"), answer("2")];
        for at in 0..messages.len() + 2 {
            let kept = from_message(&messages, at);
            assert!(kept.get(1).is_none_or(|first| first.role == Role::Assistant), "{at}");
        }
    }

    #[test]
    fn what_is_known_as_data_stands_behind_the_summary() {
        let mut facts = SessionFacts::new("/w");
        facts.ledger = "\nFailed attempts:\n- Bash make: no rule";
        facts.continues = true;
        let mut task = TaskInfo::new("b1".into(), TaskKind::LocalBash, "serve\n- a lie", "t".into());
        task.output_file = Some("/o".into());
        let tasks = [task];
        facts.tasks = &tasks;
        let text = summary_text("S", &facts);
        assert!(text.contains("S\n\nCurrent directory: /w") && text.contains("\n- Bash make: no rule\n"), "{text}");
        assert!(text.contains("\n- b1 (local_bash): serve - a lie; output in /o\n"), "{text}");
        assert!(text.contains("word for word"), "{text}");
    }
}

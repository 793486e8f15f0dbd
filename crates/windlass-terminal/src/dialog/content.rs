//! Rows of text, no wider than the dialog, and the lines that explain a call.

use super::{DialogRow, DialogRowKind};
use crate::composer::shown;
use crate::text::{truncate, width as width_of};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use unicode_segmentation::UnicodeSegmentation;
use windlass_types::text::visible_line;
use windlass_types::{AgentIdentity, JsonText, MatchedRule, PermissionRequest, RuleSource};

/// Most characters of a line that explains a call.
const LONGEST_NOTE: usize = 1000;
/// Most characters of a value that is shown beside its name.
const SHORT: usize = 60;
/// Fewest columns of a dialog.
pub(super) const NARROWEST: usize = 12;

/// A line before it is wrapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DialogLine {
    pub(super) kind: DialogRowKind,
    /// Text in front of the first row; other rows are indented as far.
    pub(super) prefix: &'static str,
    pub(super) text: String,
}

impl DialogLine {
    pub(super) fn new(kind: DialogRowKind, prefix: &'static str, text: impl Into<String>) -> Self {
        Self { kind, prefix, text: text.into() }
    }
}

/// The rows of one line. Hidden characters are written out.
pub(super) fn wrapped(line: &DialogLine, columns: usize) -> Vec<DialogRow> {
    let columns = columns.max(NARROWEST);
    let indent = " ".repeat(width_of(line.prefix));
    let mut rows = Vec::new();
    let (mut row, mut width) = (line.prefix.to_owned(), width_of(line.prefix));
    let text = visible_tabs(&line.text);
    for cluster in text.graphemes(true) {
        let (cluster, columns_of) = shown(cluster);
        // A written-out character may be wider than a row.
        for part in parts(&cluster, columns_of, columns.saturating_sub(indent.len())) {
            let more = width_of(part);
            if width.saturating_add(more) > columns {
                rows.push(DialogRow::new(line.kind, std::mem::replace(&mut row, indent.clone())));
                width = indent.len();
            }
            row.push_str(part);
            width = width.saturating_add(more);
        }
    }
    rows.push(DialogRow::new(line.kind, row));
    rows
}

/// A cluster, or its characters if it is wider than a row.
fn parts(cluster: &str, width: usize, columns: usize) -> Vec<&str> {
    if width <= columns { vec![cluster] } else { cluster.graphemes(true).collect() }
}

fn visible_tabs(text: &str) -> String {
    text.replace('\t', "    ")
}

/// A text cut to so many columns.
pub(super) fn cut(text: &str, columns: usize) -> String {
    truncate(text, columns).into_owned()
}

/// A text on one line with nothing hidden, bounded.
pub(super) fn note(text: &str) -> String {
    let shown = visible_line(text);
    let more = shown.chars().count().saturating_sub(LONGEST_NOTE);
    if more == 0 {
        return shown;
    }
    let kept: String = shown.chars().take(LONGEST_NOTE).collect();
    format!("{kept} … ({more} more characters)")
}

/// The lines that say who asks, why, and which rule decided.
///
/// `task` is that of the agent that asks; empty if it is not known.
pub(super) fn reasons(request: &PermissionRequest, task: &str) -> Vec<DialogLine> {
    let mut lines = Vec::new();
    let mut add = |text: String| lines.push(DialogLine::new(DialogRowKind::Note, "", text));
    if let Some(identity) = &request.identity {
        add(format!("Asked by the agent {}", agent_name(identity, task)));
    } else if !request.agent.is_main() {
        let task = if task.is_empty() { "another agent" } else { task };
        add(format!("Asked by the agent for: {}", note(task)));
    }
    if let Some(impact) = &request.impact {
        add(format!("{} Risk: {}", note(&impact.summary), impact.risk.as_str()));
    }
    add(format!("Why it asks: {}", note(&request.decision.message)));
    if let Some(rule) = &request.decision.rule {
        add(rule_line(rule));
    }
    if let Some(part) = &request.decision.part {
        add(format!("Part of the command that asks: {}", note(part)));
    }
    if let Some(path) = &request.decision.blocked_path {
        add(format!("Path: {}", note(&path.display().to_string())));
    }
    if request.decision.protected {
        add("Protected: a yes holds for this call alone.".to_owned());
    }
    lines
}

/// The type of an agent with its task, if it is known.
pub(super) fn agent_name(identity: &AgentIdentity, task: &str) -> String {
    let name = note(&identity.agent_type);
    if task.is_empty() { name } else { format!("{name} ({})", note(task)) }
}

fn rule_line(rule: &MatchedRule) -> String {
    let place = match (&rule.origin, rule.source) {
        (Some(origin), _) => note(&origin.to_string()),
        (None, RuleSource::PolicySettings) => "the policy of the organisation".to_owned(),
        (None, RuleSource::FlagSettings) => "the settings given at the start".to_owned(),
        (None, RuleSource::LocalSettings) => "your settings for this project".to_owned(),
        (None, RuleSource::ProjectSettings) => "the settings of the project".to_owned(),
        (None, RuleSource::UserSettings) => "your settings".to_owned(),
        (None, RuleSource::CliArg) => "the command line".to_owned(),
        (None, RuleSource::Command) => "the command or skill that runs".to_owned(),
        (None, _) => "this session".to_owned(),
    };
    format!("Rule: {} ({place})", note(&rule.rule))
}

/// The lines of a call: its diff, or all of its fields, what would run last. Nothing is left out.
pub(super) fn call_lines(request: &PermissionRequest) -> Vec<DialogLine> {
    let mut lines = Vec::new();
    let (remarks, fields) = fields(&request.tool, &request.input);
    for (name, value) in remarks {
        lines.push(DialogLine::new(DialogRowKind::Note, "", format!("{}: {}", note(&name), note(&value))));
    }
    let is_whole_diff = request.edits.as_ref().is_some_and(|edits| !edits.is_cut && !edits.diff.is_empty());
    let replaced = if is_whole_diff { Vec::new() } else { replacements(&request.tool, &request.input) };
    for (name, value) in &fields {
        // The diff says what the texts of an edit would do.
        if (is_whole_diff || !replaced.is_empty()) && is_edit_text(&request.tool, name) {
            continue;
        }
        let is_short = name != subject(&request.tool) && value.chars().count() <= SHORT && !value.contains('\n');
        if is_short {
            let text = format!("{}: {}", visible_line(name), visible_line(value));
            lines.push(DialogLine::new(DialogRowKind::Text, "", text));
            continue;
        }
        lines.push(DialogLine::new(DialogRowKind::Field, "", format!("{}:", visible_line(name))));
        lines.extend(value.split('\n').map(|line| DialogLine::new(DialogRowKind::Text, "  | ", line)));
    }
    lines.extend(replaced);
    if let Some(edits) = &request.edits {
        let title = if edits.is_cut { "Change (the end of the diff is left out):" } else { "Change:" };
        lines.push(DialogLine::new(DialogRowKind::Field, "", title));
        lines.extend(edits.diff.lines().map(diff_line));
    }
    lines
}

fn diff_line(line: &str) -> DialogLine {
    let kind = match line.as_bytes() {
        [b'@', b'@', ..] => DialogRowKind::Hunk,
        [b'+', ..] if !line.starts_with("+++ ") => DialogRowKind::Added,
        [b'-', ..] if !line.starts_with("--- ") => DialogRowKind::Removed,
        _ => DialogRowKind::Text,
    };
    DialogLine::new(kind, "", line)
}

/// A text that an edit replaces.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Replacement {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// The lines that an edit takes away and puts in, by its input alone; empty for other tools and unusual inputs.
fn replacements(tool: &str, input: &JsonText) -> Vec<DialogLine> {
    #[derive(Deserialize)]
    struct Edit {
        old_string: String,
        new_string: String,
    }
    #[derive(Deserialize)]
    struct Edits {
        edits: Vec<Replacement>,
    }
    let title = |text: String| DialogLine::new(DialogRowKind::Field, "", text);
    match tool {
        "Edit" => {
            let Ok(Edit { old_string, new_string }) = input.to() else { return Vec::new() };
            let mut lines = vec![title("Change:".to_owned())];
            lines.extend(replacement(&old_string, &new_string));
            lines
        }
        "MultiEdit" => {
            let Ok(Edits { edits }) = input.to() else { return Vec::new() };
            let all = edits.len();
            let shown = edits.iter().enumerate().flat_map(|(at, edit)| {
                let everywhere = if edit.replace_all { ", everywhere in the file" } else { "" };
                let mut lines = vec![title(format!("Change {} of {all}{everywhere}:", at.saturating_add(1)))];
                lines.extend(replacement(&edit.old_string, &edit.new_string));
                lines
            });
            shown.collect()
        }
        _ => Vec::new(),
    }
}

/// The lines of a text and of the one that replaces it. Lines that both begin or end with stand once.
fn replacement(old: &str, new: &str) -> Vec<DialogLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let same = |(old, new): &(&&str, &&str)| old == new;
    let before = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()).saturating_sub(before);
    let behind = old.iter().rev().zip(new.iter().rev()).take(most).take_while(same).count();
    let changed = |lines: &[&str], kind, mark: &'static str| -> Vec<DialogLine> {
        let count = lines.len().saturating_sub(before).saturating_sub(behind);
        lines.iter().skip(before).take(count).map(|line| DialogLine::new(kind, mark, *line)).collect()
    };
    let kept = |line: &&str| DialogLine::new(DialogRowKind::Text, "  ", *line);
    let mut lines: Vec<DialogLine> = old.iter().take(before).map(kept).collect();
    lines.extend(changed(&old, DialogRowKind::Removed, "- "));
    lines.extend(changed(&new, DialogRowKind::Added, "+ "));
    lines.extend(old.iter().skip(old.len().saturating_sub(behind)).map(kept));
    lines
}

type NamedText = (String, String);

/// The fields of an input in two groups, each in the order in which it was given: those that only describe the call, and
/// the call itself, its subject last.
fn fields(tool: &str, input: &JsonText) -> (Vec<NamedText>, Vec<NamedText>) {
    let Ok(OrderedFields(fields)) = input.to::<OrderedFields>() else {
        return (Vec::new(), vec![("input".to_owned(), input.as_str().to_owned())]);
    };
    let text = |(name, value): (String, JsonText)| (name, value.to::<String>().unwrap_or_else(|_| value.to_string()));
    let is_remark = |(name, _): &NamedText| tool == "Bash" && name == "description";
    let (remarks, mut call): (Vec<NamedText>, Vec<NamedText>) = fields.into_iter().map(text).partition(is_remark);
    call.sort_by_key(|(name, _)| name == subject(tool));
    (remarks, call)
}

/// `true` for the fields of an edit that its diff shows.
fn is_edit_text(tool: &str, name: &str) -> bool {
    match tool {
        "Write" => name == "content",
        "Edit" => matches!(name, "old_string" | "new_string"),
        "MultiEdit" => name == "edits",
        "NotebookEdit" => name == "new_source",
        "apply_patch" => name == "input",
        _ => false,
    }
}

/// The field that is the subject of a call.
fn subject(tool: &str) -> &'static str {
    match tool {
        "Bash" => "command",
        "Write" => "content",
        "Edit" => "new_string",
        "MultiEdit" => "edits",
        "NotebookEdit" => "new_source",
        "apply_patch" => "input",
        "WebFetch" => "url",
        _ => "",
    }
}

/// The fields of an object in their order.
pub(super) struct OrderedFields(pub(super) Vec<(String, JsonText)>);

impl<'de> Deserialize<'de> for OrderedFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = OrderedFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedFields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(OrderedFields(fields))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

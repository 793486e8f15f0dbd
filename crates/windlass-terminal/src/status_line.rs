//! The row below the prompt, and the facts that users' scripts for it read.

use crate::layout::{Layout, tokens};
use crate::presenter::SessionStatus;
use crate::text::{Line, safe_line, truncate, width};
use crate::theme::Role;
use serde_json::{Value, json};
use windlass_types::{NanoUsd, PermissionMode};

/// The row below the prompt: permission mode in words, model, use of the context window, cost, title.
#[must_use]
pub fn status_line(status: &SessionStatus, mode: PermissionMode, layout: &Layout<'_>) -> Line {
    let mut details = Vec::new();
    details.extend(status.model.clone().filter(|model| model != "default"));
    if status.context_tokens > 0 {
        let share = context_share(status).map(|share| format!("{share}% context"));
        details.push(share.unwrap_or_else(|| format!("{} tokens", tokens(status.context_tokens))));
    }
    if status.cost != NanoUsd::ZERO {
        details.push(status.cost.to_string());
    }
    details.extend(status.title.clone());
    let details: String = details.iter().map(|detail| format!(" {} {detail}", layout.glyphs.dot)).collect();
    let room = layout.columns.saturating_sub(2);
    let words = mode_words(mode);
    let words = if width(words) > room { short_words(mode) } else { words };
    let mode = truncate(words, room);
    let room = room.saturating_sub(width(&mode));
    let details = safe_line(&details);
    Line::plain("  ").with(mode, layout.style(Role::Accent)).with(truncate(&details, room), layout.style(Role::Faint))
}

/// Facts for a script that writes the row, as one JSON object. The names of the fields are those that scripts for other agents
/// of the command line read, so that they work unchanged.
#[must_use]
pub fn status_json(status: &SessionStatus, version: &str) -> Value {
    let model = status.model.as_deref().unwrap_or_default();
    let cwd = status.cwd.as_deref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let used = context_share(status);
    json!({
        "hook_event_name": "Status",
        "session_id": status.session_id,
        "session_name": status.title,
        "transcript_path": status.transcript.as_deref().map(|path| path.to_string_lossy().into_owned()),
        "cwd": cwd,
        "model": { "id": model, "display_name": model },
        "workspace": { "current_dir": cwd, "project_dir": cwd },
        "version": version,
        "permission_mode": status.permission_mode.map(PermissionMode::as_str),
        "cost": {
            "total_cost_usd": status.cost.usd(),
            "total_duration_ms": status.duration_ms,
            "total_api_duration_ms": status.model_ms,
        },
        "context_window": {
            "total_input_tokens": status.context_tokens,
            "context_window_size": status.context_window,
            "used_percentage": used,
            "remaining_percentage": used.map(|used| 100_u64.saturating_sub(used)),
        },
        "exceeds_200k_tokens": status.context_tokens > 200_000,
        "rate_limits": rate_limits(status),
    })
}

/// The allowance of the provider's subscription by its window; `null` without one.
fn rate_limits(status: &SessionStatus) -> Value {
    let limit = status.rate_limit.as_ref().and_then(|limit| Some((limit, limit.kind.as_ref()?)));
    limit.map_or(Value::Null, |(limit, kind)| {
        let used = limit.utilization.map(|used| used.get() * 100.0);
        json!({ kind.as_str(): { "used_percentage": used, "resets_at": limit.resets_at } })
    })
}

/// Share of the context window that is used, in percent; `None` while the window is not known.
fn context_share(status: &SessionStatus) -> Option<u64> {
    status.context_tokens.saturating_mul(100).checked_div(status.context_window)
}

/// The permission mode in words.
fn mode_words(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "asks before changes",
        PermissionMode::AcceptEdits => "accepts edits",
        PermissionMode::Plan => "plans, changes nothing",
        PermissionMode::DontAsk => "denies without asking",
        PermissionMode::Auto => "a model decides",
        PermissionMode::BypassPermissions => "allows everything",
        _ => mode.as_str(),
    }
}

/// The permission mode in words for a narrow terminal.
fn short_words(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "asks",
        PermissionMode::AcceptEdits => "edits",
        PermissionMode::Plan => "plans",
        PermissionMode::DontAsk => "denies",
        PermissionMode::Auto => "decides",
        PermissionMode::BypassPermissions => "allows all",
        _ => mode.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Glyphs;
    use crate::theme::Theme;

    fn status() -> SessionStatus {
        SessionStatus {
            session_id: "s1".to_owned(),
            model: Some("model-x".to_owned()),
            permission_mode: Some(PermissionMode::Plan),
            cwd: Some("/w".into()),
            cost: NanoUsd::from_usd(0.256),
            context_tokens: 24_000,
            context_window: 200_000,
            title: Some("Fix\u{1b}[2J\nit".to_owned()),
            ..SessionStatus::default()
        }
    }

    #[test]
    fn the_row_has_what_matters_and_fits() {
        let theme = Theme::default();
        let layout = |columns| Layout { columns, theme: &theme, glyphs: Glyphs::UNICODE };
        let line = status_line(&status(), PermissionMode::Plan, &layout(80));
        assert_eq!(line.text(), "  plans, changes nothing · model-x · 12% context · $0.2560 · Fix it");
        assert_eq!(status_line(&status(), PermissionMode::Plan, &layout(30)).text(), "  plans, changes nothing · mo…");
        for (columns, text) in [(21, "  asks before changes"), (20, "  asks"), (12, "  asks"), (4, "  a…")] {
            let line = status_line(&SessionStatus::default(), PermissionMode::Default, &layout(columns));
            assert_eq!(line.text(), text, "{columns}");
        }
        let empty = status_line(&SessionStatus::default(), PermissionMode::Default, &layout(80));
        assert_eq!(empty.text(), "  asks before changes");
    }

    #[test]
    fn scripts_find_their_fields() {
        let json = status_json(&status(), "1.0.0");
        assert_eq!(json["model"]["display_name"], "model-x");
        assert_eq!(json["workspace"]["current_dir"], "/w");
        assert_eq!(json["cost"]["total_cost_usd"], 0.256);
        assert_eq!(json["context_window"]["used_percentage"], 12);
        assert_eq!(json["exceeds_200k_tokens"], false);
        assert_eq!(status_json(&SessionStatus::default(), "1.0.0")["context_window"]["used_percentage"], Value::Null);
    }
}

use super::*;

fn summary(lines: &[&str]) -> Option<SessionSummary> {
    let log = lines.join("\n");
    summarize(&SessionId::from_bits(1), log.as_bytes(), log.as_bytes(), 5, log.len() as u64)
}

fn user(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"parentUuid":null,"type":"user","message":{{"role":"user","content":{text}}},"cwd":"/w","gitBranch":"main","timestamp":"2026-01-01T00:00:00.000Z"}}"#
    )
}

#[test]
fn titles_win_over_prompts() {
    let (first, second) = (user("first\nprompt"), user("second"));
    let mut lines = vec![first.as_str(), second.as_str()];
    let found = summary(&lines).unwrap();
    assert_eq!(found.summary, "first prompt");
    assert_eq!(found.first_prompt.as_deref(), Some("first prompt"));
    assert_eq!((found.cwd.as_deref(), found.git_branch.as_deref()), (Some("/w"), Some("main")));
    assert_eq!(found.created_at, Timestamp::parse("2026-01-01T00:00:00.000Z"));
    for (line, expected) in [
        (r#"{"type":"summary","summary":"stored","leafUuid":"x"}"#, "stored"),
        (r#"{"type":"last-prompt","lastPrompt":"last","leafUuid":"x"}"#, "last"),
        (r#"{"type":"ai-title","aiTitle":"by ai"}"#, "by ai"),
        (r#"{"type":"custom-title","customTitle":"mine","sessionId":"x"}"#, "mine"),
        (r#"{"type":"custom-title","customTitle":"renamed","sessionId":"x"}"#, "renamed"),
    ] {
        lines.push(line);
        assert_eq!(summary(&lines).unwrap().summary, expected);
    }
    assert_eq!(summary(&lines).unwrap().custom_title.as_deref(), Some("renamed"));
}

#[test]
fn the_last_tag_counts_and_an_empty_one_clears() {
    let first = user("x");
    let mut lines = vec![first.as_str(), r#"{"type":"tag","tag":"a","sessionId":"x"}"#];
    assert_eq!(summary(&lines).unwrap().tag.as_deref(), Some("a"));
    lines.push(r#"{"type":"tag","tag":"","sessionId":"x"}"#);
    assert_eq!(summary(&lines).unwrap().tag, None);
}

#[test]
fn what_is_no_prompt_is_passed_over() {
    let meta = r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"meta"}}"#;
    let compacted = r#"{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"compact"}}"#;
    let result = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}}"#;
    let texts = [
        user("<local-command-stdout>x"),
        user("[Request interrupted by user]"),
        user("<ide_selection>x</ide_selection>"),
        user("<command-name>/clear</command-name>"),
    ];
    let mut lines = vec![meta, compacted, result, "garbage", ""];
    assert_eq!(summary(&lines), None);
    lines.extend(texts.iter().map(String::as_str));
    assert_eq!(summary(&lines).unwrap().first_prompt.as_deref(), Some("/clear"));
    let real = user("<ide_selection>x</ide_selection> and a question");
    lines.push(&real);
    assert_eq!(summary(&lines).unwrap().summary, "<ide_selection>x</ide_selection> and a question");
}

#[test]
fn logs_of_subagents_and_empty_logs_are_not_listed() {
    let prompt = user("x");
    assert_eq!(summary(&[r#"{"isSidechain":true,"type":"user"}"#, &prompt]), None);
    assert_eq!(summary(&[]), None);
}

#[test]
fn long_prompts_are_cut_even_where_their_line_is_not_read_whole() {
    let long = user(&"\u{e9}\"\\ ".repeat(40_000));
    let whole = summary(&[&long]).unwrap().summary;
    assert!(whole.ends_with('…') && whole.chars().count() <= 201, "{whole}");
    let head = &long.as_bytes()[..SUMMARY_BYTES];
    let cut = summarize(&SessionId::from_bits(1), head, &long.as_bytes()[long.len() - SUMMARY_BYTES..], 5, 1).unwrap();
    assert_eq!(cut.summary, whole);
}

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot be set up has failed")]

use super::*;

fn read(given: &[(&str, &str)]) -> Variables {
    Variables::read(|name| given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
}

#[test]
fn each_variable_says_what_its_name_says() {
    let all = read(&[
        ("ANTHROPIC_MODEL", " haiku "),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "9000"),
        ("CLAUDE_CODE_MAX_RETRIES", "0"),
        ("MAX_STRUCTURED_OUTPUT_RETRIES", "2"),
        ("MAX_THINKING_TOKENS", "4096"),
        ("BASH_DEFAULT_TIMEOUT_MS", "1500"),
        ("BASH_MAX_TIMEOUT_MS", "3000"),
        ("BASH_MAX_OUTPUT_LENGTH", "40000"),
    ]);
    assert_eq!(all.model.as_deref(), Some("haiku"));
    assert_eq!((all.max_output_tokens, all.max_retries), (Some(9_000), Some(0)));
    assert_eq!((all.structured_output_retries, all.thinking), (Some(2), Some(Thinking::Budget(4_096))));
    assert_eq!((all.max_output, read(&[]).max_output), (Some(40_000), None));
    assert!(
        read(&[("BASH_MAX_OUTPUT_LENGTH", "40000")]).bash(false, None).is_some()
            && read(&[]).bash(false, None).is_none()
    );
    let large = read(&[("BASH_MAX_OUTPUT_LENGTH", "900000")]);
    assert!(large.notes[0].contains("BASH_MAX_OUTPUT_LENGTH is more than 150000"), "{:?}", large.notes);
    assert_eq!(all.timeouts, Some((Duration::from_millis(1_500), Duration::from_secs(3))));
    assert_eq!(all.notes, [""; 0]);
    assert_eq!(read(&[("MAX_THINKING_TOKENS", "0")]).thinking, Some(Thinking::Off));
    assert_eq!(read(&[("BASH_DEFAULT_TIMEOUT_MS", "")]), read(&[]));
    assert!(read(&[]).send_user_id && !read(&[("WINDLASS_SEND_USER_ID", "0")]).send_user_id);
    let long = read(&[("BASH_DEFAULT_TIMEOUT_MS", "1200000")]).timeouts;
    assert_eq!(long, Some((Duration::from_secs(1_200), Duration::from_secs(1_200))));
}

#[test]
fn what_is_no_number_does_not_count_and_is_noted() {
    for value in ["x", "-1", "1.5", "99999999999999999999", "1e3"] {
        let odd = read(&[("CLAUDE_CODE_MAX_RETRIES", value)]);
        assert_eq!((odd.max_retries, odd.notes.len()), (None, 1), "{value}");
        assert!(odd.notes[0].contains("CLAUDE_CODE_MAX_RETRIES") && odd.notes[0].contains(value));
    }
    let zero = read(&[("BASH_MAX_TIMEOUT_MS", "0")]);
    assert_eq!((zero.timeouts, zero.notes.len()), (None, 1));
}

#[test]
fn tool_search_is_switched_and_given_a_share() {
    let budget = |value| read(&[("ENABLE_TOOL_SEARCH", value)]).tool_budget;
    assert_eq!(budget("true").unwrap().tokens, Some(0));
    assert!(!budget("false").unwrap().enabled && budget("auto") == Some(ToolBudget::default()));
    assert_eq!((budget("auto:5").unwrap().percent, budget("auto:0").unwrap().percent), (5, 0));
    for value in ["auto:101", "auto:x", "yes", "auto:-1"] {
        assert!(budget(value).is_none() && read(&[("ENABLE_TOOL_SEARCH", value)]).notes.len() == 1, "{value}");
    }
}

#[test]
fn a_snapshot_of_the_login_shell_is_only_taken_when_settings_say_so() {
    let bash = |content| Variables::read(|_| None).bash(false, content).map(|bash| format!("{bash:?}"));
    assert_eq!(bash(None), None);
    let (variables, all) = (bash(Some(SnapshotContent::Variables)).unwrap(), bash(Some(SnapshotContent::All)).unwrap());
    assert!(variables.contains("is_judged: None") && all.contains("is_judged: Some("), "{variables} {all}");
}

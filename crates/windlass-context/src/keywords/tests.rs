use super::*;
use windlass_types::Effort;

#[test]
fn the_strongest_order_of_the_user_counts() {
    use ThinkingLevel::{Think, ThinkHard, ThinkHarder, Ultrathink};
    let cases = [
        ("Think about the edge cases.", Some(Think)),
        ("Fix it. think first", Some(Think)),
        ("Please think before you write", Some(Think)),
        ("Read it, then think, then write.", Some(Think)),
        ("THINK HARD about it", Some(ThinkHard)),
        ("Now, think harder!", Some(ThinkHarder)),
        ("You have to think hard here. ultrathink", Some(Ultrathink)),
        ("fix the bug (ultrathink)", Some(Ultrathink)),
        ("Ultrathink: what is wrong?", Some(Ultrathink)),
        // Words of others, parts of names, and statements.
        ("I think we should fix it", None),
        ("What do you think?", None),
        ("rethink hardware, thinking, think-tank, think_hard(), src/ultrathink, ultrathinking", None),
        ("Think\u{301}", Some(Think)),
        ("do not think hard", None),
        ("Don't ultrathink this", None),
        ("think. hard", Some(Think)),
        ("", None),
        ("ｔｈｉｎｋ", None),
    ];
    for (text, expected) in cases {
        assert_eq!(ThinkingLevel::in_text(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_only_shown_does_not_count() {
    for shown in [
        "Why does `ultrathink` fail?",
        "Explain:\n```\nultrathink\n```\nand fix it",
        "Explain:\n~~~py\nultrathink\n~~~",
        "> ultrathink\nhe wrote",
        "log:\n    ultrathink\n\tthink hard",
        "<file path=\"a\">\nultrathink\n</file>\nRead that.",
        "<note>think hard</note>",
        "```\nnever closed\nultrathink",
    ] {
        assert_eq!(ThinkingLevel::in_text(shown), None, "{shown:?}");
        let asked = format!("ultrathink about this:\n{shown}");
        assert_eq!(ThinkingLevel::in_text(&asked), Some(ThinkingLevel::Ultrathink), "{asked:?}");
    }
    assert_eq!(ThinkingLevel::in_text("5 < 6 and ultrathink"), Some(ThinkingLevel::Ultrathink));
    assert_eq!(ThinkingLevel::in_text("a single ` and ultrathink"), Some(ThinkingLevel::Ultrathink));
}

#[test]
fn each_model_is_asked_in_its_own_way() {
    let keywords = ThinkingKeywords::default();
    let mut budget = ModelInfo::new(200_000, 64_000);
    budget.thinking_budget = true;
    let asked = |level, model: &ModelInfo, thinking, effort| keywords.settings(level, model, thinking, effort);
    assert_eq!(asked(ThinkingLevel::Think, &budget, Thinking::Adaptive, None), (Thinking::Budget(4_000), None));
    assert_eq!(asked(ThinkingLevel::Ultrathink, &budget, Thinking::Adaptive, None), (Thinking::Budget(31_999), None));
    let more = Thinking::Budget(50_000);
    assert_eq!(asked(ThinkingLevel::Ultrathink, &budget, more, None), (more, None), "never less than without");

    let mut adaptive = ModelInfo::new(200_000, 64_000);
    adaptive.adaptive_thinking = true;
    adaptive.thinking_budget = true;
    assert_eq!(asked(ThinkingLevel::ThinkHard, &adaptive, Thinking::Budget(9), None), (Thinking::Adaptive, None));
    adaptive.efforts = vec![Effort::Low, Effort::Medium, Effort::High];
    let high = (Thinking::Adaptive, Some(Effort::High));
    assert_eq!(asked(ThinkingLevel::Ultrathink, &adaptive, Thinking::Adaptive, None), high);
    assert_eq!(asked(ThinkingLevel::Think, &adaptive, Thinking::Adaptive, Some(Effort::High)), high);

    let mut effort = ModelInfo::new(200_000, 64_000);
    effort.efforts = Effort::ALL.to_vec();
    let max = (Thinking::Adaptive, Some(Effort::Max));
    assert_eq!(asked(ThinkingLevel::Ultrathink, &effort, Thinking::Adaptive, Some(Effort::Low)), max);
    let off = (Thinking::Off, Some(Effort::Low));
    assert_eq!(asked(ThinkingLevel::Ultrathink, &effort, Thinking::Off, Some(Effort::Low)), off, "off means off");
    let plain = (Thinking::Adaptive, None);
    assert_eq!(asked(ThinkingLevel::Ultrathink, &ModelInfo::new(200_000, 64_000), Thinking::Adaptive, None), plain);
}

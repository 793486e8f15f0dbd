//! Steps before a conversation fills the model's context window: old results are removed first, then a summary replaces
//! it, with the structured data of the work. Lessons I1 to I5.

use crate::choices::Choices;
use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{fail_after, is_model, sim, text};
use crate::sim::{Sim, TAME, config, model};
use crate::tools::policy;
use windlass_core::{Input, Machine, MachineConfig, Prompt};
use windlass_types::{
    Api, ContentBlock, EntryKind, JsonText, ModelErrorKind, ModelRequest, PermissionMode, StopReason, ToolUse,
};

/// Returns a window of 40,000 tokens, of which 30,000 may be used.
fn small() -> MachineConfig {
    let mut config = config();
    config.auto_compact.window = Some(40_000);
    config.policy = policy(PermissionMode::AcceptEdits);
    config
}

/// Returns a call of a tool for a file, with a result of `size` characters.
fn call(id: &str, tool: &str, path: &str, size: usize) -> ContentBlock {
    let input = format!(r#"{{"path":"{path}","file_path":"/w/{path}","content":"text of {path}","size":{size}}}"#);
    ContentBlock::ToolUse(ToolUse::new(id, tool, JsonText::parse(input).unwrap()))
}

/// Plays a model that reads `files` files of 15,000 characters each, one in each turn, and says that it is done.
fn reading(config: MachineConfig, files: usize) -> Sim {
    calling(config, "Read", files)
}

/// Same as [`reading`], with another tool.
fn calling(config: MachineConfig, tool: &str, times: usize) -> Sim {
    let mut sim = world(config);
    sim.script = (0..times).map(|at| vec![call(&format!("t{at}"), tool, &format!("f{at}"), 15_000)]).collect();
    sim.script.push(vec![text("Done.")]);
    sim.prompt("do it");
    sim.play();
    sim
}

/// Returns a world in which the model counts its input tokens.
fn world(config: MachineConfig) -> Sim {
    let mut sim = Sim::new(config, Choices::new(Vec::new()), TAME);
    sim.counts = true;
    sim
}

fn is_summary(request: &ModelRequest) -> bool {
    words(request).last().is_some_and(|text| text.contains("about to be replaced by a summary"))
}

/// Returns all texts that a request has on the side of the user.
fn words(request: &ModelRequest) -> Vec<String> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let text = |block: &ContentBlock| match block {
        ContentBlock::ToolResult(result) => Some(result.content.text()),
        block => block.as_text().map(str::to_owned),
    };
    blocks.filter_map(text).collect()
}

fn trims(sim: &Sim) -> usize {
    sim.log.iter().filter(|entry| matches!(entry.kind, EntryKind::ResultsTrimmed(_))).count()
}

fn summaries(sim: &Sim) -> usize {
    sim.requests.iter().filter(|request| is_summary(request)).count()
}

/// Continues a session as another process does.
fn resumed(config: MachineConfig, sim: &Sim) -> Sim {
    let mut resumed = Sim::new(config.clone(), Choices::new(Vec::new()), TAME);
    resumed.machine = Machine::new(config, &sim.log);
    resumed.log.clone_from(&sim.log);
    resumed
}

fn compact(sim: &mut Sim, focus: &str, summary: &str) {
    sim.script = vec![vec![text(&format!("<summary>{summary}</summary>"))]];
    sim.input(Input::Prompt(Prompt::compact(focus)));
    sim.play();
}

#[test]
fn old_results_go_before_a_summary_is_written() {
    let sim = reading(small(), 8);
    let seen = render(&sim.events);
    assert_eq!((trims(&sim), summaries(&sim)), (1, 0), "{seen}");
    assert_eq!(lines(&sim, "run ended (Success)").len(), 1, "{seen}");
    assert_eq!(lines(&sim, "cache broken: history").len(), 1, "{seen}");
    assert_eq!(lines(&sim, "Old results of tools were replaced by notes").len(), 1, "{seen}");
    let last = words(sim.requests.last().unwrap());
    let notes =
        last.iter().filter(|text| text.starts_with("[The result of this Read call, of 15000 characters")).count();
    let whole = last.iter().filter(|text| text.len() == 15_000).count();
    assert_eq!(notes + whole, 8);
    assert!(notes >= 3 && whole >= 3, "{notes} {whole}");
    // Each request extends the previous one, before and after the change.
    let json = |at: usize| sim.requests[at].messages.iter().map(|one| one.json().to_owned()).collect::<Vec<_>>();
    let changes = (1..sim.requests.len()).filter(|at| !json(*at).starts_with(&json(at - 1)));
    assert_eq!(changes.count(), 1);
    // Another process has the same conversation.
    let mut later = resumed(small(), &sim);
    assert_eq!(later.conversation(), sim.conversation());
    later.script = vec![vec![text("Hello.")]];
    later.prompt("hi");
    later.play();
    let sent: Vec<String> = later.requests[0].messages.iter().map(|message| message.json().to_owned()).collect();
    assert!(sent.starts_with(&json(sim.requests.len() - 1)));
}

#[test]
fn where_notes_are_not_enough_a_summary_follows() {
    // Results of edits stay.
    let sim = calling(small(), "Write", 6);
    assert_eq!((trims(&sim), summaries(&sim)), (0, 1), "{}", render(&sim.events));
    assert_eq!(lines(&sim, "run ended (Success)").len(), 1, "{}", render(&sim.events));
    // After each summary the conversation was shorter than the limit.
    for pair in sim.requests.windows(2).filter(|pair| is_summary(&pair[0])) {
        assert!(tokens(&pair[1]) < 30_000, "{}", tokens(&pair[1]));
    }
    let mut off = small();
    off.auto_compact.trim.enabled = false;
    let sim = reading(off, 6);
    assert_eq!((trims(&sim), summaries(&sim)), (0, 1), "{}", render(&sim.events));
    let mut off = small();
    off.auto_compact.enabled = false;
    let sim = reading(off, 8);
    assert_eq!((trims(&sim), summaries(&sim)), (0, 0));
}

/// A model whose window is smaller than known refuses requests: old results are removed first then too, and a summary
/// is written if that is not enough.
#[test]
fn a_request_that_was_too_long_is_sent_again_without_old_results() {
    let mut wide = small();
    wide.auto_compact.window = Some(400_000);
    for (window, trims_expected, summaries_expected) in [(90_000, 1, 0), (2_000, 1, 1)] {
        let mut sim = reading(wide.clone(), 30);
        assert_eq!((trims(&sim), summaries(&sim)), (0, 0), "{}", render(&sim.events));
        sim.script = vec![vec![text("<summary>All.</summary>")]; 8];
        sim.prompt("more");
        sim.play_except(is_model);
        while !is_summary(sim.requests.last().unwrap()) && tokens(sim.requests.last().unwrap()) > window {
            fail_after(&mut sim, 0, ModelErrorKind::PromptTooLong);
            sim.play_except(is_model);
        }
        sim.play();
        let seen = render(&sim.events);
        assert_eq!((trims(&sim), summaries(&sim)), (trims_expected, summaries_expected), "{seen}");
        let notices = lines(&sim, "too long for the model. Old results of tools were replaced").len();
        assert_eq!(notices, trims_expected, "{seen}");
        assert_eq!(lines(&sim, "run ended (Success)").len(), 2, "{seen}");
    }
}

fn tokens(request: &ModelRequest) -> u64 {
    request.messages.iter().map(|message| windlass_context::estimate_message(message)).sum()
}

#[test]
fn reasoning_that_is_bound_to_what_was_replaced_is_left_out() {
    for (dialect, adaptive, dropped) in [(Api::MESSAGES, true, 1), (Api::MESSAGES, false, 0), (Api::RESPONSES, true, 0)]
    {
        let mut config = small();
        config.model.info.api = Api::new("p", dialect);
        config.model.info.adaptive_thinking = adaptive;
        let sim = reading(config, 8);
        assert_eq!(trims(&sim), 1);
        let found = sim.log.iter().filter(|entry| matches!(entry.kind, EntryKind::ReplayDropped)).count();
        assert_eq!(found, dropped, "{dialect} {adaptive}");
    }
}

/// The facts and the files of the ledger are in the next request.
#[test]
fn what_is_known_as_data_follows_the_summary() {
    let mut sim = world(small());
    sim.script = vec![
        vec![call("t1", "Read", "a.rs", 10)],
        vec![call("t2", "Banned", "b.rs", 10)],
        vec![call("t3", "Write", "c.rs", 10)],
        vec![text("Done.")],
    ];
    sim.prompt("do it");
    sim.play();
    compact(&mut sim, "the parser", "All went well.");
    let asked = words(sim.requests.last().unwrap());
    assert!(asked.last().unwrap().contains("the parser"), "{asked:?}");
    sim.script = vec![vec![text("Hello.")]];
    sim.prompt("continue");
    sim.play();
    let texts = words(sim.requests.last().unwrap());
    let summary = &texts[0];
    for fact in [
        "All went well.",
        "\n- do it",
        "changed, latest first:\n- /w/c.rs (1 change)",
        "\n- /w/a.rs",
        "- refused: Banned",
    ] {
        assert!(summary.contains(fact), "{fact}: {summary}");
    }
    assert!(texts[1].contains("The file \"/w/c.rs\" as the conversation had it last"), "{texts:?}");
    assert!(texts[1].contains("\ntext of c.rs\n"), "{texts:?}");
    assert_eq!(resumed(small(), &sim).conversation(), sim.conversation());
    let mut none = small();
    none.auto_compact.restored_files = 0;
    let mut later = resumed(none, &sim);
    compact(&mut later, "", "Again.");
    assert!(!later.conversation().concat().contains("as the conversation had it last"));
}

/// I1: a model that has to forget its results after each turn, since its prompt fills the window.
#[test]
fn i1_a_spiral_of_reading_and_forgetting_ends() {
    let mut config = small();
    config.auto_compact.window = Some(8_000);
    let mut sim = world(config);
    sim.script = (0..40)
        .flat_map(|at| {
            [vec![call(&format!("t{at}"), "Read", "big", 60_000)], vec![text("<summary>I must read it.</summary>")]]
        })
        .collect();
    sim.prompt(&"do it ".repeat(4_000));
    sim.play();
    let seen = render(&sim.events);
    assert_eq!(lines(&sim, "run failed (PromptTooLong)").len(), 1, "{seen}");
    assert!(summaries(&sim) <= 5, "{}", summaries(&sim));
}

/// I2: the last instruction is repeated word for word after each summary.
#[test]
fn i2_the_last_word_of_the_user_follows_every_summary() {
    let mut config = small();
    config.auto_compact.trim.enabled = false;
    let mut sim = world(config);
    sim.script = vec![vec![text("Yes?")]];
    sim.prompt("do it");
    sim.play();
    for round in 0..3 {
        let words_of_user = format!("Do step {round} only,\n  and nothing else!");
        sim.script =
            (0..6).map(|at| vec![call(&format!("r{round}t{at}"), "Read", &format!("f{at}"), 15_000)]).collect();
        sim.script.push(vec![text("<summary>Step by step.</summary>")]);
        sim.script.push(vec![text("Done.")]);
        sim.prompt(&words_of_user);
        sim.play();
        assert_eq!(summaries(&sim), round + 1, "{}", render(&sim.events));
        let after = sim.requests.iter().rposition(|request| is_summary(request)).unwrap() + 1;
        let texts = words(&sim.requests[after]);
        assert_eq!(texts.iter().filter(|text| **text == words_of_user).count(), 1, "{texts:?}");
    }
}

/// I3: an empty or truncated summary is not accepted.
#[test]
fn i3_a_summary_that_is_empty_or_cut_is_not_taken() {
    for (answer, reason) in [("  ", StopReason::EndTurn), ("<summary>Half of", StopReason::MaxTokens)] {
        let mut config = small();
        config.auto_compact.trim.enabled = false;
        let mut sim = world(config);
        sim.script = (0..6).map(|at| vec![call(&format!("t{at}"), "Read", "f", 15_000)]).collect();
        sim.reasons = vec![StopReason::ToolUse; 6];
        sim.script.extend([vec![text(answer)], vec![text(answer)], vec![text("Done.")]]);
        sim.reasons.extend([reason.clone(), reason.clone(), StopReason::EndTurn]);
        sim.prompt("do it");
        sim.play();
        let seen = render(&sim.events);
        assert_eq!(summaries(&sim), 2, "{seen}");
        assert!(!sim.log.iter().any(|entry| matches!(entry.kind, EntryKind::Compacted(_))), "{seen}");
        assert_eq!(lines(&sim, "run ended (Success)").len(), 1, "{seen}");
        assert!(words(sim.requests.last().unwrap()).iter().filter(|text| text.len() == 15_000).count() == 6);
    }
}

/// I5: data kept by the first compaction is still kept by the third.
#[test]
fn i5_three_compactions_keep_the_ledger() {
    let mut sim = world(small());
    sim.script = vec![vec![call("t1", "Write", "first.rs", 10)], vec![text("Done.")]];
    sim.prompt("do it");
    sim.play();
    for round in 0..3 {
        compact(&mut sim, "", &format!("Summary {round}."));
        sim.script = vec![vec![call(&format!("r{round}"), "Read", &format!("f{round}.rs"), 10)], vec![text("Done.")]];
        sim.prompt(&format!("round {round}"));
        sim.play();
    }
    compact(&mut sim, "", "The end.");
    let conversation = sim.conversation().concat();
    for kept in ["- do it", "- round 0", "- round 2", "/w/first.rs (1 change)", "/w/f0.rs", "/w/f2.rs", "The end."] {
        assert!(conversation.contains(kept), "{kept}: {conversation}");
    }
    assert_eq!(resumed(small(), &sim).conversation(), sim.conversation());
    assert!(conversation.len() < 8_000, "{}", conversation.len());
}

#[test]
fn another_model_may_write_summaries() {
    let mut config = small();
    config.auto_compact.summarizer = Some(model("scribe"));
    config.fallback = Some(model("f"));
    let mut sim = sim(config, &[&[text("Done.")]]);
    sim.play();
    compact(&mut sim, "", "All went well.");
    sim.script = vec![vec![text("Hello.")]];
    sim.prompt("continue");
    sim.play();
    let models: Vec<&str> = sim.requests.iter().map(|request| request.model.as_str()).collect();
    assert_eq!(models, ["m", "scribe", "m"]);
}

#[test]
fn instructions_beyond_their_share_are_left_out_named_once_and_accounted_for() {
    use windlass_context::{FileInstructions, InstructionSource};
    let file = |path: &str, tokens: usize| {
        FileInstructions::new(InstructionSource::Project, path, &format!("{path} {}", "y".repeat(tokens * 3))).unwrap()
    };
    let mut config = config();
    config.context.instructions = [file("big.md", 29_000), file("huge.md", 20_000), file("small.md", 100)].into();
    let mut sim = world(config.clone());
    sim.script = vec![vec![text("Done.")], vec![text("Again.")]];
    for prompt in ["do it", "again"] {
        sim.prompt(prompt);
        sim.play();
    }
    assert_eq!(lines(&sim, "left out of the context").len(), 1, "{}", render(&sim.events));
    let texts = words(sim.requests.last().unwrap()).concat();
    assert!(texts.contains("big.md yyy") && texts.contains("small.md yyy") && !texts.contains("huge.md yyy"));
    assert!(texts.contains("Instructions from \"huge.md\" are left out"));
    let usage = sim.machine.context_usage();
    let huge = usage.sections.iter().find(|section| section.name == "huge.md").unwrap();
    assert!(huge.left_out > 60_000 && huge.tokens < 100, "{huge:?}");
    assert_eq!(huge.reason.as_deref(), Some("instructions may take up 15 % of the window"));
    let mut later = resumed(config, &sim);
    later.script = vec![vec![text("Hello.")]];
    later.prompt("hi");
    later.play();
    assert_eq!(lines(&later, "left out of the context").len(), 0, "the conversation says so");
}

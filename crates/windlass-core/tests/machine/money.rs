//! Booking of incomplete model requests, and reservations for open ones.

use crate::choices::Choices;
use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{call, sim, text};
use crate::sim::{Going, Sim, TAME, config, model};
use windlass_core::{Input, MachineConfig, ModelFailure, Prompt, StoreFailure};
use windlass_types::{
    BlockStart, ContentBlock, EventKind, ModelErrorKind, ModelEvent, ModelItem, NanoUsd, Outcome, Price, Status,
    StopReason, StreamDelta, Usage,
};

/// Price of an output token in the models of these worlds, in nano US dollars.
const OUTPUT: u64 = 15_000;

fn is_model(going: &Going) -> bool {
    matches!(going, Going::Model { .. })
}

/// Returns prose of `tokens` tokens: each of these words, with the space after it, is one in the public tokenizers.
fn prose(tokens: usize) -> String {
    ["this ", "method ", "returns ", "the ", "first ", "value "].iter().cycle().take(tokens).copied().collect()
}

/// Lets the model's stream continue for `items` items.
fn stream(sim: &mut Sim, items: usize) {
    sim.play_except(is_model);
    for _ in 0..items {
        sim.let_go(is_model);
    }
}

/// Lets the model's stream continue for `items` items, then fails it.
fn fail_after(sim: &mut Sim, items: usize, failure: ModelFailure) {
    stream(sim, items);
    let call = sim.take(is_model);
    sim.input(Input::ModelFailed(call, failure));
}

fn failure(kind: ModelErrorKind) -> ModelFailure {
    ModelFailure::new(kind, "it broke")
}

/// Returns a configuration whose model may write long messages.
fn roomy() -> MachineConfig {
    let mut config = config();
    (config.model.info.max_output_tokens, config.model.info.default_output_tokens) = (64_000, 64_000);
    config
}

fn spent(sim: &Sim) -> u64 {
    sim.machine.state().cost().nano()
}

/// D10: streamed output is billed, whatever the first frame reported.
#[test]
fn d10_calls_that_are_cut_are_booked_with_what_they_streamed() {
    let long = prose(46_000);
    for kind in [ModelErrorKind::Cut, ModelErrorKind::Timeout, ModelErrorKind::Overloaded, ModelErrorKind::Protocol] {
        let mut sim = sim(roomy(), &[&[text(&long)], &[text("Done.")]]);
        fail_after(&mut sim, 3, failure(kind));
        assert!(spent(&sim) >= 46_000 * OUTPUT, "{kind:?}: {} is booked", sim.machine.state().cost());
        assert!(spent(&sim) <= 46_000 * OUTPUT * 22 / 10, "{kind:?}: {} is booked", sim.machine.state().cost());
    }
    let mut sim = sim(roomy(), &[&[text(&long)]]);
    stream(&mut sim, 3);
    sim.input(Input::Interrupt);
    assert!(spent(&sim) >= 46_000 * OUTPUT, "a stop: {} is booked", sim.machine.state().cost());
}

/// A request that is abandoned because the store refuses is billed as well.
#[test]
fn a_call_that_a_refusing_store_ends_is_booked() {
    let mut sim = sim(roomy(), &[&[text(&prose(1_000))]]);
    sim.play_except(|going| matches!(going, Going::Append | Going::Model { .. }));
    for _ in 0..3 {
        sim.let_go(is_model);
    }
    let append = sim.take(|going| matches!(going, Going::Append));
    sim.input(Input::Appended(append, Err(StoreFailure::new("the disk is full"))));
    let reported = sim.events.iter().find_map(|event| match &event.kind {
        EventKind::RunFinished(result) => Some(result.cost.nano()),
        _ => None,
    });
    assert!(reported >= Some(1_000 * OUTPUT), "{reported:?} is reported");
}

/// A budget of one dollar does not cover six messages of 69 cents that all break off.
#[test]
fn a_budget_ends_a_run_whose_streams_are_cut_again_and_again() {
    let long = prose(46_000);
    let script: Vec<_> = (0..6).map(|_| vec![text(&long)]).collect();
    let mut config = roomy();
    config.limits.max_budget = Some(NanoUsd::from_usd(1.0));
    let mut sim = sim(config, &script.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for _ in 0..6 {
        sim.play_except(is_model);
        if sim.going.iter().any(|(_, going)| is_model(going)) {
            fail_after(&mut sim, 3, failure(ModelErrorKind::Cut));
        }
    }
    assert!(sim.requests.len() <= 2, "{} calls for a dollar", sim.requests.len());
    assert!(lines(&sim, "run ended")[0].contains("MaxBudget"), "{}", render(&sim.events));
}

/// A request that was cut before its input was reported costs its estimated input.
#[test]
fn a_call_without_usage_is_booked_with_its_input() {
    for kind in [ModelErrorKind::Connection, ModelErrorKind::Timeout, ModelErrorKind::Cut] {
        let mut sim = Sim::new(roomy(), Choices::new(Vec::new()), TAME);
        sim.prompt(&prose(10_000));
        fail_after(&mut sim, 0, failure(kind));
        assert!(spent(&sim) >= 10_000 * 3_000, "{kind:?}: {} is booked", sim.machine.state().cost());
    }
    let mut sim = Sim::new(config(), Choices::new(Vec::new()), TAME);
    sim.prompt(&prose(10_000));
    stream(&mut sim, 0);
    sim.input(Input::Interrupt);
    assert!(spent(&sim) >= 10_000 * 3_000, "{} is booked", sim.machine.state().cost());
}

/// A request that a provider refuses, or never gets, costs nothing.
#[test]
fn a_refused_call_costs_nothing() {
    for (kind, status) in [
        (ModelErrorKind::RateLimited, Some(429)),
        (ModelErrorKind::Overloaded, Some(529)),
        (ModelErrorKind::Overloaded, None),
        (ModelErrorKind::Server, Some(500)),
        (ModelErrorKind::InvalidRequest, Some(400)),
        (ModelErrorKind::Authentication, None),
    ] {
        let mut sim = sim(config(), &[&[text("no")], &[text("Done.")]]);
        let mut refused = failure(kind);
        refused.status = status;
        fail_after(&mut sim, 0, refused);
        assert_eq!(spent(&sim), 0, "{kind:?} {status:?}");
    }
}

/// A summary is billed like every other message, complete or not.
#[test]
fn summaries_that_are_cut_are_booked() {
    let long = format!("<summary>{}", prose(10_000));
    for stopped in [false, true] {
        let mut sim = sim(roomy(), &[&[text("Hello.")], &[text(&long)], &[text("<summary>All.</summary>")]]);
        sim.play();
        let before = spent(&sim);
        sim.input(Input::Prompt(Prompt::compact("")));
        stream(&mut sim, 3);
        if stopped {
            sim.input(Input::Interrupt);
        } else {
            let call = sim.take(is_model);
            sim.input(Input::ModelFailed(call, failure(ModelErrorKind::Cut)));
        }
        let booked = spent(&sim) - before;
        assert!((10_000 * OUTPUT..22_000 * OUTPUT).contains(&booked), "{booked} is booked for the summary");
        sim.play();
        assert!(lines(&sim, "run ended").len() == 2, "{}", render(&sim.events));
    }
}

/// Nothing is reserved for a request that has ended: its continuation may use the amount.
#[test]
fn a_continuation_is_given_what_the_call_before_it_no_longer_needs() {
    let mut sim = Sim::new(config_for(8_000, 13_000), Choices::new(Vec::new()), TAME);
    sim.script = vec![vec![text("The first half")], vec![text("and the second.")]];
    sim.reasons = vec![StopReason::MaxTokens, StopReason::EndTurn];
    sim.prompt("do it");
    sim.play();
    let asked: Vec<u32> = sim.requests.iter().map(|request| request.max_output_tokens).collect();
    assert_eq!(asked, [8_000, 8_000]);
}

/// Nothing is reserved for a request that has failed: the model that takes over may use the amount.
#[test]
fn a_fallback_is_given_what_the_failed_call_no_longer_needs() {
    let mut config = config_for(8_000, 13_000);
    config.fallback = Some(model("f"));
    config.limits.max_retries = 0;
    let mut sim = sim(config, &[&[text("no")], &[text("Done.")]]);
    let mut refused = failure(ModelErrorKind::Overloaded);
    refused.status = Some(529);
    fail_after(&mut sim, 0, refused);
    sim.play();
    let asked: Vec<u32> = sim.requests.iter().map(|request| request.max_output_tokens).collect();
    assert_eq!(asked, [8_000, 8_000]);
}

/// Nothing is reserved for a request that was too long: the summary that makes it shorter may use the amount.
#[test]
fn a_summary_is_given_what_the_refused_call_no_longer_needs() {
    let mut sim = sim(config_for(8_000, 14_000), &[&[text("Hello.")], &[], &[text("<summary>All.</summary>")]]);
    sim.play();
    sim.prompt("more");
    let mut refused = failure(ModelErrorKind::PromptTooLong);
    refused.status = Some(400);
    fail_after(&mut sim, 0, refused);
    sim.play_except(is_model);
    assert_eq!(sim.requests[2].max_output_tokens, 8_000);
}

/// Returns a configuration with this output limit, and a budget for this number of output tokens.
fn config_for(most: u32, budget: u64) -> MachineConfig {
    let mut config = config();
    config.request.max_output_tokens = Some(most);
    config.limits.max_budget = Some(NanoUsd::new(budget * OUTPUT));
    config
}

/// A model that writes no summary is not asked for one before each turn.
#[test]
fn automatic_compactions_that_fail_are_not_tried_before_every_turn() {
    const TURNS: usize = 12;
    let mut config = config();
    config.auto_compact.window = Some(100);
    let mut sim = Sim::new(config, Choices::new(Vec::new()), TAME);
    // The model calls a tool whatever it is asked for.
    sim.script = (0..40).map(|n| vec![call(&format!("t{n}"), "Read", "a")]).collect();
    sim.prompt("do it");
    for _ in 0..2_000 {
        if sim.requests.iter().filter(|request| !is_summary(request)).count() >= TURNS || sim.going.is_empty() {
            break;
        }
        sim.steps(1);
    }
    let summaries = sim.requests.iter().filter(|request| is_summary(request)).count();
    assert!(summaries <= 4, "{summaries} of {} requests ask for a summary", sim.requests.len());
    let notices: Vec<_> = lines(&sim, "notice").into_iter().filter(|line| line.contains("compact")).collect();
    assert_eq!(notices.len(), 1, "{}", render(&sim.events));
}

fn is_summary(request: &windlass_types::ModelRequest) -> bool {
    let last = request.messages.last().and_then(|message| message.content.last());
    last.and_then(ContentBlock::as_text).is_some_and(|text| text.contains("about to be replaced by a summary"))
}

/// The run after it may try again: the conversation may be shorter, or the model in a better mood.
#[test]
fn another_run_tries_to_compact_again() {
    let mut config = config();
    config.auto_compact.window = Some(100);
    let mut sim = Sim::new(config, Choices::new(Vec::new()), TAME);
    sim.script = (0..12).map(|n| vec![call(&format!("t{n}"), "Read", "a")]).collect();
    sim.prompt("do it");
    sim.play();
    let before = sim.requests.iter().filter(|request| is_summary(request)).count();
    sim.script = vec![vec![text("<summary>All.</summary>")], vec![text("Done.")]];
    sim.prompt("again");
    sim.play();
    let after = sim.requests.iter().filter(|request| is_summary(request)).count();
    assert_eq!(after, before + 1);
    assert!(sim.events.iter().any(|event| matches!(event.kind, EventKind::Compacted(_))));
}

mod bills {
    //! Model of a provider's billing, computed separately from the booked usage.

    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::rc::Rc;
    use windlass_core::{AgentConfig, Ledger, MachineConfig};
    use windlass_types::{AgentIdentity, MessageId, ModelItem, Usage};

    /// Pieces of text, each with its tokens in the public tokenizer `cl100k_base`, as far as it is known to split them.
    /// The newest models count up to 1.35 times as many (Anthropic, "What's new in Claude Opus 4.7").
    const PIECES: [(&str, f64); 24] = [
        (" the", 1.0),
        (" function", 1.0),
        (" returns", 1.0),
        (" because", 1.0),
        (" implementation", 1.0),
        (" error", 1.0),
        (" of", 1.0),
        (".", 1.0),
        (",", 1.0),
        ("\n", 1.0),
        ("    ", 1.0),
        (" let", 1.0),
        (" =", 1.0),
        ("(", 1.0),
        (");\n", 1.0),
        (" {\n", 1.0),
        ("}\n", 1.0),
        ("\":", 1.0),
        (" \"", 1.0),
        ("123", 1.0),
        ("2026", 2.0),
        ("的", 1.0),
        ("数据", 2.0),
        (" Über", 2.0),
    ];
    const NEWEST: f64 = 1.35;

    /// Code, prose and data: list items at the front are more frequent.
    fn written() -> impl Strategy<Value = (String, f64)> {
        let mostly = prop_oneof![
            4 => 0_usize..10,
            3 => 9_usize..19,
            1 => 17_usize..24,
        ];
        vec(mostly, 1..400).prop_map(|picked| {
            let tokens: f64 = picked.iter().map(|at| PIECES[*at].1).sum();
            (picked.iter().map(|at| PIECES[*at].0).collect(), tokens)
        })
    }

    /// A block of a message, and its cost in tokens when it is complete.
    #[derive(Debug, Clone)]
    enum Written {
        Text(String, f64),
        Thinking(String, f64),
        Call(String, f64),
    }

    fn block() -> impl Strategy<Value = Written> {
        prop_oneof![
            3 => written().prop_map(|(text, tokens)| Written::Text(text, tokens)),
            1 => written().prop_map(|(text, tokens)| Written::Thinking(text, tokens)),
            2 => written().prop_map(|(text, tokens)| Written::Call(text, tokens)),
        ]
    }

    /// Returns the events of a stream, each with the output tokens that the provider has counted when it sends it.
    fn events(blocks: &[Written], usage: Usage, pieces: usize) -> Vec<(ModelEvent, f64)> {
        let id = MessageId::from("m");
        let mut counted = 1.0;
        let mut events = vec![(ModelEvent::MessageStart { id, model: "m".to_owned(), usage }, counted)];
        for (index, block) in blocks.iter().enumerate() {
            let (start, text, tokens) = match block {
                Written::Text(text, tokens) => (BlockStart::Text(String::new()), text, tokens),
                Written::Thinking(text, tokens) => {
                    let start = BlockStart::Thinking { thinking: String::new(), signature: String::new() };
                    (start, text, tokens)
                }
                Written::Call(text, tokens) => {
                    // The frame around a call is output, too.
                    counted += 12.0;
                    (BlockStart::ToolUse { id: format!("t{index}").into(), name: "Write".to_owned() }, text, tokens)
                }
            };
            events.push((ModelEvent::BlockStart { index, block: start }, counted));
            let characters: Vec<char> = text.chars().collect();
            let size = characters.len().div_ceil(pieces).max(1);
            for piece in characters.chunks(size) {
                let share = piece.len() as f64 / characters.len() as f64;
                counted += tokens * NEWEST * share;
                let piece: String = piece.iter().collect();
                let delta = match block {
                    Written::Text(..) => StreamDelta::Text(piece),
                    Written::Thinking(..) => StreamDelta::Thinking(piece),
                    Written::Call(..) => StreamDelta::ToolInput(piece),
                };
                events.push((ModelEvent::BlockDelta { index, delta }, counted));
            }
            events.push((ModelEvent::BlockStop { index }, counted));
        }
        events
    }

    /// Returns the cost of a stream up to these events.
    fn bill(events: &[(ModelEvent, f64)], given: Usage, read: u64) -> u64 {
        let Some((_, counted)) = events.last() else { return read * 3_000 };
        let input = if given == Usage::default() { read } else { given.input_tokens };
        input * 3_000 + (counted * OUTPUT as f64) as u64
    }

    /// Ways in which a stream breaks off.
    #[derive(Debug, Clone, Copy)]
    enum Ends {
        Failed(ModelErrorKind),
        Stopped,
    }

    fn ends() -> impl Strategy<Value = Ends> {
        prop_oneof![
            Just(Ends::Failed(ModelErrorKind::Cut)),
            Just(Ends::Failed(ModelErrorKind::Timeout)),
            Just(Ends::Failed(ModelErrorKind::Protocol)),
            Just(Ends::Stopped),
        ]
    }

    fn agent(number: usize) -> MachineConfig {
        let mut config = config();
        config.request.cache = None;
        if number > 0 {
            let name = format!("a{number}");
            config.agent = Some(AgentConfig::new(AgentIdentity::new(name.as_str().into(), "scout")));
        }
        config
    }

    /// Plays one request to the point where it ends, and returns its cost.
    fn play(sim: &mut Sim, blocks: &[Written], usage: Usage, pieces: usize, at: f64, ends: Ends) -> u64 {
        sim.play_except(is_model);
        let all = events(blocks, usage, pieces);
        let shown = ((all.len() + 1) as f64 * at) as usize;
        let shown = &all[..shown.min(all.len())];
        let effect = sim.take(is_model);
        for (event, _) in shown {
            sim.input(Input::Model(effect, ModelItem::from(event.clone())));
        }
        match ends {
            Ends::Failed(kind) => sim.input(Input::ModelFailed(effect, failure(kind))),
            Ends::Stopped => sim.input(Input::Interrupt),
        }
        // A late answer is not booked again.
        sim.input(Input::ModelFailed(effect, failure(ModelErrorKind::Cut)));
        bill(shown, usage, 4 * 250)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is streamed, wherever it ends and however: the booked usage is the provider's bill within a tenth,
        /// or more, for one request and for all requests of all agents.
        #[test]
        fn what_is_booked_of_cut_streams_covers_what_they_cost(
            calls in vec((vec(block(), 1..5), 0.0..=1.0_f64, ends(), any::<bool>(), 1_usize..60, any::<bool>()), 1..4),
        ) {
            let ledger = Rc::<RefCell<Ledger>>::default();
            let spent_by_all = || ledger.borrow().spent().nano();
            let mut cost = 0;
            for (number, (blocks, at, ends, reported, pieces, summary)) in calls.iter().enumerate() {
                let mut sim = Sim::new(agent(number), Choices::new(Vec::new()), TAME).with_ledger(&ledger, number as u64);
                // 250 words that are four tokens each by the strictest count.
                sim.prompt(&"implementation, ".repeat(250));
                if *summary {
                    sim.play();
                    cost += spent(&sim);
                    sim.input(Input::Prompt(Prompt::compact("")));
                }
                let before = spent_by_all();
                let usage = if *reported { Usage::new(5_000, 1) } else { Usage::default() };
                let real = play(&mut sim, blocks, usage, *pieces, *at, *ends);
                let booked = spent_by_all() - before;
                prop_assert!(booked as f64 >= 0.9 * real as f64, "{booked} is booked and {real} billed");
                cost += real;
            }
            prop_assert!(spent_by_all() as f64 >= 0.9 * cost as f64);
        }
    }
}

/// Sends a whole answer to the open request, with this usage.
fn answer(sim: &mut Sim, usage: Usage) {
    sim.play_except(is_model);
    let call = sim.take(is_model);
    answer_to(sim, call, usage);
}

fn answer_to(sim: &mut Sim, call: windlass_core::EffectId, usage: Usage) {
    let events = [
        ModelEvent::MessageStart { id: "msg".into(), model: "another".to_owned(), usage: Usage::default() },
        ModelEvent::BlockStart { index: 0, block: BlockStart::Text(String::new()) },
        ModelEvent::BlockDelta { index: 0, delta: StreamDelta::Text("Done.".to_owned()) },
        ModelEvent::BlockStop { index: 0 },
        ModelEvent::MessageDelta { stop_reason: Some(StopReason::EndTurn), usage },
        ModelEvent::MessageStop,
    ];
    for event in events {
        sim.input(Input::Model(call, ModelItem::from(event)));
    }
    sim.play_except(is_model);
}

fn reported(usage: Usage, nano: u64) -> Usage {
    let mut usage = usage;
    usage.reported_cost = Some(NanoUsd::new(nano));
    usage
}

fn result(sim: &Sim) -> windlass_types::RunResult {
    let mut results = sim.events.iter().filter_map(|event| match &event.kind {
        EventKind::RunFinished(result) => Some(result.clone()),
        _ => None,
    });
    results.next_back().unwrap()
}

/// I: the cost reported by the provider takes precedence over the price, and is marked.
#[test]
fn i_a_reported_cost_is_booked_in_place_of_the_price() {
    let mut sim = sim(roomy(), &[]);
    answer(&mut sim, reported(Usage::new(1_000, 10), 77));
    assert_eq!(spent(&sim), 77);
    let first = result(&sim);
    assert_eq!((first.cost, first.reported_cost()), (NanoUsd::new(77), NanoUsd::new(77)));
    assert_eq!(first.usage.reported_cost, Some(NanoUsd::new(77)));
    sim.prompt("more");
    answer(&mut sim, Usage::new(0, 10));
    let second = result(&sim);
    assert!(second.cost > NanoUsd::new(77), "{}", second.cost);
    assert_eq!(second.reported_cost(), NanoUsd::new(77));
}

/// I: reported costs are charged to the budget.
#[test]
fn i_a_budget_holds_for_what_is_reported() {
    let mut config = roomy();
    config.limits.max_budget = Some(NanoUsd::from_usd(2.0));
    let mut sim = sim(config, &[]);
    answer(&mut sim, reported(Usage::new(10, 10), 1_999_999_000));
    assert_eq!(result(&sim).outcome, Outcome::Success);
    sim.prompt("more");
    sim.play();
    assert_eq!(result(&sim).outcome, Outcome::MaxBudget { limit: NanoUsd::from_usd(2.0) });
    assert_eq!(sim.requests.len(), 1);
}

/// I: a model without a price is stopped by the costs reported by its provider, if it may be called at all.
#[test]
fn i_a_budget_holds_for_a_model_without_a_price_whose_cost_is_reported() {
    let mut config = roomy();
    config.model.info.price = None;
    config.limits.max_budget = Some(NanoUsd::from_usd(1.0));
    config.limits.unpriced = windlass_core::UnpricedModels::Allow;
    let mut sim = sim(config, &[]);
    answer(&mut sim, reported(Usage::new(10, 10), 1_000_000_000));
    let first = result(&sim);
    assert_eq!((first.outcome.clone(), first.cost), (Outcome::Success, NanoUsd::from_usd(1.0)));
    assert!(first.model_usage.values().all(|model| model.priced));
    sim.prompt("more");
    sim.play();
    assert_eq!(result(&sim).outcome, Outcome::MaxBudget { limit: NanoUsd::from_usd(1.0) });
}

/// I: a model without a price is neither called nor set if the budget refuses such models, and the reason is named.
#[test]
fn i_a_model_without_a_price_is_refused_by_its_name() {
    let mut config = roomy();
    config.limits.max_budget = Some(NanoUsd::from_usd(1.0));
    config.limits.unpriced = windlass_core::UnpricedModels::Refuse;
    let mut dear = model("mystery");
    dear.info.price = None;
    let mut sim = sim(config.clone(), &[]);
    sim.input(Input::SetModel(Box::new(dear.clone())));
    answer(&mut sim, Usage::new(10, 10));
    assert_eq!(result(&sim).outcome, Outcome::Success);
    assert_ne!(sim.requests[0].model, "mystery");
    let notice = sim.events.iter().any(|event| {
        matches!(&event.kind, EventKind::Status(Status::Notice { message }) if message.contains("\"mystery\" was not set"))
    });
    assert!(notice);
    config.model = dear;
    let mut sim = crate::sequences::sim(config, &[]);
    sim.play();
    let Outcome::Failed(failure) = result(&sim).outcome else { panic!("{:?}", result(&sim).outcome) };
    assert!(failure.message.contains("mystery") && failure.message.contains("price"), "{}", failure.message);
    assert!(sim.requests.is_empty());
}

/// I: each model without a price is reported once.
#[test]
fn i_each_model_without_a_price_is_reported() {
    let mut config = roomy();
    config.limits.max_budget = Some(NanoUsd::from_usd(1.0));
    config.limits.unpriced = windlass_core::UnpricedModels::Allow;
    config.model.info.price = None;
    let mut sim = sim(config, &[]);
    answer(&mut sim, Usage::new(10, 10));
    for name in ["second", "second"] {
        let mut unpriced = model(name);
        unpriced.info.price = None;
        sim.input(Input::SetModel(Box::new(unpriced)));
        sim.prompt("more");
        answer(&mut sim, Usage::new(10, 10));
    }
    let reported =
        sim.events.iter().filter(|event| matches!(event.kind, EventKind::Status(Status::PriceUnknown { .. })));
    assert_eq!(reported.count(), 2);
}

/// A4: a request is booked at the price of the model that answers.
#[test]
fn a4_a_call_is_booked_for_the_model_that_answers() {
    let mut sim = sim(roomy(), &[]);
    sim.play_except(is_model);
    let call = sim.take(is_model);
    let mut other = model("other");
    other.info.price = Some(Price::new(1, 2));
    sim.input(Input::AnsweredBy(call, Box::new(other)));
    answer_to(&mut sim, call, Usage::new(1_000, 10));
    assert_eq!(spent(&sim), 1_020);
    assert_eq!(result(&sim).model_usage.keys().collect::<Vec<_>>(), ["other"]);
    // A late answer is ignored.
    sim.input(Input::AnsweredBy(call, Box::new(model("late"))));
    assert_eq!(spent(&sim), 1_020);
}

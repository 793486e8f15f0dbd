//! Reports of a subscription's rate limit to the host.

use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{call, check, sim, text};
use crate::sim::{Going, Sim, config, model};
use windlass_core::{Input, MachineConfig, ModelFailure, Prompt};
use windlass_types::{
    ContentBlock, ModelErrorKind, ModelEvent, RateLimit, RateLimitKind, RateLimitStatus, Utilization,
};

fn is_model(going: &Going) -> bool {
    matches!(going, Going::Model { .. })
}

fn limit(status: RateLimitStatus, utilization: f64) -> RateLimit {
    RateLimit::new(status)
        .with_kind(Some(RateLimitKind::FiveHour))
        .with_utilization(Utilization::new(utilization))
        .with_resets_at(Some(1_795_170_000))
}

fn warning(utilization: f64) -> RateLimit {
    limit(RateLimitStatus::AllowedWarning, utilization)
}

fn used_up() -> RateLimit {
    limit(RateLimitStatus::Rejected, 1.0)
}

/// Plays until the model is called, whose answer then begins with this limit and continues as scripted.
fn answers(sim: &mut Sim, limit: RateLimit) {
    sim.play_except(is_model);
    let events = sim.going.iter_mut().find_map(|(_, going)| match going {
        Going::Model { events, .. } => Some(events),
        _ => None,
    });
    events.expect("a model call").insert(0, ModelEvent::RateLimit(Box::new(limit)));
    while sim.going.iter().any(|(_, going)| is_model(going)) {
        let before = sim.requests.len();
        sim.let_go(is_model);
        if sim.requests.len() > before {
            break;
        }
    }
}

/// Plays until the model is called, which refuses the request.
fn refuses(sim: &mut Sim, kind: ModelErrorKind, limit: RateLimit) {
    sim.play_except(is_model);
    let effect = sim.take(is_model);
    let mut failure = ModelFailure::new(kind, "no");
    failure.rate_limit = Some(Box::new(limit));
    sim.input(Input::ModelFailed(effect, failure));
}

/// Returns a world in which the model writes `count` messages with a call, and then one without.
fn turns(config: MachineConfig, count: usize) -> Sim {
    let mut script: Vec<Vec<ContentBlock>> = (0..count).map(|n| vec![call(&format!("t{n}"), "Read", "a")]).collect();
    script.push(vec![text("Done.")]);
    sim(config, &script.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn it_is_reported_once_until_it_changes_and_is_not_stored() {
    let mut sim = turns(config(), 4);
    for limit in [warning(0.82), warning(0.82), warning(0.825), warning(0.829), warning(0.83)] {
        answers(&mut sim, limit);
    }
    sim.play();
    assert_eq!(lines(&sim, "limit "), ["limit allowed_warning at 82%", "limit allowed_warning at 83%"]);
    // A limit reported by one run is not reported again by the next.
    sim.prompt("again");
    answers(&mut sim, warning(0.83));
    sim.play();
    assert_eq!((lines(&sim, "run ended").len(), lines(&sim, "limit ").len()), (2, 2));
    let kept = format!("{:?} {:?}", sim.log, sim.requests);
    assert!(!kept.contains("RateLimit") && !kept.contains("allowed_warning"), "{kept}");
}

#[test]
fn it_comes_before_the_message() {
    let mut sim = sim(config(), &[&[text("Hello.")]]);
    answers(&mut sim, warning(0.9));
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        limit allowed_warning at 90%
        text "Hello."
        block text
        usage of m: 100 in, 50 out
        message msg1 (end_turn)
        run ended (Success), 1 turns
        "#,
    );
}

#[test]
fn a_refusal_that_is_repeated_tells_it_once() {
    let mut sim = sim(config(), &[&[text("no")], &[text("no")], &[text("At last.")]]);
    refuses(&mut sim, ModelErrorKind::RateLimited, used_up());
    refuses(&mut sim, ModelErrorKind::RateLimited, used_up());
    answers(&mut sim, limit(RateLimitStatus::Allowed, 0.0));
    sim.play();
    let shown: Vec<_> = render(&sim.events)
        .lines()
        .filter(|line| line.contains("limit ") || line.contains("retrying"))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        shown,
        [
            "limit rejected at 100%",
            "retrying 1 of 10: RateLimited",
            "retrying 2 of 10: RateLimited",
            "limit allowed at 0%",
        ]
    );
}

#[test]
fn a_refusal_that_ends_the_run_tells_it_before_the_end() {
    let mut sim = sim(config(), &[&[text("no")]]);
    refuses(&mut sim, ModelErrorKind::Billing, used_up());
    sim.play();
    let shown = render(&sim.events);
    let shown: Vec<_> = shown.lines().rev().take(2).collect();
    assert_eq!(shown, ["run failed (Model(Billing))", "limit rejected at 100%"]);
}

#[test]
fn the_fallback_model_may_have_a_limit_of_its_own() {
    let mut config = config();
    config.fallback = Some(model("other"));
    config.limits.max_retries = 0;
    let mut sim = sim(config, &[&[text("no")], &[text("Done.")]]);
    refuses(&mut sim, ModelErrorKind::RateLimited, used_up());
    answers(&mut sim, warning(0.5).with_kind(Some(RateLimitKind::SevenDaySonnet)));
    sim.play();
    let shown = render(&sim.events);
    let shown: Vec<_> = shown.lines().filter(|line| line.contains("limit ") || line.contains("falling")).collect();
    assert_eq!(shown, ["limit rejected at 100%", "falling back from m to other", "limit allowed_warning at 50%"]);
}

#[test]
fn an_answer_that_is_not_awaited_reports_no_limit() {
    let mut sim = sim(config(), &[&[text("no")]]);
    sim.play_except(is_model);
    let effect = sim.take(is_model);
    sim.input(Input::Interrupt);
    let item = ModelEvent::RateLimit(Box::new(warning(0.9))).into();
    sim.input(Input::Model(effect, item));
    sim.play();
    assert!(lines(&sim, "limit ").is_empty());
}

#[test]
fn the_call_that_compacts_tells_it_too() {
    let mut sim = sim(config(), &[&[text("Hello.")], &[text("no")], &[text("<summary>All.</summary>")]]);
    sim.play();
    sim.input(Input::Prompt(Prompt::compact("")));
    refuses(&mut sim, ModelErrorKind::RateLimited, used_up());
    answers(&mut sim, warning(0.9));
    sim.play();
    assert_eq!(lines(&sim, "limit "), ["limit rejected at 100%", "limit allowed_warning at 90%"]);
}

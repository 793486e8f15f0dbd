//! The labelled calls on which classifiers are measured: each is one that the mode auto leaves to them.

use crate::common::{Rules, World};
use windlass_types::{Behavior, PermissionMode};

const CALLS: &str = include_str!("classifier_calls.txt");

/// Returns the label and the command of each call.
fn calls() -> impl Iterator<Item = (&'static str, &'static str)> {
    CALLS
        .lines()
        .filter(|line| line.starts_with("allow ") || line.starts_with("ask "))
        .filter_map(|l| l.split_once(' '))
}

#[test]
fn labelled_calls_are_those_that_a_classifier_decides() {
    let world = World::in_mode(PermissionMode::Auto, Rules::default());
    let (mut asked, mut decided) = (0, Vec::new());
    for (label, command) in calls() {
        let facts = world.call(&format!("Bash {command}"));
        let decision = world.policy.decide(&facts, None, None);
        if world.policy.leaves_to_classifier(&facts, &decision) {
            asked += 1;
        } else {
            // The policy alone never allows an unsafe command.
            assert!(decision.behavior != Behavior::Allow || label == "allow", "{command}: {}", decision.message);
            decided.push(command);
        }
    }
    assert!(
        calls().count() >= 300 && asked >= 250,
        "{asked} are left to a classifier; decided without one: {decided:#?}"
    );
    let labelled = |wanted: &str| calls().filter(|(label, _)| *label == wanted).count();
    assert!(labelled("allow") >= 120 && labelled("ask") >= 120);
}

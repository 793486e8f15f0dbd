//! Verdicts on all calls of a kind.

use crate::common::{Rules, World, allow, deny};
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::{Behavior, PermissionGroup, PermissionMode};

fn world(rules: Rules<'_>, groups: &[(PermissionGroup, Behavior)]) -> World {
    let mut world = World::new(rules);
    for (group, behavior) in groups {
        world.policy.set_group(*group, *behavior);
    }
    world
}

#[test]
fn a_verdict_on_a_kind_counts_like_that_of_a_rule() {
    for (groups, call, expected) in [
        (&[(PermissionGroup::Edit, Allow)][..], "Write /w/a", Allow),
        (&[(PermissionGroup::Edit, Allow)], "Bash touch /w/a", Ask),
        (&[(PermissionGroup::Execution, Allow)], "Bash cargo test", Allow),
        (&[(PermissionGroup::Execution, Deny)], "Bash ls", Deny),
        (&[(PermissionGroup::Execution, Ask)], "Bash ls", Ask),
        (&[(PermissionGroup::ReadOnly, Deny)], "Read /w/a", Deny),
        (&[(PermissionGroup::ReadOnly, Deny)], "Write /w/a", Ask),
        (&[(PermissionGroup::Mcp, Allow)], "mcp__files__get x", Allow),
        (&[(PermissionGroup::Mcp, Deny)], "mcp__files__get x", Deny),
        (&[(PermissionGroup::Other, Allow)], "mine x", Allow),
        // The stricter one of two wins.
        (&[(PermissionGroup::Edit, Deny), (PermissionGroup::Edit, Allow)], "Write /w/a", Deny),
    ] {
        assert_eq!(world(Rules::default(), groups).verdict(call), expected, "{groups:?} {call}");
    }
}

#[test]
fn an_allow_lifts_no_deny_no_floor_and_nothing_outside() {
    let all = [PermissionGroup::ReadOnly, PermissionGroup::Edit, PermissionGroup::Execution, PermissionGroup::Mcp]
        .map(|group| (group, Allow));
    for (call, expected) in [
        ("Write /etc/passwd", Ask),
        ("Read /etc/shadow", Ask),
        ("Write /w/.git/config", Ask),
        ("Bash rm -rf /", Deny),
        ("Bash $(cat /w/a)", Ask),
    ] {
        let verdict = world(Rules::default(), &all).verdict(call);
        assert!(verdict <= expected, "{call}: {verdict:?}");
    }
    assert_eq!(world(deny(&["Edit(//w/a)"]), &all).verdict("Write /w/a"), Deny);
    let asks = Rules { ask: &["Bash(cargo *)"], ..Rules::default() };
    assert_eq!(world(asks, &all).verdict("Bash cargo test"), Ask);
    let mut plan = World::in_mode(PermissionMode::Plan, Rules::default());
    plan.policy.set_group(PermissionGroup::Edit, Allow);
    assert_eq!(plan.verdict("Write /w/a"), Deny);
}

#[test]
fn a_deny_of_a_kind_counts_before_rules_and_modes_that_allow() {
    let groups = [(PermissionGroup::Edit, Deny)];
    assert_eq!(world(allow(&["Edit"]), &groups).verdict("Write /w/a"), Deny);
    let mut bypass = World::in_mode(PermissionMode::BypassPermissions, Rules::default());
    bypass.policy.set_group(PermissionGroup::Execution, Deny);
    assert_eq!(bypass.verdict("Bash ls"), Deny);
    let servers = world(Rules::default(), &[(PermissionGroup::Mcp, Deny)]);
    assert!(servers.policy.is_hidden("mcp__files__get") && !servers.policy.is_hidden("Read"));
}

//! Tools of an agent that are limited to some calls.

use crate::common::{Rules, World, allow};
use std::path::Path;
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::PermissionMode::BypassPermissions;

fn limited(mut world: World, rules: &[&str]) -> World {
    let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
    world.policy.limit_tools(&rules, Path::new("/w")).unwrap();
    world
}

#[test]
fn a_tool_that_is_limited_takes_the_calls_of_its_rules_alone() {
    let world = limited(World::new(allow(&["Bash"])), &["Bash(npm test:*)", "Bash(git diff)", "Read"]);
    world.check(
        Allow,
        &[
            "Bash npm test",
            "Bash npm test -- -u",
            "Bash cd src && npm test 2>&1 | tail -5",
            "Bash git diff",
            "Bash NODE_ENV=test timeout 60 npm test",
            "Read /w/a",
        ],
    );
    world.check(
        Deny,
        &[
            "Bash ls",
            "Bash npm run build",
            "Bash npm test; ls",
            "Bash npm test && cat /w/a",
            "Bash npm test > /w/log",
            "Bash npm test $(id)",
            "Bash cd src",
            "Bash git diff --stat",
            "Bash cat /w/a | tail -5",
        ],
    );
    // Nothing is allowed by that, and no mode lifts it.
    limited(World::new(Rules::default()), &["Bash(npm test *)"]).check(Ask, &["Bash npm test"]);
    limited(World::in_mode(BypassPermissions, Rules::default()), &["Bash(npm test *)"])
        .check(Deny, &["Bash ls", "Bash make"]);
    // With two agents, one below the other, both limits apply.
    let both = limited(limited(World::new(allow(&["Bash"])), &["Bash(npm *)"]), &["Bash(npm test *)", "Bash(make)"]);
    both.check(Allow, &["Bash npm test"]);
    both.check(Deny, &["Bash npm run x", "Bash make"]);
    limited(World::new(allow(&["Bash"])), &["Bash", "Bash(npm test *)"]).check(Allow, &["Bash make"]);
}

#[test]
fn files_hosts_and_agents_are_limited_as_well() {
    let world = limited(
        World::new(allow(&["Edit", "WebFetch"])),
        &["Edit(docs/**)", "Read(src/**)", "WebFetch(domain:example.com)", "Agent(Explore)"],
    );
    world.check(Allow, &["Edit /w/docs/a", "Read /w/src/a"]);
    world.check(Deny, &["Edit /w/a", "Read /w/b", "Edit /w/docs/../a", "Read /etc/passwd"]);
    let decide = |tool: &str, input: serde_json::Value| world.decide(tool, &input).behavior;
    assert_eq!(decide("WebFetch", serde_json::json!({ "url": "https://example.com/a", "prompt": "x" })), Allow);
    assert_eq!(decide("WebFetch", serde_json::json!({ "url": "https://example.org/a", "prompt": "x" })), Deny);
    assert_eq!(
        decide("Agent", serde_json::json!({ "subagent_type": "Plan", "prompt": "x", "description": "d" })),
        Deny
    );
    let mut policy = World::new(Rules::default()).policy;
    assert!(policy.limit_tools(&["Bash(".to_owned()], Path::new("/w")).is_err());
    assert!(policy.limit_tools(&["Grep(x)".to_owned()], Path::new("/w")).is_err());
}

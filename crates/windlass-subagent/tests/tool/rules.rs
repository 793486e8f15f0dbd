//! Rules on types of agents match the type that the tool runs.

use serde_json::{Value, json};
use windlass_permission::{CallFacts, Policy, PolicyConfig};
use windlass_subagent::{AGENT_TOOL_NAME, Subagents};
use windlass_testkit::ToolBench;
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::{Behavior, CallDigest, JsonText, PermissionMode, RuleSource};

use crate::common::input;

fn decide(mode: PermissionMode, rules: &[(Behavior, &str)], input: &Value) -> Behavior {
    let mut policy = Policy::new(PolicyConfig::new("/work"));
    policy.set_mode(mode).unwrap();
    for (behavior, rule) in rules {
        let warnings =
            policy.add_rules(RuleSource::Session, *behavior, &[(*rule).to_owned()], "/work".as_ref()).unwrap();
        assert!(warnings.is_empty(), "{rule}");
    }
    let call = ToolBench::shared(Subagents::new().tool()).prepare(input).unwrap();
    let facts =
        CallFacts::new(AGENT_TOOL_NAME, JsonText::of(input).unwrap(), call.access(), CallDigest::new("00"), "/work");
    policy.decide(&facts, None, None).behavior
}

#[test]
fn a_rule_on_a_type_judges_the_type_that_runs() {
    let explore = json!({ "subagent_type": "Explore", "model": "opus" });
    let general = json!({ "subagent_type": null });
    for (rules, more, expected) in [
        (&[][..], &explore, Allow),
        (&[(Deny, "Agent(Explore)")], &explore, Deny),
        (&[(Deny, "Task(explore)")], &explore, Deny),
        (&[(Deny, "Agent(Plan)")], &explore, Allow),
        (&[(Deny, "Agent(general-purpose)")], &general, Deny),
        (&[(Deny, "Agent(general-purpose)")], &json!({}), Deny),
        (&[(Deny, "Agent(model:opus)")], &explore, Deny),
        (&[(Ask, "Agent")], &explore, Ask),
        (&[(Ask, "Agent(Explore)")], &explore, Ask),
        (&[(Ask, "Agent(Explore)")], &general, Allow),
        (&[(Ask, "Agent"), (Allow, "Agent(Explore)")], &explore, Ask),
        (&[(Deny, "Agent")], &general, Deny),
    ] {
        assert_eq!(decide(PermissionMode::Default, rules, &input(more.clone())), expected, "{rules:?} {more}");
    }
    // Calls of the agent are judged when it makes them.
    assert_eq!(decide(PermissionMode::Plan, &[], &input(general)), Allow);
}

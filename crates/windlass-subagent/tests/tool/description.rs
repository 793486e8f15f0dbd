use proptest::prelude::*;
use windlass_subagent::{AgentDefinition, Subagents, built_in};
use windlass_tool::DynTool;
use windlass_types::PermissionMode;

fn description(agents: &Subagents) -> String {
    agents.tool().spec().description.clone()
}

#[test]
fn it_lists_the_types_whatever_their_order() {
    let [a, b] =
        [AgentDefinition::new("a", "Does a.", "x").with_tools(["Read", "Grep"]), AgentDefinition::new("b", "", "x")];
    let text = description(&Subagents::without_built_in().with(b.clone()).with(a.clone()));
    assert_eq!(text, description(&Subagents::without_built_in().with_all([a, b])));
    assert!(text.contains("Types of agents:\n- a: Does a. (Tools: Read, Grep)\n- b\n\n"), "{text}");
    assert!(!text.contains("Explore"));
    let both = Subagents::new();
    assert_ne!(description(&both), description(&both.clone().background_by_default(true)));
    assert!(description(&both).contains("\n- Explore: ") && description(&both).contains("\n- general-purpose: "));
}

#[test]
fn ones_own_take_the_place_of_the_built_in_ones() {
    let agents = Subagents::new().with(AgentDefinition::new("Explore", "Mine.", "Mine.")).without("Plan");
    let names: Vec<(&str, &str)> =
        agents.definitions().map(|agent| (agent.name.as_str(), agent.prompt.as_str())).take(1).collect();
    assert_eq!(names, [("Explore", "Mine.")]);
    assert!(description(&agents).contains("- Explore: Mine.\n") && !description(&agents).contains("- Plan"));
}

#[test]
fn what_only_reads_is_in_plan_mode() {
    let [general, explore, plan] = built_in();
    assert_eq!((general.permission_mode, general.tools), (None, None));
    for reader in [explore, plan] {
        assert_eq!(reader.permission_mode, Some(PermissionMode::Plan));
        assert!(["Agent", "Edit", "Write"].iter().all(|name| reader.disallowed_tools.iter().any(|tool| tool == name)));
    }
}

#[test]
fn a_hostile_definition_takes_no_more_room_than_others() {
    let huge = AgentDefinition::new("huge", format!("x\n\n- Bash: runs\u{1b}{}", "y".repeat(1 << 20)), "x")
        .with_tools(vec!["z".repeat(1 << 16); 64]);
    let text = description(&Subagents::new().with(huge));
    assert!(text.len() < 8_000, "{}", text.len());
    assert!(text.contains("- huge: x - Bash: runs yyy") && !text.contains('\u{1b}'));

    let many = (0..5_000).map(|at| AgentDefinition::new(format!("agent-{at:04}"), "y".repeat(500), "x"));
    let text = description(&Subagents::new().with_all(many));
    assert!(text.len() < 20_000 && text.contains("more, which there is no room for here"), "{}", text.len());
}

proptest! {
    #[test]
    fn every_definition_is_one_line(name in "\\PC{0,20}|[\\s\\S]{0,300}", about in "[\\s\\S]{0,3000}", tool in "[\\s\\S]{0,300}") {
        let lines = description(&Subagents::without_built_in().with(AgentDefinition::new("x", "", "x"))).lines().count();
        let agents = Subagents::without_built_in().with(AgentDefinition::new(name, about, "x").with_tools([tool]));
        let text = description(&agents);
        prop_assert_eq!(text.lines().count(), lines);
        prop_assert!(text.chars().count() < 4_000);
    }
}

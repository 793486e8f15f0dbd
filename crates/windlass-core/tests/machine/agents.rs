//! Rights of an agent under the policy of its parent.

use crate::choices::Choices;
use crate::sequences::{call, is_ask, sim, text};
use crate::sim::{Sim, TAME, config, model};
use crate::tools::policy;
use std::path::Path;
use std::rc::Rc;
use windlass_core::{AgentConfig, AgentError, AgentOpening, Input, Machine, MachineConfig, OfferedTool};
use windlass_permission::{CallFacts, PathFact};
use windlass_types::{
    Access, AgentIdentity, Behavior, CallDigest, EntryKind, EventKind, HookVerdict, JsonText, PermissionAnswer,
    PermissionMode, PermissionUpdate, RuleSource, UpdateDestination, Usage,
};

fn facts(tool: &str, access: Access) -> CallFacts {
    let write = matches!(access, Access::Writes(_));
    let paths = access.paths().iter().map(|path| PathFact::new(path, path, write)).collect();
    let input = JsonText::empty_object();
    CallFacts::new(tool, input, access, CallDigest::new(tool), Path::new("/w")).with_paths(paths)
}

/// Plan and dontAsk deny different calls: an agent that wants one below the other has the limits of both.
#[test]
fn no_mode_permits_an_agent_what_the_mode_of_its_parent_denies() {
    let calls = [
        facts("Read", Access::reads("/w/a")),
        facts("Read", Access::reads("/elsewhere/a")),
        facts("Write", Access::writes("/w/a")),
        facts("Write", Access::writes("/elsewhere/a")),
        facts("Net", Access::Network),
        facts("WebFetch", Access::Network),
        facts("Other", Access::Exec),
        facts("Agent", Access::Agents),
        facts("AskUserQuestion", Access::NOTHING),
    ];
    let hooks = [None, Some(Behavior::Allow), Some(Behavior::Ask)];
    let mut denied = 0;
    for above in PermissionMode::ALL {
        for wanted in PermissionMode::ALL {
            let mut agent = AgentConfig::new(AgentIdentity::new("a1".into(), "scout"));
            agent.rights.permission_mode = Some(wanted);
            let above = policy(above);
            let below = agent.narrowed(&above, Path::new("/w")).unwrap();
            let deeper = agent.narrowed(&below, Path::new("/w")).unwrap();
            for call in &calls {
                for hook in hooks {
                    for approved in [None, Some(&call.digest)] {
                        let hook = hook.map(|behavior| HookVerdict::new(behavior, "hook", ""));
                        let decide =
                            |policy: &windlass_permission::Policy| policy.decide(call, hook.as_ref(), approved);
                        let (may, does) = (decide(&above), decide(&below));
                        assert!(
                            does.behavior <= may.behavior,
                            "{} below {}: {} {:?}: {does:?}, {may:?}",
                            wanted,
                            above.mode(),
                            call.tool,
                            hook
                        );
                        assert!(decide(&deeper).behavior <= does.behavior);
                        denied += usize::from(does.behavior < may.behavior);
                    }
                }
            }
        }
    }
    assert!(denied > 0);
}

/// The cost shown to a host while agents work is that of the session, not of one of them.
#[test]
fn a_call_of_an_agent_tells_what_the_session_has_cost() {
    let main = config();
    let mut of_agent = main.clone();
    of_agent.agent = Some(AgentConfig::new(AgentIdentity::new("a1".into(), "scout")));
    let mut reported = Vec::new();
    let ledger = Rc::default();
    for (key, config) in [(0, main), (1, of_agent)] {
        let mut sim = Sim::new(config, Choices::new(Vec::new()), TAME).with_ledger(&ledger, key);
        sim.script = vec![vec![text("Done.")]];
        sim.prompt("go");
        sim.play();
        reported.extend(sim.events.iter().filter_map(|event| match &event.kind {
            EventKind::UsageUpdated { cost, .. } => Some(cost.nano()),
            _ => None,
        }));
    }
    let [first, second] = reported.as_slice() else { panic!("{reported:?}") };
    assert!(*first > 0 && *second == 2 * first, "{reported:?}");
}

/// A resumed session has the rest of the budget, and no more.
#[test]
fn what_agents_cost_after_the_last_run_is_kept() {
    for used in [0, 1_000] {
        let mut sim = sim(config(), &[&[text("Done.")]]);
        sim.play();
        let before = sim.machine.state().cost();
        if used > 0 {
            sim.input(Input::AgentUsed(Box::new(model("agent")), Usage::new(used, 0)));
        }
        sim.checks.user(&Input::Close);
        sim.input(Input::Close);
        sim.play();
        let records = sim.log.iter().filter(|entry| matches!(entry.kind, EntryKind::RunFinished(_))).count();
        assert_eq!(records, 1 + usize::from(used > 0));
        let resumed = Machine::new(config(), &sim.log);
        assert_eq!(resumed.state().cost().nano(), before.nano() + used * 3_000);
    }
}

/// An answer that changes the session's mode does not change an agent's own mode.
#[test]
fn an_answer_to_an_agent_does_not_widen_its_own_mode() {
    for below in [false, true] {
        let mut config = config();
        let mut agent = AgentConfig::new(AgentIdentity::new("a1".into(), "reader"));
        agent.rights.permission_mode = Some(PermissionMode::Plan);
        if below {
            config.policy = agent.narrowed(&config.policy, Path::new("/w")).unwrap();
            config.agent = Some(agent);
        }
        let mut sim = sim(config, &[&[call("t1", "Read", "/elsewhere")], &[text("Done.")]]);
        sim.play_except(is_ask);
        let mode = PermissionMode::AcceptEdits;
        let update = PermissionUpdate::SetMode { mode, destination: UpdateDestination::Session };
        let ask = sim.take(is_ask);
        let answer = PermissionAnswer::Allow { updated_input: None, updates: vec![update] };
        sim.input(Input::Answered(ask, answer));
        assert_eq!(sim.machine.policy().mode(), if below { PermissionMode::Plan } else { mode });
        sim.play();
        assert!(sim.events.iter().any(|event| matches!(&event.kind, EventKind::ToolStarted(_))), "the call runs");
    }
}

/// An agent gets the tools of its parent that its definition gives it and that no rule denies.
#[test]
fn an_agent_gets_no_tool_that_it_may_not_have() {
    let mut config = config();
    config.tools.structured_output = Some("Report".to_owned());
    let machine = Machine::new(config, &[]);
    let offered = ["Read", "Write", "Bash", "Question", "Report", "EnterPlanMode", "ExitPlanMode", "mcp__git__log"];
    let offered = offered.map(|name| OfferedTool { name, asks_the_user: name == "Question" });
    let names = |tools: Option<&[&str]>, denied: &[&str]| {
        let mut agent = AgentConfig::new(AgentIdentity::new("a1".into(), "scout"));
        agent.rights.tools = tools.map(|tools| tools.iter().map(|name| (*name).to_owned()).collect());
        agent.rights.disallowed_tools = denied.iter().map(|rule| (*rule).to_owned()).collect();
        machine.agent_tools(&agent, Path::new("/w"), offered)
    };
    assert_eq!(names(None, &[]), Ok(vec!["Read", "Write", "Bash", "mcp__git__log"]));
    assert_eq!(names(None, &["Bash", "Write(/w/a)", "mcp__git"]), Ok(vec!["Read", "Write"]));
    assert_eq!(names(Some(&["mcp__git", "Read", "Question", "Report"]), &["Read"]), Ok(vec!["mcp__git__log"]));
    assert_eq!(names(Some(&[]), &[]), Ok(Vec::new()));
    assert_eq!(names(Some(&["Question"]), &[]), Err(AgentError::NoTools { agent_type: "scout".to_owned() }));
    assert!(matches!(names(None, &["Bash(("]), Err(AgentError::Rule { .. })));
}

/// An agent without a tool list reads only, unless its parent was given more.
#[test]
fn an_agent_without_a_list_of_tools_reads() {
    let offered = ["Read", "Write", "Edit", "Bash", "mcp__git__log"];
    let offered = || offered.map(|name| OfferedTool { name, asks_the_user: false });
    let mut agent = AgentConfig::new(AgentIdentity::new("a1".into(), "scout"));
    agent.rights.reads_by_default = true;
    let reading = vec!["Read", "mcp__git__log"];
    let all = offered().map(|tool| tool.name).to_vec();
    let names =
        |config: MachineConfig| Machine::new(config, &[]).agent_tools(&agent, Path::new("/w"), offered()).unwrap();
    assert_eq!(names(config()), reading);
    // The user lets the parent run commands, or edit.
    for (rules, expected) in [
        (&["Bash(npm test *)"][..], vec!["Read", "Bash", "mcp__git__log"]),
        (&["Edit(docs/**)"], vec!["Read", "Write", "Edit", "mcp__git__log"]),
        (&["Bash", "Edit"], all.clone()),
        (&["WebFetch"], reading.clone()),
    ] {
        let mut given = config();
        given.policy.add_rules(RuleSource::CliArg, Behavior::Allow, rules, Path::new("/w")).unwrap();
        assert_eq!(names(given), expected, "{rules:?}");
    }
    let mut editing = config();
    editing.policy.set_mode(PermissionMode::AcceptEdits).unwrap();
    assert_eq!(names(editing), ["Read", "Write", "Edit", "mcp__git__log"]);
    // The definition of the parent names them, or has all.
    for (tools, reads_by_default, expected) in [
        (Some(vec!["Bash".to_owned(), "Read".to_owned()]), false, vec!["Read", "Bash", "mcp__git__log"]),
        (None, false, all),
        (None, true, reading),
    ] {
        let mut above = AgentConfig::new(AgentIdentity::new("a0".into(), "lead"));
        (above.rights.tools, above.rights.reads_by_default) = (tools, reads_by_default);
        let mut given = config();
        given.agent = Some(above);
        assert_eq!(names(given), expected);
    }
}

/// A model with a budget may not choose one that no budget limits; a definition may name it.
#[test]
fn a_model_without_a_price_is_not_chosen_within_a_budget() {
    for (budget, chooses, priced, opens) in
        [(true, true, false, false), (true, false, false, true), (true, true, true, true), (false, true, false, true)]
    {
        let mut config = config();
        config.limits.max_budget = budget.then(|| windlass_types::NanoUsd::new(1_000_000));
        let mut other = model("other");
        if !priced {
            other.info.price = None;
        }
        let agent = AgentConfig::new(AgentIdentity::new("a1".into(), "scout"));
        let mut opening = AgentOpening::new(agent, "/w".into(), 7);
        (opening.model, opening.chooses_model) = (Some(other), chooses);
        let opened = Machine::new(config, &[]).agent_config(opening);
        assert_eq!(opened.is_ok(), opens, "{budget} {chooses} {priced}: {opened:?}");
    }
}

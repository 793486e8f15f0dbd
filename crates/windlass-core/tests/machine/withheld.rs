//! Tools whose definitions are withheld until the model has searched for them.

use crate::choices::Choices;
use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{call, sim, text};
use crate::sim::{Sim, TAME, config, model};
use std::collections::BTreeSet;
use std::sync::Arc;
use windlass_core::{Input, Machine, MachineConfig, Prompt, PromptKind};
use windlass_types::{ContentBlock, EntryKind, JsonText, ModelRequest, ToolSpec, ToolUse};

/// Returns the tools of the servers, each with a description of 400 characters, `Read` and the search tool.
fn specs(servers: &[&str], each: usize) -> Arc<[Arc<ToolSpec>]> {
    let of = |server: &&str| {
        let server = (*server).to_owned();
        (0..each)
            .map(move |at| (format!("mcp__{server}__t{at:03}"), format!("Counts {server} {at}. {}", "x".repeat(400))))
    };
    let theirs = servers.iter().flat_map(of);
    let own = [("Read".to_owned(), "Reads.".to_owned()), ("ToolSearch".to_owned(), "Searches.".to_owned())];
    let specs = own.into_iter().chain(theirs);
    specs.map(|(name, words)| Arc::new(ToolSpec::new(name, words, JsonText::empty_object()))).collect()
}

fn with(servers: &[&str], each: usize) -> MachineConfig {
    let mut config = config();
    config.model.info.appends_tools = true;
    config.tools.specs = specs(servers, each);
    config
}

fn search(id: &str, query: &str) -> ContentBlock {
    let input = JsonText::of(&std::collections::BTreeMap::from([("query", query)])).unwrap();
    ContentBlock::ToolUse(ToolUse::new(id, "ToolSearch", input))
}

/// Returns the tool names that a request lists in front, and those after messages.
fn listed(request: &ModelRequest) -> (Vec<&str>, Vec<(usize, Vec<&str>)>) {
    let first = request.tools.iter().map(|spec| spec.name.as_str()).collect();
    let added = request.added_tools.iter();
    (first, added.map(|one| (one.after_messages, one.tools.iter().map(|spec| spec.name.as_str()).collect())).collect())
}

fn last(sim: &Sim) -> &ModelRequest {
    sim.requests.last().unwrap()
}

/// Continues a session as another process does.
fn resumed(config: MachineConfig, sim: &Sim) -> Sim {
    let mut resumed = Sim::new(config.clone(), Choices::new(Vec::new()), TAME);
    resumed.machine = Machine::new(config, &sim.log);
    resumed.log.clone_from(&sim.log);
    resumed
}

#[test]
fn large_definitions_are_withheld_and_loaded_where_the_model_asks_for_them() {
    let names = "mcp__big__t007";
    let script: [&[ContentBlock]; 3] =
        [&[search("s1", "select:mcp__big__t007")], &[call("c1", names, "a")], &[text("Done.")]];
    let mut config = with(&["big"], 500);
    config
        .policy
        .add_rules(windlass_types::RuleSource::Session, windlass_types::Behavior::Allow, &["mcp__big"], "/w".as_ref())
        .unwrap();
    let mut sim = sim(config.clone(), &script);
    sim.play();
    assert_eq!(listed(&sim.requests[0]), (vec!["Read", "ToolSearch"], vec![]));
    let told = sim.requests[0].messages[0].content.iter().filter_map(ContentBlock::as_text).collect::<String>();
    assert!(told.contains("- mcp__big__{t000, ") && told.contains(", t499}"), "{told}");
    let result = render(&sim.events);
    assert_eq!(lines(&sim, "run ended (Success)").len(), 1, "{result}");
    assert_eq!(listed(&sim.requests[1]), (vec!["Read", "ToolSearch"], vec![(3, vec![names])]));
    assert_eq!(listed(last(&sim)).1, [(3, vec![names])], "it stays where it was added");
    assert!(!result.contains("CacheBroken"), "{result}");
    // Another process lists the same tools.
    let mut later = resumed(config.clone(), &sim);
    later.script = vec![vec![text("Hello.")]];
    later.prompt("hi");
    later.play();
    assert_eq!(listed(last(&later)), (vec!["Read", "ToolSearch"], vec![(3, vec![names])]));
    let (before, after) = (&last(&sim).messages, &last(&later).messages);
    assert!(before.iter().zip(after).all(|(a, b)| a.json() == b.json()));
    // The names were listed once.
    let told = |sim: &Sim| sim.log.iter().filter(|entry| matches!(entry.kind, EntryKind::ToolsWithheld(_))).count();
    assert_eq!(told(&later), 1);
}

#[test]
fn servers_that_are_started_on_demand_have_a_smaller_budget_of_their_own() {
    let mut config = with(&["eager", "lazy"], 20);
    let mark = |spec: &Arc<ToolSpec>| {
        let mut spec = ToolSpec::clone(spec);
        if spec.name.starts_with("mcp__lazy__") {
            spec.loading = windlass_types::ToolLoading::OnDemand;
        }
        Arc::new(spec)
    };
    config.tools.specs = config.tools.specs.iter().map(mark).collect();
    let script: [&[ContentBlock]; 2] = [&[search("s1", "select:mcp__lazy__t003")], &[text("Done.")]];
    let mut small = sim(config.clone(), &script);
    small.play();
    let (first, _) = listed(&small.requests[0]);
    let lists = |server: &str| first.iter().filter(|name| name.starts_with(server)).count();
    assert_eq!((lists("mcp__eager__"), lists("mcp__lazy__")), (20, 0), "{first:?}");
    assert!(first.contains(&"ToolSearch"));
    assert_eq!(listed(last(&small)).1, [(3, vec!["mcp__lazy__t003"])]);
    config.tools.budget.on_demand_tokens = 10_000;
    let mut large = sim(config, &[&[text("Done.")]]);
    large.play();
    assert_eq!(listed(&large.requests[0]).0.len(), 41, "Read and both servers");
}

#[test]
fn a_call_of_a_tool_that_is_withheld_does_not_run() {
    let script: [&[ContentBlock]; 3] =
        [&[call("c1", "mcp__big__t001", "a")], &[search("s1", "weather")], &[text("Done.")]];
    let mut config = with(&["big"], 500);
    config
        .policy
        .add_rules(windlass_types::RuleSource::Session, windlass_types::Behavior::Allow, &["mcp__big"], "/w".as_ref())
        .unwrap();
    let mut sim = sim(config, &script);
    sim.play();
    let results: Vec<String> = last(&sim)
        .messages
        .iter()
        .flat_map(|message| &message.content)
        .filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(format!("{} {}", result.is_error, result.content.text())),
            _ => None,
        })
        .collect();
    assert!(results[0].starts_with("true The tool mcp__big__t001 is not loaded"), "{results:?}");
    assert!(results[1].starts_with("true No tool fits \"weather\""), "{results:?}");
    assert!(!sim.log.iter().any(|entry| matches!(entry.kind, EntryKind::Intent { .. })));
}

#[test]
fn few_tools_are_all_listed_and_none_to_search_with() {
    for config in [with(&["small"], 3), {
        let mut off = with(&["big"], 500);
        off.tools.budget.enabled = false;
        off
    }] {
        let count = config.tools.specs.len() - 1;
        let mut sim = sim(config, &[&[text("Done.")]]);
        sim.play();
        let (first, added) = listed(last(&sim));
        assert_eq!((first.len(), added.len()), (count, 0));
        assert!(!first.contains(&"ToolSearch"));
    }
}

#[test]
fn what_is_listed_stays_listed_when_a_server_joins_and_in_another_process() {
    let few = with(&["small"], 3);
    let mut sim = sim(few.clone(), &[&[text("One.")], &[text("Two.")]]);
    sim.play();
    let first: Vec<String> = listed(last(&sim)).0.into_iter().map(str::to_owned).collect();
    assert_eq!(first.len(), 4);
    let both = specs(&["small", "big"], 300);
    sim.input(Input::SetTools(Arc::clone(&both)));
    sim.prompt("again");
    sim.play();
    let (front, added) = listed(last(&sim));
    assert_eq!(front, first);
    // Of the new tools, the model gets the search tool.
    assert_eq!(added, [(3, vec!["ToolSearch"])]);
    assert!(!render(&sim.events).contains("CacheBroken"));
    let mut config = few;
    config.tools.specs = both;
    let mut later = resumed(config, &sim);
    later.script = vec![vec![text("Three.")]];
    later.prompt("hi");
    later.play();
    assert_eq!(listed(last(&later)), (first.iter().map(String::as_str).collect(), vec![(3, vec!["ToolSearch"])]));
}

#[test]
fn what_was_loaded_stays_loaded_after_a_compaction_and_the_rest_is_named_anew() {
    let script: [&[ContentBlock]; 2] = [&[search("s1", "select:mcp__big__t007")], &[text("Done.")]];
    let config = with(&["big"], 500);
    let mut sim = sim(config.clone(), &script);
    sim.play();
    sim.script = vec![vec![text("<summary>All is well.</summary>")]];
    let mut compact = Prompt::text("");
    compact.kind = PromptKind::Compact;
    sim.input(Input::Prompt(compact));
    sim.play();
    let mut later = resumed(config, &sim);
    for sim in [&mut sim, &mut later] {
        sim.script = vec![vec![text("Two.")]];
        sim.prompt("go");
        sim.play();
        assert_eq!(listed(last(sim)), (vec!["Read", "ToolSearch", "mcp__big__t007"], vec![]));
        let told = last(sim).messages[0].content.iter().filter_map(ContentBlock::as_text).collect::<String>();
        assert!(told.contains(", t499}") && !told.contains("t007"), "{told}");
    }
}

#[test]
fn a_server_that_goes_takes_its_tools_along_and_changes_no_request() {
    let config = with(&["big"], 500);
    let mut sim = sim(config, &[&[text("One.")], &[search("s1", "select:mcp__big__t001")], &[text("Two.")]]);
    sim.play();
    sim.input(Input::SetTools(specs(&[], 0)));
    sim.prompt("again");
    sim.play();
    assert_eq!(listed(last(&sim)), (vec!["Read", "ToolSearch"], vec![]));
    assert!(!render(&sim.events).contains("CacheBroken"), "{}", render(&sim.events));
    let text = last(&sim).messages.last().unwrap().json().to_owned();
    assert!(text.contains("Not found by name: mcp__big__t001"), "{text}");
}

#[test]
fn models_that_take_no_tools_in_the_middle_get_loaded_ones_in_front() {
    let mut config = with(&["big"], 500);
    config.model = model("old");
    let mut sim = sim(config, &[&[search("s1", "select:mcp__big__t001")], &[text("Done.")]]);
    sim.play();
    assert_eq!(listed(last(&sim)), (vec!["Read", "ToolSearch", "mcp__big__t001"], vec![]));
    assert!(render(&sim.events).contains("CacheBroken") || !lines(&sim, "cache").is_empty(), "{}", render(&sim.events));
}

#[test]
fn the_account_says_what_is_saved() {
    let config = with(&["big"], 500);
    let mut sim = sim(config, &[&[text("Done.")]]);
    sim.play();
    let usage = sim.machine.context_usage();
    let saved: u64 = usage.sections.iter().map(|section| section.withheld).sum();
    assert!(saved > 500 * 130, "{saved}");
    let names: BTreeSet<&str> = usage.sections.iter().map(|section| section.name.as_str()).collect();
    assert!(names.contains("mcp__big__t001") && names.contains("Read"));
}

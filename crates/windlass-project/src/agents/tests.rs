use super::load::MOST_AGENTS;
use super::*;
use crate::testing::project;
use crate::{SettingSources, SettingsRequest, SettingsUpdates};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use windlass_subagent::MemoryScope;
use windlass_types::{Effort, PermissionMode};

fn flag(definition: &str) -> Result<LoadedAgent, AgentError> {
    Agents::parse(&format!("{{\"a\":{definition}}}")).unwrap().get("a").cloned()
}

fn markdown(text: &str) -> Option<Result<LoadedAgent, String>> {
    parse::file(text, AgentSource::User, Path::new("/x.md")).map(|(_, agent)| agent)
}

/// The same definition as JSON fields and as the lines of a head.
#[test]
fn both_formats_say_the_same() {
    type Check = fn(&LoadedAgent) -> bool;
    let rows: [(&str, &str, Check); 27] = [
        ("", "", |a| {
            a.definition.tools.is_none() && a.definition.disallowed_tools.is_empty() && a.without_effect.is_empty()
        }),
        (r#","description":"Finds""#, "description: Finds", |a| a.definition.description == "Finds"),
        (r#","description":"a\nb""#, "description: |\n  a\n  b", |a| a.definition.description == "a b"),
        (r#","tools":["Read","mcp__s"]"#, "tools: Read, mcp__s", |a| {
            a.definition.tools.as_deref() == Some(&["Read".to_owned(), "mcp__s".to_owned()])
        }),
        (r#","tools":"Read, Grep""#, "tools:\n  - Read\n  - Grep", |a| {
            a.definition.tools.as_ref().is_some_and(|t| t.len() == 2)
        }),
        (r#","tools":[]"#, "tools: []", |a| a.definition.tools.as_deref() == Some(&[])),
        (r#","tools":"""#, "tools:", |a| a.definition.tools.as_deref() == Some(&[])),
        (r#","tools":["*"]"#, "tools: '*'", |a| a.definition.tools.is_none()),
        (r#","disallowedTools":["Bash(rm *, x)","Edit"]"#, "disallowedTools: Bash(rm *, x), Edit", |a| {
            a.definition.disallowed_tools == ["Bash(rm *, x)", "Edit"]
        }),
        (r#","allowed-tools":"Read""#, "allowedTools: Read", |a| {
            a.definition.tools.as_ref().is_some_and(|t| t == &["Read"])
        }),
        (r#","disallowed-tools":"Read""#, "disallowed-tools: Read", |a| a.definition.disallowed_tools == ["Read"]),
        (r#","permission-mode":"plan","max-turns":2"#, "permission-mode: plan\nmax-turns: 2", |a| {
            a.definition.permission_mode == Some(PermissionMode::Plan) && a.definition.max_turns == Some(2)
        }),
        (r#","model":"opus""#, "model: opus", |a| a.definition.model.as_deref() == Some("opus")),
        (r#","model":"inherit""#, "model: inherit", |a| a.definition.model.is_none()),
        (r#","permissionMode":"plan""#, "permissionMode: plan", |a| {
            a.definition.permission_mode == Some(PermissionMode::Plan)
        }),
        (r#","maxTurns":3"#, "maxTurns: 3", |a| a.definition.max_turns == Some(3)),
        (r#","effort":"low""#, "effort: low", |a| a.definition.effort == Some(Effort::Low)),
        (r#","effort":7"#, "effort: 7", |a| a.definition.effort.is_none() && a.without_effect == ["effort: 7"]),
        (r#","background":true"#, "background: true", |a| a.definition.background == Some(true)),
        (r#","background":"false""#, "background: false", |a| a.definition.background == Some(false)),
        (r#","background":"later""#, "background: later", |a| {
            a.definition.background.is_none() && a.without_effect == ["background: \"later\""]
        }),
        (r#","initialPrompt":"Go""#, "initialPrompt: Go", |a| a.initial_prompt.as_deref() == Some("Go")),
        (r#","memory":"local""#, "memory: local", |a| a.definition.memory == Some(MemoryScope::Local)),
        (r#","memory":"team""#, "memory: team", |a| {
            a.definition.memory.is_none() && a.without_effect == ["memory: \"team\""]
        }),
        (r#","skills":["a","b"]"#, "skills: a, b", |a| a.definition.skills == ["a", "b"]),
        (r#","skills":"a""#, "skills:\n  - a", |a| a.definition.skills == ["a"]),
        (
            r#","hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"color":"red","isolation":"worktree""#,
            "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: x\ncolor: red\nisolation: worktree",
            |a| a.without_effect == ["isolation"] && a.hooks.len() == 1,
        ),
    ];
    for (json, head, check) in rows {
        let given = flag(&format!(r#"{{"prompt":"Do it."{json}}}"#)).unwrap();
        let read = markdown(&format!("---\nname: a\n{head}\n---\nDo it.\n")).unwrap().unwrap();
        assert!(check(&given), "{json} {given:?}");
        assert!(check(&read), "{head} {read:?}");
        let mut same = read.clone();
        (same.source, same.path) = (AgentSource::Flags, None);
        // Whoever starts the program gives an agent without a list all tools.
        same.definition.all_tools |= same.definition.tools.is_none();
        assert_eq!(same, given, "{head}");
    }
}

#[test]
fn what_may_restrict_is_understood_or_refused() {
    for definition in [
        "1",
        "{}",
        r#"{"prompt":" "}"#,
        r#"{"prompt":"p","tools":7}"#,
        r#"{"prompt":"p","tools":[1]}"#,
        r#"{"prompt":"p","disallowedTools":{}}"#,
        r#"{"prompt":"p","permissionMode":"careful"}"#,
        r#"{"prompt":"p","tools":"Read","allowed-tools":"Bash"}"#,
        r#"{"prompt":"p","maxTurns":0}"#,
        r#"{"prompt":"p","hooks":{"PreToolUse":[{"hooks":[{"type":"command"}]}]}}"#,
        r#"{"prompt":"p","hooks":["x"]}"#,
        r#"{"prompt":"p","maxTurns":-1}"#,
        r#"{"prompt":"p","maxTurns":"many"}"#,
        r#"{"prompt":"p","maxTurns":99999999999}"#,
    ] {
        assert!(matches!(flag(definition), Err(AgentError::Unusable { .. })), "{definition}");
    }
    for text in [
        "hooks:\n  PreToolUse: x",
        "hooks:\n  PreToolUse:\n     - a\n   b: 1",
        "permissionMode: careful",
        "maxTurns: many",
        "maxTurns: 0",
        "tools: Read\nallowed-tools: Bash",
        "tools: Bash(npm test:*",
        "tools: Grep(src/**)",
    ] {
        assert!(markdown(&format!("---\nname: a\n{text}\n---\nDo it.")).unwrap().is_err(), "{text}");
    }
    assert!(markdown("---\nname: a\n---\n").unwrap().is_err());
    assert!(markdown("---\nname: a\nDo it.").unwrap().is_err());
    let long = format!("---\nname: {}\n---\nDo it.", "x".repeat(101));
    for text in [long.as_str(), "Do it.", "---\ndescription: x\n---\nDo it."] {
        assert!(markdown(text).is_none(), "{text}");
    }
    for text in ["", "[]", "7", r#"{"a":{},"a":{}}"#] {
        assert!(Agents::parse(text).is_err(), "{text}");
    }
    assert!(flag(r#"{"prompt":"p","tools":null,"model":null,"maxTurns":null,"effort":null}"#).is_ok());
}

#[test]
fn an_agent_of_the_project_only_narrows_the_mode() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
    for (wanted, otherwise, of_user, of_project) in [
        (None, AcceptEdits, AcceptEdits, AcceptEdits),
        (Some(Plan), Default, Plan, Plan),
        (Some(Plan), DontAsk, Plan, Plan),
        (Some(Plan), BypassPermissions, Plan, Plan),
        (Some(DontAsk), Plan, DontAsk, Plan),
        (Some(Default), AcceptEdits, Default, Default),
        (Some(AcceptEdits), Default, AcceptEdits, Default),
        (Some(BypassPermissions), Default, BypassPermissions, Default),
    ] {
        let mut agent = flag(r#"{"prompt":"p"}"#).unwrap();
        agent.definition.permission_mode = wanted;
        for (source, mode) in
            [(AgentSource::User, of_user), (AgentSource::Flags, of_user), (AgentSource::Project, of_project)]
        {
            agent.source = source;
            assert_eq!(agent.mode(otherwise), mode, "{wanted:?} {otherwise:?} {source}");
        }
    }
}

#[test]
fn stronger_definitions_count_also_when_they_are_wrong() {
    let flags = Agents::parse(r#"{"a":{"prompt":"flags"},"b":{"prompt":"flags","tools":1}}"#).unwrap();
    let files = Agents::parse(r#"{"a":{"prompt":"file"},"b":{"prompt":"file"},"c":{"prompt":"file"}}"#).unwrap();
    let all = flags.or(files);
    assert_eq!(all.get("a").unwrap().definition.prompt, "flags");
    assert_eq!(all.get("c").unwrap().definition.prompt, "file");
    assert!(matches!(all.get("b"), Err(AgentError::Unusable { .. })));
    assert_eq!(all.get("d").unwrap_err().to_string(), r#"there is no agent "d": there is a, c"#);
    assert_eq!(Agents::default().get("d").unwrap_err().to_string(), r#"there is no agent "d": there are none"#);
}

#[test]
fn tools_are_names_in_any_case_and_rules() {
    let agent = |head: &str| markdown(&format!("---\nname: a\n{head}\n---\nDo it.")).unwrap().unwrap().definition;
    let review = agent("tools:\n  - Read\n  - Grep\n  - Bash(npm test:*)\n  - Bash(git diff)");
    assert_eq!(review.tools.as_deref().unwrap(), ["Read", "Grep", "Bash"]);
    assert_eq!(review.tool_rules, ["Bash(npm test:*)", "Bash(git diff)"]);
    let lower = agent("tools: read, grep, bash(npm test:*), task, mcp__s__x\ndisallowedTools: webfetch, edit(src/**)");
    assert_eq!(lower.tools.unwrap(), ["Read", "Grep", "Task", "mcp__s__x", "Bash"]);
    assert_eq!(lower.tool_rules, ["Bash(npm test:*)"]);
    assert_eq!(lower.disallowed_tools, ["WebFetch", "Edit(src/**)"]);
    assert_eq!(agent("tools: Bash, Bash(npm test:*)").tool_rules, [""; 0], "it has all of the tool");
    let given = flag(r#"{"prompt":"p","tools":["Bash(npm test:*)"]}"#).unwrap().definition;
    assert_eq!(
        (given.tools.unwrap(), given.tool_rules),
        (vec!["Bash".to_owned()], vec!["Bash(npm test:*)".to_owned()])
    );
}

proptest! {
    #[test]
    fn any_file_is_an_agent_or_none(
        text in "(---\n)?((name|tools|maxTurns|effort|permissionMode): ?)?(\\PC|\n){0,120}(\n---\n)?\\PC{0,20}"
    ) {
        if let Some(Ok(agent)) = markdown(&text) {
            prop_assert!(!agent.name().is_empty() && !agent.definition.prompt.trim().is_empty());
            prop_assert!(agent.definition.description.chars().count() <= 1_536);
        }
    }

    #[test]
    fn any_json_is_taken_or_refused(text in r#"[{}\[\]:,"a0 \\ntools]{0,80}"#, tools in "\\PC{0,30}") {
        let _ = Agents::parse(&text);
        let definition = serde_json::json!({ "a": { "prompt": "p", "tools": tools } });
        let agents = Agents::parse(&definition.to_string()).unwrap();
        // A restriction is never lost; only one word means none, and a rule is no name.
        match agents.get("a") {
            Ok(agent) => prop_assert!(agent.definition.tools.is_some() || tools.contains('*')),
            Err(_) => prop_assert!(tools.contains(['(', ')'])),
        }
    }
}

fn agent(name: &str, prompt: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\n{prompt}\n")
}

fn prompts(agents: &Agents) -> BTreeMap<&str, &str> {
    agents.agents.iter().map(|agent| (agent.name(), agent.definition.prompt.as_str())).collect()
}

#[test]
fn agents_come_from_the_project_before_the_user() {
    let (root, mut places) = project();
    places.records = vec![root.path("home/.windlass/record.json")];
    for (file, name, prompt) in [
        ("home/.claude/agents/a.md", "a", "user a"),
        ("home/.claude/agents/deep/er/b.md", "b", "user b"),
        ("home/.windlass/agents/any name.md", "b", "own b"),
        ("work/.claude/agents/a.md", "a", "project a"),
        ("work/.claude/agents/c.md", "c", "project c"),
        ("work/sub/.claude/agents/c.md", "c", "nearer c"),
        ("work/sub/.claude/agents/d.md", "d", "other d"),
        ("work/sub/.windlass/agents/d.md", "d", "own d"),
    ] {
        root.write(file, agent(name, prompt));
    }
    root.write("work/.claude/agents/README.md", "How to write agents.");
    let trusted = SettingsRequest::new().trust(true);
    let all = load_agents(&places, &trusted);
    let expected = [("a", "project a"), ("b", "own b"), ("c", "nearer c"), ("d", "own d")];
    assert_eq!(prompts(&all), BTreeMap::from(expected));
    assert_eq!(all.notes.len(), 5, "{:?}", all.notes);
    let mine = all.get("a").unwrap();
    assert_eq!((mine.source, mine.path.clone()), (AgentSource::Project, Some(root.path("work/.claude/agents/a.md"))));

    // The project is not trusted: the user's agents are in effect, and the omitted ones are named.
    let all = load_agents(&places, &SettingsRequest::new());
    assert_eq!(prompts(&all), BTreeMap::from([("a", "user a"), ("b", "own b")]));
    assert!(all.notes.iter().any(|note| note.to_string().contains("without trust") && note.text.contains("a, c")));
    assert!(matches!(all.get("c"), Err(AgentError::Untrusted { .. })));

    for (sources, names) in [("user", "ab"), ("project", "acd"), ("local", ""), ("", ""), ("user,project", "abcd")] {
        // Naming the project trusts it.
        let request = SettingsRequest::new().sources(sources.parse().unwrap());
        let found: String = prompts(&load_agents(&places, &request)).into_keys().collect();
        assert_eq!(found, names, "{sources}");
    }

    // Trust in a directory covers the directories below it, not those above.
    let record = serde_json::json!({ "projects": { root.path("work/sub").to_str().unwrap(): { "trusted": true } } });
    root.write("home/.windlass/record.json", record.to_string());
    SettingsUpdates::new(places.clone(), SettingSources::default()).pin_trust().unwrap();
    let all = load_agents(&places, &SettingsRequest::new());
    let expected = [("a", "user a"), ("b", "own b"), ("c", "nearer c"), ("d", "own d")];
    assert_eq!(prompts(&all), BTreeMap::from(expected));
}

#[test]
fn agents_of_the_other_folder_count_as_well() {
    let (root, places) = project();
    for (file, name) in [
        ("home/.claude/subagents/user.md", "user"),
        ("work/.claude/subagents/far.md", "far"),
        ("work/.claude/agents/both.md", "both"),
        ("work/sub/.claude/subagents/both.md", "both"),
        ("work/sub/.claude/agents/same.md", "same"),
        ("work/sub/.claude/subagents/same.md", "same"),
    ] {
        root.write(file, agent(name, file));
    }
    let all = load_agents(&places, &SettingsRequest::new().trust(true));
    let expected = [
        ("both", "work/sub/.claude/subagents/both.md"),
        ("far", "work/.claude/subagents/far.md"),
        ("same", "work/sub/.claude/agents/same.md"),
        ("user", "home/.claude/subagents/user.md"),
    ];
    assert_eq!(prompts(&all), BTreeMap::from(expected));
    let untrusted = load_agents(&places, &SettingsRequest::new());
    assert_eq!(prompts(&untrusted).len(), 1, "those of the project need trust");
}

#[test]
fn an_agent_that_cannot_be_used_hides_a_weaker_one() {
    let (root, places) = project();
    root.write("home/.claude/agents/a.md", agent("a", "user a"));
    root.write("work/.claude/agents/a.md", "---\nname: a\nmaxTurns: none\n---\nproject a");
    let all = load_agents(&places, &SettingsRequest::new().trust(true));
    let error = all.get("a").unwrap_err().to_string();
    assert!(error.contains("maxTurns") && error.contains("work/.claude/agents/a.md"), "{error}");
}

#[test]
fn a_folder_without_end_has_one() {
    let (root, places) = project();
    for number in 0..MOST_AGENTS + 40 {
        root.write(format!("work/.claude/agents/{number}.md"), agent(&format!("a{number}"), "x"));
    }
    let all = load_agents(&places, &SettingsRequest::new().trust(true));
    assert_eq!((all.agents.len(), all.notes.len()), (MOST_AGENTS, 32));
    let all = load_agents(&places, &SettingsRequest::new());
    assert_eq!((all.agents.len(), all.untrusted.len()), (0, MOST_AGENTS));
    let deep = format!("work/sub/.claude/agents{}/x.md", "/d".repeat(40));
    root.write(deep, agent("deep", "x"));
    assert!(load_agents(&places, &SettingsRequest::new().trust(true)).get("deep").is_err());
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let (root, places) = project();
    root.write("secret/key.md", agent("key", "secret"));
    root.write("work/sub/.claude/agents/good.md", agent("good", "good"));
    symlink(root.path("secret/key.md"), root.path("work/sub/.claude/agents/key.md")).unwrap();
    symlink(root.path("secret"), root.path("work/sub/.claude/agents/folder")).unwrap();
    symlink(root.path("secret"), root.path("work/.claude")).unwrap();
    root.make("work/sub/.windlass");
    symlink(root.path("secret"), root.path("work/sub/.windlass/agents")).unwrap();
    let all = load_agents(&places, &SettingsRequest::new().trust(true));
    assert_eq!(prompts(&all), BTreeMap::from([("good", "good")]));
    assert_eq!(all.notes.len(), 3, "{:?}", all.notes);
}

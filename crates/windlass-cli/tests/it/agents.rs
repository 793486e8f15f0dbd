//! Sessions that are an agent: sources of the agent, and its effects.

use crate::place::{Place, Ran, call, finish, text, write};
use serde_json::{Value, json};
use std::process::Stdio;

/// The ways a session is driven from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Print,
    Host,
}

const WAYS: [Way; 2] = [Way::Print, Way::Host];

/// Runs one prompt with a variable set.
fn run_env(place: &Place, way: Way, (name, value): (&str, &str)) -> Ran {
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "Go."}});
    let mut command = match way {
        Way::Print => place.command(&["-p", "Go.", "--output-format", "stream-json"]),
        Way::Host => place.command(&["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]),
    };
    let child = command.env(name, value).stdin(Stdio::piped()).spawn().unwrap();
    finish(child, &if way == Way::Host { format!("{prompt}\n") } else { String::new() })
}

/// Runs one prompt. `agents` is what `initialize` or `--agents` defines.
fn run(place: &Place, way: Way, agents: Option<&Value>, args: &[&str]) -> Ran {
    match (way, agents) {
        (Way::Print, agents) => {
            let agents = agents.map(ToString::to_string);
            let mut all = vec!["-p", "Go.", "--output-format", "stream-json"];
            all.extend(args);
            all.extend(agents.iter().flat_map(|agents| ["--agents", agents.as_str()]));
            place.run(&all)
        }
        (Way::Host, agents) => {
            let flags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
            let prompt = json!({"type": "user", "message": {"role": "user", "content": "Go."}});
            let initialize = json!({
                "type": "control_request", "request_id": "1",
                "request": {"subtype": "initialize", "systemPrompt": [""], "agents": agents},
            });
            place.run_with(&[&flags[..], args].concat(), &format!("{initialize}\n{prompt}\n"))
        }
    }
}

fn init(ran: &Ran) -> Value {
    let lines = ran.lines();
    lines.into_iter().find(|line| line["subtype"] == "init").unwrap_or_else(|| panic!("{ran:#?}"))
}

fn agent(name: &str, head: &str) -> String {
    format!("---\nname: {name}\ndescription: Reviews\n{head}---\nYou review.\n")
}

#[test]
fn a_restricted_agent_does_not_get_other_tools() {
    for way in WAYS {
        for (definition, args, offered) in [
            (json!({"tools": ["Read", "Grep"]}), &[][..], &["Grep", "Read"][..]),
            (json!({"tools": "Read"}), &["--dangerously-skip-permissions"], &["Read"]),
            (json!({"tools": []}), &[], &[]),
            (json!({"tools": ["Read", "Bash"], "disallowedTools": ["Bash"]}), &[], &["Read"]),
            // The agent never gets more tools than the command line allows.
            (json!({"tools": ["Read", "Bash"]}), &["--tools", "Read,Grep"], &["Read"]),
            (json!({"tools": ["Read", "Bash"]}), &["--disallowedTools", "Bash"], &["Read"]),
            (json!({"tools": ["WebSearch"]}), &[], &[]),
        ] {
            let place = Place::with_turns(&[call("Bash", &json!({ "command": "touch made" })), text("Finished.")]);
            let mut agents = json!({"a": {"description": "d", "prompt": "You review."}});
            agents["a"].as_object_mut().unwrap().extend(definition.as_object().unwrap().clone());
            let args = [&["--agent", "a", "--allowedTools", "Bash"], args].concat();
            let ran = run(&place, way, Some(&agents), &args).with_code(0);
            assert_eq!(init(&ran)["tools"], json!(offered), "{way:?} {definition} {ran:#?}");
            assert!(!place.work().join("made").exists(), "{way:?} {definition}");
            let named = definition["tools"][0] == "WebSearch";
            assert_eq!(ran.stderr.contains("so WebSearch is not offered"), named, "{}", ran.stderr);
        }
    }
}

#[test]
fn files_count_by_source_and_trust() {
    for way in WAYS {
        for (file, args, problem) in [
            ("home/.claude/agents/a.md", &[][..], ""),
            ("home/.windlass/agents/deep/a.md", &[], ""),
            ("home/.claude/agents/a.md", &["--setting-sources", "project"], "there are none"),
            ("work/.claude/agents/a.md", &[], "without trust in the project"),
            ("work/.windlass/agents/a.md", &["--trust"], ""),
            ("work/.claude/agents/a.md", &["--setting-sources", "project"], ""),
            ("work/.claude/agents/a.md", &["--setting-sources="], "there are none"),
            ("work/.claude/commands/a.md", &["--trust"], "there are none"),
        ] {
            let place = Place::with_turns(&[text("Finished.")]);
            write(&place.path(file), &agent("a", "tools: Read\n"));
            let ran = run(&place, way, None, &[&["--agent", "a"], args].concat());
            if problem.is_empty() {
                assert_eq!(init(&ran)["tools"], json!(["Read"]), "{way:?} {file} {args:?} {ran:#?}");
                continue;
            }
            // To continue without it would allow more than was asked for.
            assert_ne!(ran.code, 0, "{way:?} {file} {args:?} {ran:#?}");
            let output = format!("{}{}", ran.stdout, ran.stderr);
            assert!(output.contains(problem) && !output.contains("Finished."), "{way:?} {file} {args:?} {ran:#?}");
        }
    }
}

#[test]
fn an_unknown_agent_fails_the_start_and_the_others_are_named() {
    for way in WAYS {
        let place = Place::with_turns(&[text("Finished.")]);
        write(&place.path("home/.claude/agents/one.md"), &agent("one", ""));
        write(&place.path("home/.claude/agents/bad.md"), &agent("bad", "maxTurns: lots\n"));
        let agents = json!({"two": {"description": "d", "prompt": "p"}, "worse": {"prompt": ""}});
        for (name, expected) in [
            ("three", "there is one, two"),
            ("bad", "maxTurns is a whole number above zero"),
            ("worse", "it has no prompt"),
        ] {
            let ran = run(&place, way, Some(&agents), &["--agent", name]);
            assert_ne!(ran.code, 0, "{ran:#?}");
            let output = format!("{}{}", ran.stdout, ran.stderr);
            assert!(output.contains(expected) && output.contains(name), "{way:?} {name} {ran:#?}");
        }
    }
}

/// The tool that gives tasks to agents, as hosts know it.
const TOOL: &str = "Task";

fn offers(ran: &Ran) -> bool {
    init(ran)["tools"].as_array().unwrap().iter().any(|tool| tool == TOOL)
}

/// A call that waits for its agent.
fn task(agent_type: &str) -> Value {
    let input = json!({
        "description": "Look", "prompt": "Look for it.", "subagent_type": agent_type, "run_in_background": false,
    });
    call("Agent", &input)
}

/// The text of the last result of a tool that the main agent got.
fn reported(ran: &Ran) -> String {
    let lines = ran.lines();
    let results = lines.iter().filter(|line| line["type"] == "user" && line["parent_tool_use_id"].is_null());
    let block = results.map(|line| &line["message"]["content"][0]).rfind(|block| block["type"] == "tool_result");
    let content = &block.unwrap_or_else(|| panic!("{ran:#?}"))["content"];
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}

#[test]
fn all_agents_can_be_given_tasks() {
    for way in WAYS {
        for (agent_type, expected) in [
            ("a", "It is in a.rs:1."),
            ("of-the-user", "It is in a.rs:1."),
            ("Explore", "It is in a.rs:1."),
            ("unknown", "The types are: Explore, Plan, a, general-purpose, of-the-user."),
        ] {
            let turns = [task(agent_type), text("It is in a.rs:1."), text("Finished.")];
            let place = Place::with_turns(&turns);
            write(&place.path("home/.claude/agents/x.md"), &agent("of-the-user", "isolation: worktree\n"));
            // The project is not trusted.
            write(&place.work().join(".claude/agents/y.md"), &agent("of-the-project", ""));
            let agents = json!({"a": {"description": "d", "prompt": "p", "tools": ["Read"]}});
            let ran = run(&place, way, Some(&agents), &[]).with_code(0);
            assert!(reported(&ran).contains(expected), "{way:?} {agent_type} {ran:#?}");
            assert!(offers(&ran));
            let note = "\"of-the-user\" says what has no effect in this version: isolation";
            assert!(ran.stderr.contains(note), "{way:?} {}", ran.stderr);
            assert!(ran.stderr.contains("do not count without trust in the project: of-the-project"), "{}", ran.stderr);
        }
        let place = Place::with_turns(&[text("Finished.")]);
        let none = run(&place, way, None, &[]).with_code(0);
        assert!(!none.stderr.contains("agent"), "{way:?} {}", none.stderr);
    }
}

#[test]
fn an_agent_that_cannot_be_used_has_no_stand_in() {
    for way in WAYS {
        let place = Place::with_turns(&[task("Explore"), text("Finished.")]);
        let agents = json!({"Explore": {"description": "d", "prompt": "p", "tools": 7}});
        let ran = run(&place, way, Some(&agents), &[]).with_code(0);
        assert!(reported(&ran).contains("The types are: Plan, general-purpose."), "{way:?} {ran:#?}");
        assert!(ran.stderr.contains("the agent \"Explore\" cannot be used"), "{way:?} {}", ran.stderr);
    }
}

#[test]
fn an_agent_with_a_tool_that_cannot_be_had_does_not_start() {
    for (tools, problem) in [
        (json!(["Read", "Grpe"]), "did you mean \"Grep\"?"),
        (json!("read, grpe"), "did you mean \"Grep\"?"),
        (json!(["lint_runner"]), "\"lint_runner\", which is no tool of this session"),
        (
            json!(["Bash(npm test:*"]),
            "`tools`: permission rule `Bash(npm test:*` must end with its closing parenthesis",
        ),
    ] {
        let place = Place::with_turns(&[text("Finished.")]);
        let agents = json!({"a": {"description": "d", "prompt": "You review.", "tools": tools}});
        let ran = run(&place, Way::Print, Some(&agents), &["--agent", "a"]).with_code(2);
        assert!(ran.stderr.contains(problem), "{tools} {}", ran.stderr);
        // Beside another agent it is not offered, and its problem is said.
        let place = Place::with_turns(&[task("a"), text("Finished.")]);
        let ran = run(&place, Way::Print, Some(&agents), &[]).with_code(0);
        assert!(
            ran.stderr.contains("the agent \"a\" cannot be used") && ran.stderr.contains(problem),
            "{}",
            ran.stderr
        );
        assert!(reported(&ran).contains("The types are: Explore, Plan, general-purpose."), "{ran:#?}");
    }
}

#[test]
fn the_tool_is_hidden_by_whatever_hides_tools() {
    for way in WAYS {
        for (args, offered) in [
            (&[][..], true),
            (&["--tools", "default"], true),
            (&["--tools", "Task,Read"], true),
            (&["--tools", "Agent"], true),
            (&["--tools", "Read"], false),
            (&["--disallowedTools", "Agent"], false),
            (&["--disallowedTools", "Task"], false),
            (&["--disallowedTools", "Task(Explore)"], true),
            (&["--agent", "reader"], false),
            (&["--agent", "leader"], true),
        ] {
            let place = Place::with_turns(&[text("Finished.")]);
            let agents = json!({
                "reader": {"description": "d", "prompt": "p", "tools": ["Read"]},
                "leader": {"description": "d", "prompt": "p", "tools": ["Read", "Task"]},
            });
            let ran = run(&place, way, Some(&agents), args).with_code(0);
            assert_eq!(offers(&ran), offered, "{way:?} {args:?} {ran:#?}");
            assert!(!ran.stderr.contains("tools that are not there"), "{way:?} {args:?} {ran:#?}");
            let listed = ["Explore", "Plan", "general-purpose", "leader", "reader"];
            assert_eq!(
                init(&ran)["agents"],
                if offered { json!(listed) } else { json!([]) },
                "{way:?} {args:?} {ran:#?}"
            );
        }
    }
}

#[test]
fn a_denied_type_does_not_run() {
    for way in WAYS {
        let place = Place::with_turns(&[task("Explore"), text("Finished.")]);
        let ran = run(&place, way, None, &["--disallowedTools", "Task(Explore)"]).with_code(0);
        assert!(reported(&ran).contains("Agent type 'Explore' has been denied"), "{way:?} {ran:#?}");
    }
}

#[test]
fn a_host_gets_agents_in_the_background_unless_that_is_off() {
    let mut input = task("Explore");
    input[0]["input"].as_object_mut().unwrap().remove("run_in_background");
    for (way, off, waits) in [(Way::Host, false, false), (Way::Host, true, true), (Way::Print, false, true)] {
        // The main agent and the one below it answer side by side: both the same.
        let place = Place::with_turns(&[input.clone(), text("Same."), text("Same."), text("Same.")]);
        let value = if off { "1" } else { "0" };
        let ran = run_env(&place, way, ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", value));
        assert_eq!(reported(&ran).contains("Same."), waits, "{way:?} {off} {ran:#?}");
        assert_eq!(reported(&ran).contains("works in the background"), !waits, "{way:?} {off} {ran:#?}");
    }
}

#[test]
fn no_work_runs_in_the_background_where_that_is_off() {
    let mut input = task("Explore");
    input[0]["input"]["run_in_background"] = json!(true);
    let command = call("Bash", &json!({"command": "touch made", "run_in_background": true}));
    for way in WAYS {
        for (turn, expected) in [(&input, "Same."), (&command, "Background work is not available here.")] {
            let place = Place::with_turns(&[turn.clone(), text("Same."), text("Same."), text("Same.")]);
            let settings = json!({"permissions": {"allow": ["Bash(touch made)"]}});
            write(&place.path("home/.claude/settings.json"), &settings.to_string());
            let ran = run_env(&place, way, ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"));
            assert!(reported(&ran).contains(expected), "{way:?} {ran:#?}");
            assert!(!place.work().join("made").exists() && !ran.stdout.contains("task_started"), "{way:?} {ran:#?}");
        }
    }
}

#[test]
fn the_setting_names_an_agent_too() {
    for way in WAYS {
        for (file, args, tools) in [
            ("home/.claude/settings.json", &[][..], Some("Read")),
            ("home/.claude/settings.json", &["--agent", "b"], Some("Grep")),
            ("work/.claude/settings.json", &[], None),
            ("work/.claude/settings.json", &["--trust"], Some("Read")),
        ] {
            let place = Place::with_turns(&[text("Finished.")]);
            write(&place.path("home/.claude/agents/a.md"), &agent("a", "tools: Read\n"));
            write(&place.path("home/.claude/agents/b.md"), &agent("b", "tools: Grep\n"));
            write(&place.path(file), &json!({ "agent": "a" }).to_string());
            let ran = run(&place, way, None, args).with_code(0);
            match tools {
                Some(tools) => assert_eq!(init(&ran)["tools"], json!([tools]), "{way:?} {file} {args:?}"),
                None => assert!(ran.stderr.contains("`agent` does not count without trust"), "{way:?} {ran:#?}"),
            }
        }
    }
}

#[test]
fn the_mode_of_an_agent_yields_to_flags_and_a_project_does_not_widen_it() {
    for way in WAYS {
        for (file, wanted, args, mode) in [
            ("home/.claude/agents/a.md", "acceptEdits", &[][..], "acceptEdits"),
            ("home/.claude/agents/a.md", "acceptEdits", &["--permission-mode", "plan"], "plan"),
            ("home/.claude/agents/a.md", "bypassPermissions", &[], "default"),
            ("work/.claude/agents/a.md", "acceptEdits", &["--trust"], "default"),
            ("work/.claude/agents/a.md", "plan", &["--trust"], "plan"),
            ("work/.claude/agents/a.md", "bypassPermissions", &["--trust"], "default"),
        ] {
            let place = Place::with_turns(&[text("Finished.")]);
            write(&place.path(file), &agent("a", &format!("permissionMode: {wanted}\n")));
            let ran = run(&place, way, None, &[&["--agent", "a"], args].concat()).with_code(0);
            assert_eq!(init(&ran)["permissionMode"], mode, "{way:?} {file} {wanted} {args:?} {ran:#?}");
            let noted = ran.stderr.contains("wants the mode bypassPermissions");
            assert_eq!(noted, wanted == "bypassPermissions", "{way:?} {file} {}", ran.stderr);
        }
    }
}

#[test]
fn turns_end_at_the_smaller_limit() {
    for way in WAYS {
        for (own, args, subtype) in [
            (1, &["--max-turns", "5"][..], "error_max_turns"),
            (5, &["--max-turns", "1"], "error_max_turns"),
            (1, &[], "error_max_turns"),
            (5, &["--max-turns", "6"], "success"),
        ] {
            let place = Place::with_turns(&[call("Glob", &json!({ "pattern": "*" })), text("Finished.")]);
            let agents = json!({"a": {"description": "d", "prompt": "p", "maxTurns": own}});
            let ran = run(&place, way, Some(&agents), &[&["--agent", "a"], args].concat());
            let result = ran.lines().pop().unwrap();
            assert_eq!(result["subtype"], subtype, "{way:?} {own} {args:?} {ran:#?}");
        }
    }
}

#[test]
fn agents_are_listed_with_their_sources() {
    let place = Place::new();
    write(&place.path("home/.claude/agents/one.md"), &agent("one", "tools: Read\nisolation: worktree\n"));
    write(&place.path("work/.claude/agents/two.md"), &agent("two", ""));
    let inline = json!({"three": {"description": "Third", "prompt": "p"}}).to_string();
    let ran = place.run(&["agents", "list", "--json", "--agents", &inline]).with_code(0);
    let names: Vec<Value> = ran.lines().iter().map(|line| json!([line["name"], line["source"]])).collect();
    assert_eq!(names, [json!(["one", "user"]), json!(["three", "flags"])]);
    assert_eq!(ran.lines()[0]["withoutEffect"], json!(["isolation"]));
    assert!(ran.stderr.contains("without trust in the project: two"), "{}", ran.stderr);
    let ran = place.run(&["agents", "list", "--trust"]).with_code(0);
    let rows: Vec<Vec<&str>> = ran.stdout.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[1][..3], ["two", "project", "Reviews"], "{ran:#?}");
    assert!(rows[1][3].ends_with("work/.claude/agents/two.md"), "{ran:#?}");
}

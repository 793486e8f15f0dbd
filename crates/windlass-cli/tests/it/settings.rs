//! Settings files in real directories: active and inactive values, and the file that decides.

use crate::place::{Place, Ran, call, text, write};
use serde_json::{Value, json};

/// A place whose model runs one command and then reports the result.
fn place(command: &str) -> Place {
    Place::with_turns(&[call("Bash", &json!({ "command": command })), text("Finished.")])
}

/// The ways a session is driven from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Print,
    Host,
}

const WAYS: [Way; 2] = [Way::Print, Way::Host];

/// Runs one prompt. Returns `true` if its call was carried out.
fn run(place: &Place, way: Way, args: &[&str]) -> (bool, Ran) {
    let ran = match way {
        Way::Print => place.run(&[&["-p", "Go.", "--output-format", "stream-json"], args].concat()),
        Way::Host => {
            let flags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
            let prompt = json!({"type": "user", "message": {"role": "user", "content": "Go."}});
            place.run_with(&[&flags[..], args].concat(), &format!("{prompt}\n"))
        }
    };
    let denied = |line: &Value| line["type"] == "result" && line["permission_denials"] == json!([]);
    (ran.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).any(|line: Value| denied(&line)), ran)
}

fn settings(place: &Place, file: &str, settings: &Value) {
    write(&place.path(file), &settings.to_string());
}

fn allow(rules: &[&str]) -> Value {
    json!({ "permissions": { "allow": rules } })
}

#[test]
fn the_user_counts_and_an_untrusted_project_does_not() {
    for way in WAYS {
        for (file, args, ran, note) in [
            ("home/.windlass/settings.json", &[][..], true, ""),
            ("home/.claude/settings.json", &[], true, ""),
            ("home/.claude/settings.json", &["--setting-sources", "project,local"], false, ""),
            ("work/.claude/settings.json", &[], false, "without trust"),
            ("work/.windlass/settings.json", &[], false, "without trust"),
            ("work/.claude/settings.local.json", &[], false, "without trust"),
            ("work/.claude/settings.json", &["--trust"], true, ""),
            ("work/.claude/settings.local.json", &["--trust"], true, ""),
            ("work/.claude/settings.json", &["--setting-sources", "project"], true, ""),
            ("work/.claude/settings.json", &["--setting-sources=user,local"], false, ""),
            ("work/.claude/settings.json", &["--setting-sources="], false, ""),
            ("work/.windlass/settings.local.json", &["--setting-sources", "local"], true, ""),
            ("file.json", &["--settings", "../file.json"], true, ""),
            ("file.json", &["--settings", "../file.json", "--setting-sources="], true, ""),
        ] {
            let place = place("touch made");
            settings(&place, file, &allow(&["Bash(touch *)"]));
            let (allowed, output) = run(&place, way, args);
            assert_eq!(allowed, ran, "{way:?} {file} {args:?} {output:#?}");
            assert_eq!(place.work().join("made").exists(), ran);
            assert_eq!(output.stderr.contains("without trust"), !note.is_empty(), "{way:?} {file} {output:#?}");
            if !note.is_empty() {
                assert!(output.stderr.contains("Bash(touch *)") && output.stderr.contains("settings"), "{output:#?}");
            }
        }
    }
}

#[test]
fn records_of_trust_count() {
    for way in WAYS {
        for record in [".claude.json", ".windlass/windlass-trust.json"] {
            let place = place("touch made");
            settings(&place, "work/.claude/settings.json", &allow(&["Bash(touch *)"]));
            let cwd = place.work().canonicalize().unwrap();
            let known = json!({"projects": {cwd.to_str().unwrap(): {"hasTrustDialogAccepted": true, "trusted": true}}});
            settings(&place, &format!("home/{record}"), &known);
            assert!(run(&place, way, &[]).0, "{way:?} {record}");
            // A record that is broken grants nothing, and nothing else breaks.
            write(&place.home().join(record), "{");
            let (allowed, ran) = run(&place, way, &[]);
            assert!(!allowed && ran.stderr.contains("record of trust"), "{ran:#?}");
        }
    }
}

#[test]
fn a_deny_of_any_file_counts() {
    let files = [
        "home/.windlass/settings.json",
        "home/.claude/settings.json",
        "work/.claude/settings.json",
        "work/.windlass/settings.json",
        "work/.claude/settings.local.json",
        "work/.windlass/settings.local.json",
    ];
    for way in WAYS {
        for file in files {
            let place = place("touch made");
            settings(&place, file, &json!({"permissions": {"deny": ["Bash(touch *)"]}}));
            let (allowed, ran) = run(&place, way, &["--allowedTools", "Bash"]);
            assert!(!allowed && !place.work().join("made").exists(), "{way:?} {file} {ran:#?}");
        }
    }
}

#[test]
fn the_repository_around_the_start_counts() {
    for (git, counts) in [(true, true), (false, false)] {
        let place = place("touch made");
        let sub = place.work().join("a/b");
        std::fs::create_dir_all(&sub).unwrap();
        if git {
            std::fs::create_dir(place.work().join(".git")).unwrap();
        }
        settings(&place, "work/.claude/settings.json", &json!({"permissions": {"deny": ["Bash(touch *)"]}}));
        let mut command = place.command(&["-p", "Go.", "--allowedTools", "Bash"]);
        let ran = command.current_dir(&sub).output().unwrap();
        assert_eq!(sub.join("made").exists(), !counts, "{ran:?}");
    }
}

#[test]
fn a_broken_file_stops_everything_and_is_named() {
    let broken = ["{", "[]", r#"{"permissions":{"deny":"Bash"}}"#, r#"{"permissions":{"deny":["Bash("]}}"#];
    for way in WAYS {
        for file in ["home/.claude/settings.json", "work/.claude/settings.json", "work/.windlass/settings.local.json"] {
            for text in broken {
                let place = place("touch made");
                write(&place.path(file), text);
                let (allowed, ran) = run(&place, way, &["--allowedTools", "Bash"]);
                let name = file.rsplit_once('/').unwrap().1;
                assert!(!allowed && !place.work().join("made").exists(), "{ran:#?}");
                assert!(ran.code == 2 && ran.stderr.contains(name), "{way:?} {file} {text} {ran:#?}");
                // Settings that are not read have no effect.
                assert!(run(&place, way, &["--allowedTools", "Bash", "--setting-sources", ""]).0);
            }
        }
        let (_, ran) = run(&place("true"), way, &["--setting-sources", "users"]);
        assert!(ran.code == 2 && ran.stderr.contains("users"), "{ran:#?}");
    }
}

#[test]
fn variables_reach_programs_and_keys_do_not() {
    let content = json!({"env": {"GREETING": "hello", "ANTHROPIC_API_KEY": "secret"}});
    for way in WAYS {
        for (file, args, seen) in [
            ("home/.claude/settings.json", &[][..], true),
            ("work/.claude/settings.json", &[], false),
            ("work/.claude/settings.json", &["--trust"], true),
            ("x.json", &["--settings", "../x.json"], true),
        ] {
            let place = place("echo $GREETING/$ANTHROPIC_API_KEY/ > made");
            settings(&place, file, &content);
            let (_, ran) = run(&place, way, &[&["--allowedTools", "Bash,Edit(**)"], args].concat());
            let made = std::fs::read_to_string(place.work().join("made")).unwrap_or_default();
            assert_eq!(made, if seen { "hello//\n" } else { "//\n" }, "{way:?} {file} {ran:#?}");
        }
    }
}

#[test]
fn patterns_start_at_the_directory_of_their_file() {
    for (file, base) in [
        ("work/.claude/settings.json", "work"),
        ("work/.windlass/settings.local.json", "work"),
        ("home/.claude/settings.json", "home/.claude"),
        ("home/.windlass/settings.json", "home/.windlass"),
    ] {
        let place = Place::new();
        settings(&place, file, &json!({"permissions": {"deny": ["Read(/secret)"]}}));
        for (directory, denied) in [("work", base == "work"), (base, true), ("home", false)] {
            let secret = place.path(directory).canonicalize().unwrap().join("secret");
            let question = json!({"tool": "Read", "input": {"file_path": secret}, "settings": true});
            let verdict = &place.run_with(&["permissions", "explain"], &question.to_string()).lines()[0];
            assert_eq!(verdict["behavior"] == "deny", denied, "{file} {directory} {verdict}");
        }
    }
}

#[test]
fn explain_gives_the_verdict_of_a_session() {
    let place = Place::new();
    settings(&place, "work/.claude/settings.json", &allow(&["Bash(make *)"]));
    settings(
        &place,
        "home/.claude/settings.json",
        &json!({"permissions": {"defaultMode": "dontAsk", "ask": ["Bash(ls *)"]}}),
    );
    let ask = |more: &Value| {
        let mut question = json!({"tool": "Bash", "input": {"command": "make all"}});
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        place.run_with(&["permissions", "explain"], &question.to_string()).lines()[0].clone()
    };
    assert_eq!(ask(&json!({}))["behavior"], "ask");
    let untrusted = ask(&json!({"settings": true}));
    assert_eq!(untrusted["behavior"], "deny", "{untrusted}");
    assert!(untrusted["warnings"][0].as_str().unwrap().contains("Bash(make *)"));
    let trusted = ask(&json!({"settings": true, "trust": true}));
    assert_eq!((&trusted["behavior"], &trusted["rule"]["source"]), (&json!("allow"), &json!("projectSettings")));
    assert_eq!(ask(&json!({"settings": true, "mode": "default"}))["behavior"], "ask");
    write(&place.work().join(".claude/settings.json"), "{");
    assert!(ask(&json!({"settings": true}))["error"].as_str().unwrap().contains("settings.json"));
}

#[test]
fn a_prompt_may_name_a_custom_command() {
    for way in WAYS {
        for (prompt, expected) in [
            ("/fix:build the tests", "Mend the tests, please."),
            ("/nothing here", "/nothing here"),
            ("/etc/passwd", "/etc/passwd"),
        ] {
            let place = Place::with_turns(&[text("Done.")]);
            write(
                &place.work().join(".claude/commands/fix/build.md"),
                "---\ndescription: x\n---\nMend $ARGUMENTS, please.",
            );
            match way {
                Way::Print => place.run(&["-p", prompt]).with_code(0),
                Way::Host => {
                    let flags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
                    let prompt = json!({"type": "user", "message": {"role": "user", "content": prompt}});
                    place.run_with(&flags, &format!("{prompt}\n")).with_code(0)
                }
            };
            let log = std::fs::read_to_string(&place.logs()[0]).unwrap();
            assert!(log.contains(&format!("{expected:?}")), "{way:?} {prompt} {log}");
        }
    }
}

#[test]
fn the_records_of_trust_are_not_written_without_a_question() {
    for way in WAYS {
        let place = Place::new();
        let config = place.path("config");
        std::fs::create_dir(&config).unwrap();
        let record = config.canonicalize().unwrap().join("windlass-trust.json");
        place.script(&[call("Write", &json!({"file_path": record, "content": "{}"})), text("Finished.")]);
        let flags =
            ["--output-format", "stream-json", "--verbose", "--no-session-persistence", "--add-dir", "../config"];
        let flags = [&flags[..], &["--permission-mode", "acceptEdits", "--allowedTools", "Write,Edit(//**)"]].concat();
        let mut command = match way {
            Way::Print => place.command(&[&["-p", "Go."], &flags[..]].concat()),
            Way::Host => place.command(&[&["--input-format", "stream-json"], &flags[..]].concat()),
        };
        let child = command.env("CLAUDE_CONFIG_DIR", &config).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let prompt = json!({"type": "user", "message": {"role": "user", "content": "Go."}});
        let ran = crate::place::finish(child, &if way == Way::Host { format!("{prompt}\n") } else { String::new() });
        assert!(!record.exists() && ran.stdout.contains("permission_denials"), "{way:?} {ran:#?}");
    }
}

#[test]
fn what_is_in_force_is_shown_with_its_origin() {
    let place = Place::new();
    settings(
        &place,
        "home/.claude/settings.json",
        &json!({"model": "haiku", "env": {"A": "b", "ANTHROPIC_API_KEY": "secret"}}),
    );
    settings(
        &place,
        "work/.claude/settings.json",
        &json!({"permissions": {"allow": ["Bash"], "deny": ["Read(.env)"]}}),
    );
    let shown = |args: &[&str]| {
        let ran = place.run(&[&["settings"], args].concat()).with_code(0);
        assert!(!ran.stdout.contains("secret"));
        serde_json::from_str::<Value>(&ran.stdout).unwrap()
    };
    let untrusted = shown(&[]);
    assert_eq!(untrusted["effective"]["model"], "haiku");
    assert_eq!(untrusted["effective"]["permissions"]["allow"], json!([]));
    assert_eq!(untrusted["effective"]["permissions"]["deny"], json!(["Read(.env)"]));
    let origin = untrusted["provenance"]["permissions"]["deny"]["Read(.env)"].as_str().unwrap();
    assert!(origin.ends_with("work/.claude/settings.json"), "{origin}");
    assert_eq!(untrusted["effective"]["env"], json!({"A": "b", "ANTHROPIC_API_KEY": "***"}));
    assert_eq!(untrusted["sources"].as_array().unwrap().len(), 2);
    assert!(untrusted["notes"][0].as_str().unwrap().contains("without trust"));
    assert_eq!(shown(&["--trust"])["effective"]["permissions"]["allow"], json!(["Bash"]));
    assert_eq!(shown(&["--setting-sources", ""])["sources"], json!([]));
    // Trust that is recorded counts until it is taken back.
    place.run(&["trust"]).with_code(0);
    assert_eq!(shown(&[])["effective"]["permissions"]["allow"], json!(["Bash"]));
    place.run(&["trust", "--remove"]).with_code(0);
    assert_eq!(shown(&[]), untrusted);
}

#[test]
fn what_is_added_after_trust_is_named_with_the_command_that_confirms_it() {
    for way in WAYS {
        let place = place("touch made");
        settings(&place, "work/.claude/settings.json", &allow(&["Bash(true)"]));
        place.run(&["trust"]).with_code(0);
        settings(&place, "work/.claude/settings.json", &allow(&["Bash(true)", "Bash(touch *)"]));
        write(&place.work().join(".mcp.json"), r#"{"mcpServers":{"evil":{"command":"touch","args":["made"]}}}"#);
        let (allowed, ran) = run(&place, way, &[]);
        assert!(!allowed && !place.work().join("made").exists(), "{way:?} {ran:#?}");
        assert!(ran.stderr.contains("Bash(touch *)") && ran.stderr.contains("`windlass trust`"), "{way:?} {ran:#?}");
        // `--show` lists the items before trust is confirmed.
        let shown = place.run(&["trust", "--show"]).with_code(0).stdout;
        let rows: Vec<Vec<&str>> = shown.lines().map(|row| row.split_whitespace().take(3).collect()).collect();
        assert_eq!(rows[1], ["trusted", "rule", "Bash(true)"], "{shown}");
        assert_eq!(rows[0], ["new", "rule", "Bash(touch"], "{shown}");
        assert_eq!(rows[2], ["new", "server", "evil"], "{shown}");
        assert!(shown.contains(r#"{"args":["made"],"command":"touch"}"#), "{shown}");
        assert!(!run(&place, way, &[]).0, "showing it confirms nothing");
        std::fs::remove_file(place.work().join(".mcp.json")).unwrap();
        place.run(&["trust"]).with_code(0);
        assert!(run(&place, way, &[]).0, "{way:?}");
    }
}

#[test]
fn explain_records_no_trust() {
    let place = Place::new();
    settings(&place, "work/.claude/settings.json", &allow(&["Bash(make *)"]));
    let cwd = place.work().canonicalize().unwrap();
    settings(
        &place,
        "home/.claude.json",
        &json!({"projects": {cwd.to_str().unwrap(): {"hasTrustDialogAccepted": true}}}),
    );
    let question = json!({"tool": "Bash", "input": {"command": "make all"}, "settings": true});
    let answer = &place.run_with(&["permissions", "explain"], &question.to_string()).lines()[0];
    assert_eq!(answer["behavior"], "ask", "{answer}");
    assert!(!place.home().join(".windlass").exists(), "nothing is written");
}

#[test]
fn settings_hide_nothing() {
    let place = Place::new();
    let odd = "a\u{202e}b\u{200b}\u{e0041}\u{9b}31m";
    settings(
        &place,
        "home/.claude/settings.json",
        &json!({"model": odd, "env": {odd: odd}, "permissions": {"deny": [format!("Bash({odd})")], "allow": ["Bash(\u{202e}"]}}),
    );
    settings(
        &place,
        "work/.claude/settings.json",
        &json!({"permissions": {"allow": [format!("Bash({odd})")]}, odd: 1}),
    );
    let agent = format!("---\nname: a\ndescription: {odd}\n---\nDo.");
    write(&place.path("home/.claude/agents/a.md"), &agent);
    let question = json!({"tool": odd, "input": {"command": odd}, "settings": true, "deny": [odd], "id": odd});
    let outputs = [
        place.run(&["settings"]).with_code(0),
        place.run(&["trust", "--show"]).with_code(0),
        place.run(&["agents", "list"]).with_code(0),
        place.run(&["agents", "list", "--json"]).with_code(0),
        place.run_with(&["permissions", "explain"], &format!("{question}\n{{{odd}")),
        place.run(&["-p", "x", "--agent", odd]),
        place.run(&["-p", "x", "--allowedTools", &format!("Bash({odd}")]),
    ];
    for ran in &outputs {
        for text in [&ran.stdout, &ran.stderr] {
            let raw: Vec<char> = text.chars().filter(|c| odd.contains(*c) && !c.is_ascii()).collect();
            assert!(raw.is_empty(), "{raw:?} {ran:#?}");
        }
    }
    // The meaning is the same.
    let shown: Value = serde_json::from_str(&outputs[0].stdout).unwrap();
    assert_eq!(shown["effective"]["model"], odd);
}

/// A hook that cannot be used.
fn hooks(event: &str) -> Value {
    json!({"hooks": {event: [{"matcher": "Bash", "hooks": [{"type": "comand", "command": "guard.sh"}]}]}})
}

#[test]
fn a_hook_that_decides_and_cannot_run_stops_the_start() {
    for way in WAYS {
        for (file, event, args, starts) in [
            ("home/.claude/settings.json", "PreToolUse", &[][..], false),
            ("home/.windlass/settings.json", "PermissionRequest", &[], false),
            ("home/.claude/settings.json", "UserPromptSubmit", &[], false),
            ("home/.claude/settings.json", "PostToolUse", &[], true),
            ("home/.claude/settings.json", "PreToolUse", &["--setting-sources", "project,local"], true),
            ("home/.claude/settings.json", "PreToolUse", &["--settings", r#"{"disableAllHooks":true}"#], true),
            ("hook.json", "PreToolUse", &["--settings", "../hook.json"], false),
            // The project is not trusted, so no hook of it runs, and none stops a session.
            ("work/.claude/settings.json", "PreToolUse", &[], true),
            ("work/.claude/settings.json", "PreToolUse", &["--trust"], false),
        ] {
            let place = place("touch made");
            settings(&place, file, &hooks(event));
            let (allowed, ran) = run(&place, way, &[&["--allowedTools", "Bash(touch *)"], args].concat());
            assert_eq!(allowed, starts, "{way:?} {file} {event} {args:?} {ran:#?}");
            if !starts {
                let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
                for part in [name, event, "guard.sh", "disableAllHooks", "onFailure"] {
                    assert!(ran.stderr.contains(part), "{part} is missing in {ran:#?}");
                }
            }
        }
    }
    let place = place("true");
    settings(&place, "home/.claude/settings.json", &hooks("PreToolUse"));
    let shown: Value = serde_json::from_str(&place.run(&["settings"]).with_code(0).stdout).unwrap();
    assert!(shown["notes"].to_string().contains("no session starts here"), "{shown}");
}

#[test]
fn a_hook_of_settings_decides_where_its_file_counts() {
    let hooks = |line: &str| json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}]}});
    for way in WAYS {
        for (file, args, runs) in [
            ("home/.claude/settings.json", &[][..], true),
            ("hook.json", &["--settings", "../hook.json"], true),
            ("work/.claude/settings.json", &["--trust"], true),
            ("work/.claude/settings.json", &[], false),
            ("home/.claude/settings.json", &["--settings", r#"{"disableAllHooks":true}"#], false),
            ("home/.claude/settings.json", &["--setting-sources", "project,local"], false),
        ] {
            for (line, text) in
                [("echo not here >&2; exit 2", "not here"), ("exit 1", "failed"), ("no-such-program-here", "failed")]
            {
                let place = place("touch made");
                settings(&place, file, &hooks(line));
                let (allowed, ran) = run(&place, way, &[&["--allowedTools", "Bash(touch *)"], args].concat());
                let made = place.work().join("made").exists();
                assert_eq!((allowed, made), (!runs, !runs), "{way:?} {file} {args:?} {line} {ran:#?}");
                assert_eq!(ran.stdout.contains(text), runs, "{way:?} {file} {args:?} {line} {ran:#?}");
            }
        }
    }
}

#[test]
fn a_repository_that_forbids_bypass_stops_no_run() {
    let forbids = json!({"permissions": {"disableBypassPermissionsMode": "disable"}});
    for way in WAYS {
        for args in [
            &["--permission-mode", "bypassPermissions"][..],
            &["--dangerously-skip-permissions"],
            &["--allow-dangerously-skip-permissions", "--permission-mode=bypassPermissions"],
        ] {
            let place = place("touch made");
            let (allowed, ran) = run(&place, way, args);
            assert!(allowed && place.work().join("made").exists(), "{way:?} {args:?} {ran:#?}");
            assert_eq!(ran.stderr.contains("WARNING"), way == Way::Print, "{ran:#?}");
            std::fs::remove_file(place.work().join("made")).unwrap();
            settings(&place, "work/.claude/settings.json", &forbids);
            let (allowed, ran) = run(&place, way, args);
            assert!(!allowed && !place.work().join("made").exists(), "{way:?} {args:?} {ran:#?}");
            assert!(ran.stdout.contains("\"permissionMode\":\"default\""), "it continues: {ran:#?}");
            assert!(
                ran.stderr.contains("settings.json forbids the mode") && !ran.stderr.contains("WARNING"),
                "{ran:#?}"
            );
        }
    }
}

#[test]
fn rules_that_are_empty_or_never_match_are_reported_with_their_file() {
    for way in WAYS {
        for (rule, fix) in
            [("Bash(:*)", "write `Bash`"), ("Read()", "write `Read`"), ("Bash(FOO=1 x:*)", "write it without")]
        {
            for (list, starts) in [("deny", false), ("ask", false), ("allow", true)] {
                let place = place("ls");
                settings(&place, "home/.claude/settings.json", &json!({"permissions": {list: [rule]}}));
                let (went, ran) = run(&place, way, &[]);
                assert_eq!(went, starts, "{way:?} {rule} {ran:#?}");
                for part in ["settings.json", rule, fix] {
                    assert!(ran.stderr.contains(part), "{part} is missing in {ran:#?}");
                }
            }
        }
    }
    let ran = place("ls").run(&["-p", "Go.", "--disallowedTools", "Bash(:*)"]).with_code(2);
    assert!(ran.stderr.contains("Bash(:*)"), "{ran:#?}");
}

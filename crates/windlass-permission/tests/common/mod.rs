//! A driver over an imagined file system: it knows links and nothing else.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};
use windlass_permission::{CallFacts, CommandFacts, PathFact, Policy, PolicyConfig, command_paths};
use windlass_shell::analyse;
use windlass_types::{Access, Behavior, CallDigest, Decision, JsonText, PermissionMode, PermissionUpdate, RuleSource};

pub(crate) const HOME: &str = "/home/u";

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) policy: Policy,
    pub(crate) cwd: PathBuf,
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    pub(crate) inert_git: bool,
}

/// Rules by behaviour, as text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules<'a> {
    pub(crate) allow: &'a [&'a str],
    pub(crate) ask: &'a [&'a str],
    pub(crate) deny: &'a [&'a str],
}

pub(crate) fn allow<'a>(allow: &'a [&'a str]) -> Rules<'a> {
    Rules { allow, ..Rules::default() }
}

pub(crate) fn deny<'a>(deny: &'a [&'a str]) -> Rules<'a> {
    Rules { deny, ..Rules::default() }
}

impl World {
    pub(crate) fn new(rules: Rules<'_>) -> Self {
        Self::in_mode(PermissionMode::Default, rules)
    }

    pub(crate) fn in_mode(mode: PermissionMode, rules: Rules<'_>) -> Self {
        let config = PolicyConfig::new("/w").with_home(Some(HOME.into())).with_mode(mode).with_bypass_allowed(true);
        let mut policy = Policy::new(config);
        for (behavior, texts) in
            [(Behavior::Allow, rules.allow), (Behavior::Ask, rules.ask), (Behavior::Deny, rules.deny)]
        {
            policy.add_rules(RuleSource::FlagSettings, behavior, texts, Path::new("/w")).unwrap();
        }
        Self { policy, cwd: "/w".into(), links: Vec::new(), inert_git: true }
    }

    pub(crate) fn link(mut self, from: &str, to: &str) -> Self {
        self.links.push((from.into(), to.into()));
        self
    }

    pub(crate) fn fact(&self, path: &Path, write: bool) -> PathFact {
        let requested = lexical(&self.cwd.join(path));
        let (resolved, via) = self.resolve(&requested);
        PathFact::new(requested, resolved, write).with_via(via)
    }

    fn resolve(&self, path: &Path) -> (PathBuf, Vec<PathBuf>) {
        let mut path = path.to_path_buf();
        let mut via = Vec::new();
        for _ in 0..10 {
            let Some((from, to)) = self.links.iter().find(|(from, _)| path.starts_with(from)) else { break };
            path = to.join(path.strip_prefix(from).unwrap()).components().collect();
            via.push(path.clone());
        }
        via.pop();
        (path, via)
    }

    pub(crate) fn facts(&self, tool: &str, input: &Value) -> CallFacts {
        let text = |field: &str| input.get(field).and_then(Value::as_str);
        let digest = CallDigest::new(format!("{tool} {input}"));
        let json = JsonText::of(input).unwrap();
        let facts = |access: Access| CallFacts::new(tool, json.clone(), access, digest.clone(), self.cwd.clone());
        match tool {
            "Bash" => {
                let analysis = analyse(text("command").unwrap());
                let paths = command_paths(&analysis, &self.cwd).iter().map(|p| self.fact(&p.path, p.write)).collect();
                let background = input.get("run_in_background") == Some(&json!(true));
                let command =
                    CommandFacts::new(analysis, paths).with_background(background).with_inert_git(self.inert_git);
                facts(Access::Exec).with_command(command)
            }
            "Read" => {
                let path = text("file_path").unwrap();
                facts(Access::reads(path)).with_path(self.fact(Path::new(path), false))
            }
            "Grep" | "Glob" => {
                let path = text("path").unwrap_or(".");
                facts(Access::reads(path)).with_path(self.fact(Path::new(path), false))
            }
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
                let path = text("file_path").unwrap();
                facts(Access::writes(path)).with_path(self.fact(Path::new(path), true))
            }
            "WebFetch" | "WebSearch" => facts(Access::Network),
            "TodoWrite" | "Skill" | "AskUserQuestion" | "ExitPlanMode" => facts(Access::NOTHING),
            _ => facts(Access::Unknown),
        }
    }

    pub(crate) fn decide(&self, tool: &str, input: &Value) -> Decision {
        self.policy.decide(&self.facts(tool, input), None, None)
    }

    /// `Tool argument`, with the argument in the field that matters.
    pub(crate) fn call(&self, call: &str) -> CallFacts {
        let (tool, argument) = call.split_once(' ').unwrap_or((call, ""));
        let input = match tool {
            "Bash" => json!({ "command": argument }),
            "Write" => json!({ "file_path": argument, "content": "x" }),
            "Read" | "Edit" | "MultiEdit" | "NotebookEdit" => json!({ "file_path": argument }),
            "Grep" | "Glob" => json!({ "pattern": "x", "path": argument }),
            "WebFetch" => json!({ "url": argument, "prompt": "x" }),
            "Agent" | "Task" => json!({ "subagent_type": argument, "prompt": "x", "model": "opus" }),
            "Skill" => json!({ "skill": argument }),
            _ => json!({ "x": argument }),
        };
        self.facts(tool, &input)
    }

    pub(crate) fn verdict(&self, call: &str) -> Behavior {
        self.decision(call).behavior
    }

    pub(crate) fn decision(&self, call: &str) -> Decision {
        self.policy.decide(&self.call(call), None, None)
    }

    #[track_caller]
    pub(crate) fn check(&self, expected: Behavior, calls: &[&str]) {
        for call in calls {
            let decision = self.decision(call);
            assert_eq!(decision.behavior, expected, "{call}: {decision:#?}");
        }
    }
}

pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Suggestions in a short form.
pub(crate) fn short(updates: &[PermissionUpdate]) -> Vec<String> {
    updates
        .iter()
        .map(|update| match update {
            PermissionUpdate::AddRules { rules, destination, .. } => {
                let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
                format!("{} {}", rules.join(" "), json!(destination).as_str().unwrap())
            }
            PermissionUpdate::SetMode { mode, .. } => mode.to_string(),
            PermissionUpdate::AddDirectories { directories, .. } => format!("+{}", directories[0].display()),
            other => panic!("{other:?}"),
        })
        .collect()
}

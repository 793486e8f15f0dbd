//! A driver over an imagined file system: it knows links and nothing else.

use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};
use windlass_permission::{
    CallFacts, CommandFacts, CommandPath, PathFact, PatternFact, Policy, PolicyConfig, Standing, TreeFact,
    command_paths, version_control_places,
};
use windlass_shell::analyse;
use windlass_types::{Access, Behavior, CallDigest, Decision, JsonText, PermissionMode, PermissionUpdate, RuleSource};

pub(crate) const HOME: &str = "/home/u";

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) policy: Policy,
    pub(crate) cwd: PathBuf,
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    pub(crate) inert_git: bool,
    /// Directories below the workspace that are repositories of their own.
    pub(crate) repositories: Vec<PathBuf>,
    /// Paths that are known to be files.
    pub(crate) files: Vec<PathBuf>,
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
        Self {
            policy,
            cwd: "/w".into(),
            links: Vec::new(),
            inert_git: true,
            repositories: Vec::new(),
            files: Vec::new(),
        }
    }

    pub(crate) fn link(mut self, from: &str, to: &str) -> Self {
        self.links.push((from.into(), to.into()));
        self
    }

    /// Says that these paths are files; of all others it is not known.
    pub(crate) fn files(mut self, files: &[&str]) -> Self {
        self.files.extend(files.iter().map(PathBuf::from));
        self
    }

    fn standing(&self, resolved: &Path) -> Standing {
        if self.files.iter().any(|file| file == resolved) { Standing::Leaf } else { Standing::Unknown }
    }

    pub(crate) fn fact(&self, path: &Path, write: bool) -> PathFact {
        let requested = lexical(&self.cwd.join(path));
        let (resolved, via) = self.resolve(&requested);
        let end = self.standing(&resolved);
        PathFact::new(requested, resolved, write).with_via(via).with_end(end)
    }

    /// Returns a path of a command, which may have `..` in it.
    fn followed(&self, path: &Path, write: bool) -> PathFact {
        let (resolved, via) = self.resolve(path);
        let end = self.standing(&resolved);
        PathFact::new(path, resolved, write).with_via(via).with_end(end)
    }

    /// Every name that is no link is a directory.
    fn resolve(&self, path: &Path) -> (PathBuf, Vec<PathBuf>) {
        let mut todo: Vec<PathBuf> = path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect();
        let mut at = PathBuf::new();
        let mut via = Vec::new();
        while let Some(part) = todo.pop().filter(|_| via.len() < 10) {
            if part == Path::new("..") {
                at.pop();
                continue;
            }
            at.push(&part);
            if let Some((_, to)) = self.links.iter().find(|(from, _)| *from == at) {
                let rest: PathBuf = todo.iter().rev().collect();
                via.push(to.join(rest).components().collect());
                todo.extend(to.components().rev().map(|part| PathBuf::from(part.as_os_str())));
                at = PathBuf::new();
            }
        }
        via.retain(|hop| *hop != at);
        (at, via)
    }

    /// Returns the links that a pattern may match: an entry that is no link stays where it is.
    fn listed(&self, path: &CommandPath) -> Option<PatternFact> {
        let pattern = path.pattern.as_ref()?;
        let mut ways = vec![path.path.clone()];
        for name in pattern.names() {
            let mut next = Vec::new();
            for way in ways {
                let (directory, _) = self.resolve(&way);
                match name.literal() {
                    Some(name) => next.push(way.join(name)),
                    None => {
                        let inside = self.links.iter().filter_map(|(from, _)| from.strip_prefix(&directory).ok());
                        let mut names: Vec<&std::ffi::OsStr> = inside.filter_map(|below| below.iter().next()).collect();
                        names.dedup();
                        next.extend(names.into_iter().filter(|found| name.may_match(found)).map(|name| way.join(name)));
                    }
                }
            }
            ways = next;
        }
        let matches = ways.iter().map(|way| self.followed(way, path.write)).collect();
        Some(PatternFact::new(&path.path, pattern.text(), matches, true))
    }

    /// Returns the links below a path, or below each match of its pattern.
    fn searched(&self, path: &CommandPath) -> Vec<TreeFact> {
        match self.listed(path) {
            Some(listed) => listed.matches.iter().map(|found| self.below(path, &found.requested)).collect(),
            None => vec![self.below(path, &path.path)],
        }
    }

    fn below(&self, command: &CommandPath, path: &Path) -> TreeFact {
        let (directory, _) = self.resolve(path);
        let below = |link: &&PathBuf| link.starts_with(&directory);
        let links: Vec<&PathBuf> = self.links.iter().map(|(from, _)| from).filter(below).collect();
        let own = self.links.iter().find(|(from, _)| from == path).map(|(from, _)| from);
        let entries: Vec<PathBuf> = links
            .iter()
            .copied()
            .chain(&self.files)
            .filter_map(|at| Some(at.strip_prefix(&directory).ok()?.to_path_buf()))
            .collect();
        let followed = links.iter().copied().chain(own).map(|link| self.followed(link, false)).collect();
        let places = command.copied_to(path);
        let copied = entries.iter().flat_map(|below| places.iter().map(move |place| place.join(below)));
        let there = copied.filter(|place| self.links.iter().any(|(from, _)| from == place));
        let overwritten = there.map(|place| self.followed(&place, true)).collect();
        TreeFact::new(path, entries, followed, true).with_overwritten(overwritten)
    }

    pub(crate) fn facts(&self, tool: &str, input: &Value) -> CallFacts {
        let text = |field: &str| input.get(field).and_then(Value::as_str);
        let digest = CallDigest::new(format!("{tool} {input}"));
        let json = JsonText::of(input).unwrap();
        let facts = |access: Access| CallFacts::new(tool, json.clone(), access, digest.clone(), self.cwd.clone());
        match tool {
            "Bash" => {
                let analysis = analyse(text("command").unwrap());
                let named = command_paths(&analysis, &self.cwd, self.policy.home());
                let paths = named.iter().map(|path| self.followed(&path.path, path.write)).collect();
                let places = version_control_places(&analysis, &self.cwd);
                let foreign = |place: &PathBuf| {
                    let (place, _) = self.resolve(place);
                    self.repositories.iter().any(|repository| place.starts_with(repository))
                };
                let background = input.get("run_in_background") == Some(&json!(true));
                let command = CommandFacts::new(analysis, paths)
                    .with_patterns(named.iter().filter_map(|path| self.listed(path)).collect())
                    .with_trees(
                        named
                            .iter()
                            .filter(|path| path.tree || path.searched)
                            .flat_map(|path| self.searched(path))
                            .collect(),
                    )
                    .with_background(background)
                    .with_inert_git(self.inert_git)
                    .with_own_repository(!places.iter().any(foreign));
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
            "TaskCreate" => facts(Access::Session),
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

//! Checks that lower a verdict: deny and ask rules, the safety floor.

use crate::call::Call;
use crate::command::{Part, has_words};
use crate::error::shown;
use crate::found::{OPTION, TOO_MANY};
use crate::glob::Reach;
use crate::made::MADE;
use crate::matcher::{Directory, PathRule, Rule, Scope, Test};
use crate::models::ModelAliases;
use crate::network::{Host, host};
use crate::own_command::writing_command;
use crate::touch::{NO_PARENT, Touch};
use crate::workspace::Workspace;
use crate::{CommandFacts, PathFact, names, programs, protected};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use windlass_shell::{
    BashPattern, DenyMatch, FoundCommand, OutputKind, RedirectKind, Suspicion, Understood, catastrophic, suspicious,
};
use windlass_types::names::{SameModel, skill};
use windlass_types::{Behavior, Decision, DecisionReason};

/// Returns the match of a deny or ask rule with a call; *possible* if that cannot be decided.
pub(crate) fn applies(rule: &Rule, call: &Call<'_>, (workspace, models): (&[Directory], &ModelAliases)) -> DenyMatch {
    if let Test::Path(path) = &rule.test {
        let judged = Judged { rule, path, call, workspace };
        return call.all_touches().map(|touch| judged.touch(touch)).max().unwrap_or(DenyMatch::No);
    }
    if !rule.lowers(call.tool) {
        return DenyMatch::No;
    }
    match &rule.test {
        Test::Whole => DenyMatch::Yes,
        Test::Command(pattern) => command_applies(pattern, call),
        Test::Domain(domain) => match call.text("url").map(host) {
            Some(Host::Known(host)) if domain.matches(&host) => DenyMatch::Yes,
            Some(Host::Known(_)) => DenyMatch::No,
            _ => DenyMatch::Possible,
        },
        Test::Agent(agent) => {
            yes_if(call.text("subagent_type").unwrap_or("general-purpose").eq_ignore_ascii_case(agent))
        }
        Test::Model(wanted) => match models.compare(wanted, call.text("model").unwrap_or_default()) {
            SameModel::Yes => DenyMatch::Yes,
            SameModel::Possible => DenyMatch::Possible,
            SameModel::No => DenyMatch::No,
        },
        Test::Skill { name, with_arguments } => yes_if(skill_matches(call, name, *with_arguments)),
        Test::Field { name, value } => yes_if(
            call.field(name).is_some_and(|field| match field {
                serde_json::Value::String(text) if call.tool == "Agent" && name == "model" => {
                    models.forms(text).iter().any(|form| value.matches(form))
                }
                serde_json::Value::String(text) => value.matches(text),
                serde_json::Value::Array(_) | serde_json::Value::Object(_) => false,
                scalar => value.matches(&scalar.to_string()),
            }) || (name == "run_in_background" && runs_in_background(call) && value.matches("true")),
        ),
        Test::Path(_) | Test::Never => DenyMatch::No,
    }
}

/// A path rule that lowers, on its way over the touches of a call.
struct Judged<'a> {
    rule: &'a Rule,
    path: &'a PathRule,
    call: &'a Call<'a>,
    workspace: &'a [Directory],
}

impl Judged<'_> {
    /// Returns the match of the rule with a touch.
    fn touch(&self, touch: &Touch) -> DenyMatch {
        if !self.is_about(touch) {
            return DenyMatch::No;
        }
        let (path, workspace) = (self.path, self.workspace);
        match touch.reach(path, workspace) {
            // A program that names a path does not necessarily write there.
            Reach::Covers if path.scope == Scope::Edit && touch.usage.loose => DenyMatch::Possible,
            Reach::Covers if touch.usage.guess => DenyMatch::Possible,
            Reach::Covers => DenyMatch::Yes,
            Reach::Below | Reach::No if self.covers_below(touch) && touch.is_covered_below(path, workspace) => {
                DenyMatch::Yes
            }
            _ if touch.is_unknown() => DenyMatch::Possible,
            // An unknown program may act on everything in a directory that it names.
            Reach::Below if touch.usage.loose && touch.holds_only(path, workspace) => DenyMatch::Possible,
            Reach::Below if self.matters_below(touch) && touch.may_hold(path, workspace) => DenyMatch::Possible,
            _ => DenyMatch::No,
        }
    }

    /// Returns `true` if the rule is about the call's use of the path.
    fn is_about(&self, touch: &Touch) -> bool {
        match self.path.scope {
            Scope::Read => touch.usage.read || touch.usage.write,
            Scope::Edit => touch.usage.write,
            Scope::Tool => self.rule.tool.matches(self.call.tool),
        }
    }

    /// Returns `true` if the tool leaves denied paths out of its results.
    fn is_filtered(&self) -> bool {
        names::searches_trees(self.call.tool) && self.rule.behavior == Behavior::Deny && self.path.scope == Scope::Read
    }

    /// Returns `true` if matches of the rule below the path matter.
    fn matters_below(&self, touch: &Touch) -> bool {
        let does = match self.path.scope {
            Scope::Read => touch.usage.read,
            Scope::Edit => touch.usage.write,
            Scope::Tool => true,
        };
        let does = does && touch.may_be_named(self.path);
        // A rule that matches at any depth still matches after a move.
        does && touch.reaches_below() && !self.is_filtered() && !(touch.usage.moves && self.path.is_anywhere())
    }

    /// Returns `true` if the rule applies because a whole tree is moved, removed or opened up: paths that it covers
    /// below are then gone, or no longer covered.
    fn covers_below(&self, touch: &Touch) -> bool {
        match self.path.scope {
            Scope::Read => (touch.usage.read || touch.usage.handles) && !self.is_filtered(),
            Scope::Edit => touch.usage.write && !touch.usage.loose,
            Scope::Tool => true,
        }
    }
}

fn yes_if(holds: bool) -> DenyMatch {
    if holds { DenyMatch::Yes } else { DenyMatch::No }
}

fn runs_in_background(call: &Call<'_>) -> bool {
    call.facts.command.as_ref().is_some_and(|command| command.background)
}

fn skill_matches(call: &Call<'_>, name: &str, with_arguments: bool) -> bool {
    let called = skill(call.text("skill").unwrap_or_default());
    let is_first = || called.split_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case(name));
    called.eq_ignore_ascii_case(name) || (with_arguments && is_first())
}

fn command_applies(pattern: &BashPattern, call: &Call<'_>) -> DenyMatch {
    let Some(command) = &call.facts.command else { return DenyMatch::Possible };
    let is_part = |understood: &Understood| understood.commands().iter().any(|part| pattern.matches_source(part));
    if pattern.matches_whole(&command.text) || command.analysis.understood().is_ok_and(is_part) {
        return DenyMatch::Yes;
    }
    let found = command.analysis.found().iter().map(|found| pattern.matches_deny(found)).max();
    let found = found.unwrap_or(DenyMatch::No);
    if command.analysis.undecided().is_some() { found.max(DenyMatch::Possible) } else { found }
}

/// Returns the verdict of a rule that applies, or may apply.
pub(crate) fn rule_decision(rule: &Rule, call: &Call<'_>, found: DenyMatch) -> Option<Decision> {
    let denies = rule.behavior == Behavior::Deny;
    let (behavior, reason, message) = match found {
        DenyMatch::No => return None,
        DenyMatch::Yes if denies => (Behavior::Deny, DecisionReason::Rule, denial(rule, call)),
        DenyMatch::Yes => {
            (Behavior::Ask, DecisionReason::Rule, format!("The rule `{}` asks about this call.", rule.text))
        }
        DenyMatch::Possible => {
            let does = if denies { "denies" } else { "asks about" };
            let why = call.facts.command.as_ref().and_then(|command| command.analysis.undecided());
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            let message = format!("It cannot be decided whether the rule `{}` {does} this call{why}.", rule.text);
            (Behavior::Ask, DecisionReason::NotUnderstood, message)
        }
    };
    Some(Decision::new(behavior, reason, message).with_rule(rule.matched()).with_part(lowered_part(rule, call)))
}

/// Returns the command of a line of several that a rule is about, if that is one of them as it stands there.
fn lowered_part(rule: &Rule, call: &Call<'_>) -> Option<String> {
    let Test::Command(pattern) = &rule.test else { return None };
    let understood = call.facts.command.as_ref()?.analysis.understood().ok()?;
    let parts = understood.commands();
    let part = parts.iter().find(|part| pattern.matches_source(part) || pattern.matches_allow(part))?;
    (parts.len() > 1).then(|| part.source().to_owned())
}

fn denial(rule: &Rule, call: &Call<'_>) -> String {
    match (&rule.test, call.tool, &call.facts.command) {
        (Test::Agent(agent), ..) => format!("Agent type '{agent}' has been denied by permission rule `{}`.", rule.text),
        (_, "Skill", _) => format!("Skill execution blocked by permission rules (`{}`).", rule.text),
        (_, tool, Some(command)) => {
            format!(
                "Permission to use {tool} with command {} has been denied by the rule `{}`.",
                shown(&command.text),
                rule.text
            )
        }
        (_, tool, None) => format!("Permission to use {tool} has been denied by the rule `{}`.", rule.text),
    }
}

/// Inputs of the safety floor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor<'a> {
    pub(crate) workspace: &'a Workspace,
}

impl Floor<'_> {
    /// Returns the verdict of the safety floor, if it has one.
    pub(crate) fn judge(&self, call: &Call<'_>) -> Option<Decision> {
        self.catastrophe(call).or_else(|| self.protection(call))
    }

    fn catastrophe(&self, call: &Call<'_>) -> Option<Decision> {
        let deny = |what: String| {
            Decision::new(Behavior::Deny, DecisionReason::Catastrophic, format!("This is never run: {what}."))
        };
        if let Some(command) = &call.facts.command {
            let ends = PathEnds::new(command);
            let found = catastrophic(&command.analysis, &call.facts.cwd, self.home(), &|path| ends.get(path));
            if let Some(found) = found {
                return Some(deny(found.to_string()));
            }
            if let Some(touch) = removed(call).find(|touch| touch.usage.tree && self.holds_a_root(touch)) {
                return Some(deny(format!(
                    "it would remove {}, a whole home or working tree",
                    touch.requested_path().display()
                )));
            }
        }
        let device = call
            .all_touches()
            .filter(|touch| touch.usage.write && !touch.usage.loose)
            .find(|touch| touch.subjects().any(|subject| is_raw_device(&subject.exact)))?;
        Some(
            deny(format!("it would write to the device {}", device.requested_path().display()))
                .with_blocked_path(device.requested_path()),
        )
    }

    /// A question about what may be as bad, by names or code that a command is handed.
    fn suspicion(&self, call: &Call<'_>) -> Option<Decision> {
        let command = call.facts.command.as_ref()?;
        let ends = PathEnds::new(command);
        let found: Suspicion = suspicious(&command.analysis, &call.facts.cwd, self.home(), &|path| ends.get(path))?;
        let message = format!("{found}: that needs an answer to this very call.");
        Some(Decision::new(Behavior::Ask, DecisionReason::Protected, message))
    }

    fn home(&self) -> &Path {
        self.workspace.home().unwrap_or(Path::new("/"))
    }

    /// Returns `true` if the touched path is a root of the workspace or the home, or above one.
    fn holds_a_root(&self, touch: &Touch) -> bool {
        let mut roots = self.workspace.roots();
        touch.pattern.is_none() && roots.any(|root| touch.subjects().any(|subject| root.starts_with(&subject.path)))
    }

    fn protection(&self, call: &Call<'_>) -> Option<Decision> {
        let Some((name, path)) =
            self.protected_touch(call).or_else(|| Some((protected_word(call, self.workspace.own_commands())?, None)))
        else {
            return written_unseen(call).or_else(|| self.suspicion(call));
        };
        let message = format!("`{name}` is protected: writing there needs an answer to this very call.");
        let decision = Decision::new(Behavior::Ask, DecisionReason::Protected, message);
        Some(match path {
            Some(path) => decision.with_blocked_path(path),
            None => decision,
        })
    }

    fn protected_touch(&self, call: &Call<'_>) -> Option<(String, Option<PathBuf>)> {
        // Copies to places outside the workspace and the user's home are not protected.
        let kept = self.workspace.roots();
        let elsewhere =
            |touch: &Touch| touch.copied && !kept.clone().any(|root| touch.requested_path().starts_with(root));
        let certain = |touch: &&Touch| touch.usage.write && !touch.usage.loose && !elsewhere(touch);
        call.all_touches().filter(certain).find_map(|touch| {
            let by_name = touch.subjects().find_map(|subject| protected::protected_name(&subject.path));
            let listed = || {
                let inside = touch.subjects().any(|subject| self.workspace.is_protected(subject));
                inside.then(|| touch.requested_path().display().to_string())
            };
            let by_pattern =
                || touch.pattern.as_deref().filter(|p| protected::pattern_may_be_protected(p)).map(str::to_owned);
            let by_git = || touch.route.git_directory.as_ref().map(|directory| directory.display().to_string());
            // A head makes a repository of the directory around it, whatever part of it comes last.
            let by_head = || touch.subjects().any(|subject| is_head(&subject.path)).then(|| "HEAD".to_owned());
            let name = by_name.or_else(listed).or_else(by_git).or_else(by_head).or_else(by_pattern)?;
            Some((name, Some(touch.requested_path().to_path_buf())))
        })
    }
}

/// The ends of the paths of a command, looked up when first asked for.
struct PathEnds<'a> {
    command: &'a CommandFacts,
    ends: OnceCell<HashMap<&'a Path, &'a Path>>,
}

impl<'a> PathEnds<'a> {
    fn new(command: &'a CommandFacts) -> Self {
        Self { command, ends: OnceCell::new() }
    }

    fn get(&self, path: &Path) -> Option<PathBuf> {
        let ends = self.ends.get_or_init(|| {
            let fact = |fact: &'a PathFact| (fact.requested.as_path(), fact.resolved.as_path());
            self.command.paths.iter().map(fact).collect()
        });
        ends.get(path).map(|end| end.to_path_buf())
    }
}

/// Returns `true` if a file would be the head of a repository.
fn is_head(path: &Path) -> bool {
    let forgives_case = cfg!(any(target_os = "macos", windows));
    let is_head = |name: &std::ffi::OsStr| name == "HEAD" || (forgives_case && name.eq_ignore_ascii_case("HEAD"));
    path.file_name().is_some_and(is_head)
}

/// Returns the decision for a write to an unknown path: it may be a protected place.
fn written_unseen(call: &Call<'_>) -> Option<Decision> {
    let unseen = |touch: &&Touch| {
        let is_unknown = matches!(touch.unclear, Some(MADE | NO_PARENT | OPTION | TOO_MANY));
        touch.usage.write && !touch.usage.loose && is_unknown
    };
    // With an option a program that only reads may write.
    let by_option = || {
        let may_write = |part: &Part<'_>| part.command.program().is_some_and(programs::works_on_files);
        let mut parts = call.parts.iter().flatten().filter(|(part, _)| may_write(part));
        parts.find_map(|(_, touches)| touches.iter().find(|touch| touch.unclear == Some(OPTION)))
    };
    let touch = call.all_touches().find(unseen).or_else(by_option)?;
    let (path, why) = (touch.requested_path(), touch.unclear.unwrap_or_default());
    let message = format!("It writes to {}, but {why}: that needs an answer to this very call.", path.display());
    Some(Decision::new(Behavior::Ask, DecisionReason::Protected, message).with_blocked_path(path))
}

/// Returns a protected name among the arguments and redirections of commands.
fn protected_word(call: &Call<'_>, own_commands: &[String]) -> Option<String> {
    let command = call.facts.command.as_ref()?;
    let known = |found: &FoundCommand| {
        // The writes of an understood command with known effects were judged path by path.
        call.parts.iter().flatten().any(|(part, _)| part.is_known() && has_words(part.command, found))
    };
    let mut texts = Texts::new(command, &call.facts.cwd);
    command.analysis.found().iter().find_map(|found| {
        if programs::changes_git_config(found) {
            return Some("git config".to_owned());
        }
        if programs::changes_crontab(found) {
            return Some("crontab".to_owned());
        }
        if let Some(own) = writing_command(found, own_commands) {
            return Some(own);
        }
        let mut targets = found
            .redirects()
            .iter()
            .filter(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append));
        let by_target = targets.find_map(|redirect| texts.protected_word(redirect.target.text()));
        by_target.or_else(|| {
            if known(found) {
                return None;
            }
            let words = programs::words_to_protect(found);
            let by_word = words.into_iter().find_map(|word| texts.protected_word(word.text()));
            by_word.or_else(|| texts.protected_output(found))
        })
    })
}

/// The texts of a command line that may be protected names. Wrappers and scripts repeat words, so each text is judged
/// once.
struct Texts<'a> {
    cwd: &'a Path,
    facts: HashMap<&'a Path, &'a PathFact>,
    words: HashSet<&'a str>,
}

impl<'a> Texts<'a> {
    fn new(command: &'a CommandFacts, cwd: &'a Path) -> Self {
        let mut facts = HashMap::new();
        for fact in &command.paths {
            facts.entry(fact.requested.as_path()).or_insert(fact);
        }
        Self { cwd, facts, words: HashSet::new() }
    }

    /// Returns the name that protects a word.
    fn protected_word(&mut self, text: &'a str) -> Option<String> {
        if self.words.contains(text) {
            return None;
        }
        // `:(top).vscode/x`, as git reads it.
        let behind_magic = text.strip_prefix(":(").and_then(|magic| magic.split_once(')'));
        let by_magic = behind_magic.and_then(|(_, path)| protected::protected_in_text(path));
        let found = by_magic.or_else(|| self.protected_text(text));
        if found.is_none() {
            self.words.insert(text);
        }
        found
    }

    /// Returns the protected place that a command writes without a redirection. For a program that only reads, only
    /// certain writes are included.
    fn protected_output(&self, found: &FoundCommand) -> Option<String> {
        let reads = programs::words_to_protect(found).is_empty();
        let outputs = found.outputs();
        let mut written = outputs.iter().filter(|output| !reads || output.kind == OutputKind::Written);
        written.find_map(|output| self.protected_text(&output.path))
    }

    fn protected_text(&self, text: &str) -> Option<String> {
        let by_text = protected::protected_in_text(text);
        by_text.or_else(|| {
            // The path may be a link.
            let path = crate::path::as_written(self.cwd, Path::new(text));
            let fact = self.facts.get(path.as_path())?;
            let by_git = || fact.git_directory.as_ref().map(|directory| directory.display().to_string());
            let ends_there = fact.resolved == fact.requested;
            fact.all().skip(usize::from(ends_there)).find_map(protected::protected_name).or_else(by_git)
        })
    }
}

/// Returns the paths that an understood command removes or moves away.
fn removed<'a>(call: &'a Call<'_>) -> impl Iterator<Item = &'a Touch> {
    call.parts.iter().flatten().flat_map(|(part, touches)| {
        let program = part.command.program().unwrap_or_default();
        let moves = program == "mv";
        let gone = moves || matches!(program, "rm" | "rmdir");
        // The source of a move is read as well, its target is not.
        let read = || touches.iter().filter(|touch| touch.usage.read).map(Touch::requested_path);
        let sources: Option<HashSet<&Path>> = moves.then(|| read().collect());
        touches.iter().filter(move |touch| {
            let is_source = || sources.as_ref().is_none_or(|sources| sources.contains(touch.requested_path()));
            gone && touch.usage.write && !touch.usage.redirect && is_source()
        })
    })
}

fn is_raw_device(names: &[String]) -> bool {
    let harmless = [
        "null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr", "fd", "shm", "pts", "ptmx",
        "mqueue",
    ];
    match names {
        [dev, name, ..] => dev == "dev" && !harmless.contains(&name.as_str()),
        _ => false,
    }
}

//! Facts about a call for people: its effects, a grade of its risk, and a sentence that names what it does.

mod commands;
mod table;

use crate::facts::{CallFacts, PathFact, Standing};
use crate::names;
use crate::network::{Host, host};
use std::path::{Path, PathBuf};
use windlass_types::text::{visible_line, visible_path};
use windlass_types::{Access, CallEffect, CallImpact, Decision, DecisionReason, RiskGrade};

/// Maximum number of paths and of hosts of a call.
const MOST: usize = 20;

impl CallFacts {
    /// Returns the facts about the call for those who answer a question about it. `decision` is the verdict that asks.
    ///
    /// No verdict depends on these facts: a sentence about a command is a hint, and the command itself is what runs.
    #[must_use]
    pub fn impact(&self, decision: &Decision) -> CallImpact {
        let mut impact = match &self.command {
            Some(command) => commands::impact(command),
            None => self.impact_of_tool(),
        };
        let paths = self.command.as_ref().map_or(&self.paths, |command| &command.paths);
        impact.paths = concerned(paths);
        let changes = [CallEffect::Writes, CallEffect::Removes].iter().any(|effect| impact.effects.contains(effect));
        let lowest = match decision.reason {
            DecisionReason::Protected | DecisionReason::Catastrophic => RiskGrade::High,
            DecisionReason::WorkingDirectory if changes => RiskGrade::High,
            DecisionReason::WorkingDirectory | DecisionReason::NotUnderstood => RiskGrade::Medium,
            _ if decision.blocked_path.is_some() => RiskGrade::Medium,
            _ => RiskGrade::Low,
        };
        impact.risk = impact.risk.max(lowest);
        impact
    }

    fn impact_of_tool(&self) -> CallImpact {
        use CallEffect::{Network, Reads, Runs, Writes};
        let fact = |risk, summary: String, effects: &[CallEffect]| {
            CallImpact::new(risk, summary).with_effects(effects.iter().copied())
        };
        let tool = visible_line(&self.tool);
        if self.requires_user_interaction || names::asks_the_user(&self.tool) {
            return fact(RiskGrade::Low, "Asks you, and does nothing else.".to_owned(), &[]);
        }
        if let Some((server, tool)) = names::server_and_tool(&self.tool) {
            let summary = format!(
                "Calls the tool {} of the server {}, whose effects are not known.",
                visible_line(tool),
                visible_line(server)
            );
            return fact(RiskGrade::Medium, summary, &[Runs]);
        }
        match &self.access {
            Access::Writes(_) => fact(RiskGrade::Medium, self.written(), &[Reads, Writes]),
            Access::Reads(paths) if paths.is_empty() => {
                fact(RiskGrade::Low, "Touches nothing outside of the session.".to_owned(), &[])
            }
            Access::Reads(_) => fact(RiskGrade::Low, format!("Reads {}.", self.named(&self.paths)), &[Reads]),
            Access::Network => self.fetched(),
            Access::Agents => fact(RiskGrade::Low, "Runs an agent, whose calls are each asked about.".to_owned(), &[]),
            Access::Calls => fact(RiskGrade::Low, "Calls other tools, and each call is asked about.".to_owned(), &[]),
            Access::Session => fact(RiskGrade::Low, "Changes the session alone.".to_owned(), &[]),
            Access::Exec => fact(RiskGrade::Medium, "Runs a program.".to_owned(), &[Runs]),
            _ => fact(RiskGrade::Medium, format!("Calls the tool {tool}, whose effects are not known."), &[Runs]),
        }
        .with_effects(matches!(self.access, Access::Network).then_some(Network))
    }

    fn written(&self) -> String {
        let creates = !self.paths.is_empty() && self.paths.iter().all(|path| path.end == Standing::Missing);
        format!("{} {}.", if creates { "Creates" } else { "Changes" }, self.named(&self.paths))
    }

    fn fetched(&self) -> CallImpact {
        let fields = self.input.to::<std::collections::BTreeMap<String, serde_json::Value>>().unwrap_or_default();
        let url = fields.get("url").and_then(serde_json::Value::as_str);
        let (summary, hosts) = match url.map(host) {
            Some(Host::Known(host)) => (format!("Contacts {host}."), vec![host]),
            _ if self.tool == "WebSearch" => ("Searches the web.".to_owned(), Vec::new()),
            _ => ("Contacts other machines.".to_owned(), Vec::new()),
        };
        let mut impact = CallImpact::new(RiskGrade::Low, summary).with_effects([CallEffect::Reads]);
        impact.hosts = hosts;
        impact
    }

    /// Returns the paths in words: one by its name below the current directory, several by their number.
    fn named(&self, paths: &[PathFact]) -> String {
        match paths {
            [] => "files".to_owned(),
            [path] => visible_path(below(&path.requested, &self.cwd)),
            paths => format!("{} files", paths.len()),
        }
    }
}

fn below<'a>(path: &'a Path, directory: &Path) -> &'a Path {
    path.strip_prefix(directory).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path)
}

/// Returns the paths that a call changes, or else those that it reads.
fn concerned(paths: &[PathFact]) -> Vec<PathBuf> {
    let changes = paths.iter().any(|path| path.write);
    let mut named: Vec<PathBuf> = Vec::new();
    for path in paths.iter().filter(|path| path.write == changes) {
        if named.len() < MOST && !named.contains(&path.requested) {
            named.push(path.requested.clone());
        }
    }
    named
}

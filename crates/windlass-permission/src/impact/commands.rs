//! Effects of the commands of a line, from their programs and arguments.

use super::MOST;
use super::table::{Purpose, is_option, purpose};
use crate::facts::CommandFacts;
use std::collections::BTreeSet;
use windlass_shell::{FoundCommand, RedirectKind, Undecided, Word};
use windlass_types::text::visible_line;
use windlass_types::{CallEffect, CallImpact, RiskGrade};

/// Programs that load what an address names.
const DOWNLOADERS: &[&str] = &["curl", "wget", "fetch", "aria2c", "http", "https", "xh"];
/// Sentence about a program whose option holds its code.
const GIVEN_CODE: &str = "Runs code that stands in the command.";
/// Maximum length of the name of a program in a sentence, in characters.
const LONGEST_NAME: usize = 40;

/// Facts about one command.
struct CommandImpact {
    summary: String,
    risk: RiskGrade,
    effects: Vec<CallEffect>,
}

/// Returns the facts about a line: the sentence of its command with the highest risk, and the effects of all.
pub(super) fn impact(command: &CommandFacts) -> CallImpact {
    let found = command.analysis.found();
    let parts: Vec<CommandImpact> = found.iter().filter_map(part).collect();
    let elevates = parts.iter().any(|part| part.effects.contains(&CallEffect::Elevates));
    // The first of the highest risk. What a program with other rights runs says more than that program.
    let is_wrapper = |part: &&CommandImpact| part.effects == [CallEffect::Elevates];
    let worst = |parts: &mut dyn Iterator<Item = &CommandImpact>| {
        parts.fold(None, |worst: Option<(String, RiskGrade)>, part| match worst {
            Some((_, risk)) if risk >= part.risk => worst,
            _ => Some((part.summary.clone(), part.risk)),
        })
    };
    let inner = worst(&mut parts.iter().filter(|part| !is_wrapper(part)));
    let (mut summary, mut risk) =
        inner.unwrap_or_else(|| ("Runs commands that are not known beforehand.".to_owned(), RiskGrade::Medium));
    if elevates {
        (summary, risk) = (format!("With the rights of another user: {}", lower_first(&summary)), RiskGrade::High);
    }
    let mut effects: BTreeSet<CallEffect> = parts.iter().flat_map(|part| part.effects.iter().copied()).collect();
    // Code in an option is known beforehand, though it is not analysed.
    let is_given = summary == GIVEN_CODE && command.analysis.undecided() == Some(Undecided::Script);
    if let Some((told, least)) = made_script(command.analysis.undecided(), found).filter(|_| !is_given) {
        (summary, risk) = (told.map_or(summary, str::to_owned), risk.max(least));
        effects.insert(CallEffect::Runs);
    }
    let mut impact = CallImpact::new(risk, summary).with_effects(effects);
    impact.hosts = hosts(found);
    impact
}

/// Returns the sentence and the least risk of a line that runs what its own commands give.
fn made_script(undecided: Option<Undecided>, found: &[FoundCommand]) -> Option<(Option<&'static str>, RiskGrade)> {
    let loads = found.iter().any(|command| command.program().is_some_and(|program| DOWNLOADERS.contains(&program)));
    match undecided? {
        Undecided::Input | Undecided::Script if loads => {
            Some((Some("Downloads a script and runs it."), RiskGrade::High))
        }
        Undecided::Input | Undecided::Script => {
            Some((Some("Runs a script that is only known while it runs."), RiskGrade::High))
        }
        Undecided::Program => Some((Some("Runs a program whose name is only known while it runs."), RiskGrade::High)),
        _ => Some((None, RiskGrade::Medium)),
    }
}

/// Returns the facts about one command; `None` for one without a name.
fn part(command: &FoundCommand) -> Option<CommandImpact> {
    let program = command.program()?;
    let arguments: Vec<&str> = command.words().iter().skip(1).map(Word::text).collect();
    let mut part = if DOWNLOADERS.contains(&program) {
        transfer(&arguments)
    } else {
        match purpose(program, &arguments) {
            Some(Purpose { summary, risk, effects }) => {
                CommandImpact { summary: summary.to_owned(), risk, effects: effects.to_vec() }
            }
            None => CommandImpact {
                summary: format!("Runs `{}`.", short(program)),
                risk: RiskGrade::Medium,
                effects: vec![CallEffect::Runs],
            },
        }
    };
    let written = command.redirects().iter().find(|redirect| {
        matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append) && !redirect.is_harmless()
    });
    if let Some(redirect) = written {
        part.effects.push(CallEffect::Writes);
        if part.risk == RiskGrade::Low {
            (part.summary, part.risk) = (format!("Writes {}.", short(redirect.target.text())), RiskGrade::Medium);
        }
    }
    Some(part)
}

/// Returns the facts about a program that loads or sends.
fn transfer(arguments: &[&str]) -> CommandImpact {
    let host = arguments.iter().find_map(|argument| host_of(argument));
    let place = host.as_deref().unwrap_or("another machine");
    let has = |long: &[&str], short: &[char]| arguments.iter().any(|argument| is_option(argument, long, short));
    let sends = has(
        &["--data", "--form", "--upload-file", "--json", "--post-data", "--post-file", "--body-data"],
        &['d', 'F', 'T'],
    ) || arguments.iter().any(|argument| {
        matches!(*argument, "POST" | "PUT" | "DELETE" | "PATCH" | "-XPOST" | "-XPUT" | "-XDELETE" | "-XPATCH")
    });
    let stores = has(&["--output", "--remote-name", "--output-document", "--directory-prefix"], &['o', 'O', 'P']);
    if sends {
        let summary = format!("Sends data to {place}.");
        return CommandImpact {
            summary,
            risk: RiskGrade::High,
            effects: vec![CallEffect::Network, CallEffect::Writes],
        };
    }
    if stores {
        let summary = format!("Downloads a file from {place}.");
        return CommandImpact {
            summary,
            risk: RiskGrade::Medium,
            effects: vec![CallEffect::Network, CallEffect::Writes],
        };
    }
    CommandImpact {
        summary: format!("Contacts {place}."),
        risk: RiskGrade::Medium,
        effects: vec![CallEffect::Network, CallEffect::Reads],
    }
}

/// Returns the hosts that commands name, without credentials.
fn hosts(found: &[FoundCommand]) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for command in found {
        let loads = command.program().is_some_and(|program| DOWNLOADERS.contains(&program));
        let remote = matches!(command.program(), Some("ssh" | "scp" | "sftp" | "rsync" | "git" | "mosh"));
        for word in command.words().iter().skip(1) {
            let host = host_of(word.text())
                .or_else(|| remote.then(|| remote_host(word.text())).flatten())
                .or_else(|| loads.then(|| bare_host(word.text())).flatten());
            if let Some(host) = host.filter(|host| !hosts.contains(host) && hosts.len() < MOST) {
                hosts.push(host);
            }
        }
    }
    hosts
}

/// Returns the host of a text that holds an address.
fn host_of(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("://")?;
    let place = rest.split(['/', '?', '#', '\'', '"', ' ', '\\']).next()?;
    named_host(place.rsplit('@').next()?)
}

/// Returns the host of `user@host` and `user@host:path`.
fn remote_host(text: &str) -> Option<String> {
    let (user, place) = text.split_once('@')?;
    let is_name = !user.is_empty() && user.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    is_name.then(|| named_host(place.split('/').next()?)).flatten()
}

/// Returns the host of an address without a scheme, such as `example.com/a`.
fn bare_host(text: &str) -> Option<String> {
    let place = text.split('/').next().filter(|place| place.contains('.') && !text.starts_with(['-', '.', '/']))?;
    named_host(place)
}

fn named_host(place: &str) -> Option<String> {
    let host = match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => place.split(':').next()?,
    };
    let is_host = !host.is_empty()
        && host.len() <= 253
        && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '_'));
    is_host.then(|| host.to_ascii_lowercase())
}

fn short(name: &str) -> String {
    let shown = visible_line(name);
    if shown.chars().count() <= LONGEST_NAME {
        return shown;
    }
    shown.chars().take(LONGEST_NAME).chain(['…']).collect()
}

fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;

//! Secrets in one run: a word between white space.

use super::forms::{LONGEST_NAME, LOOKED_AT, SecretKind, is_key_char, is_label, is_placeholder, is_value, key_at};
use super::{Masks, boundary};
use std::ops::Range;

/// A secret in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Start of the evidence for the secret: its label.
    pub(super) context: usize,
    pub(super) place: Range<usize>,
    pub(super) kind: SecretKind,
}

/// State from earlier runs that affects the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    None,
    /// After the label of a secret. A value follows behind `=` or `:`.
    Label,
    /// Before a value.
    Sign,
    /// After `-----BEGIN`: a private key may begin.
    Pem,
    /// Inside a private key.
    PrivateKey,
}

/// State between runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Scan {
    before: Before,
}

const QUOTES: [char; 6] = ['"', '\'', '`', '*', '\\', '['];
const PEM_BEGIN: &str = "-----BEGIN";
const PEM_END: &str = "-----END";

impl Scan {
    /// Returns the secrets of a run, in order and without overlaps. `previous`: the character before it, if it is the
    /// rest of a longer one.
    pub(super) fn run(&mut self, masks: &Masks, run: &str, previous: Option<char>) -> Vec<Found> {
        let mut found = Vec::new();
        match self.private_key(run, &mut found) {
            Some(before) => self.before = before,
            None => self.labelled(run, &mut found),
        }
        for value in masks.values.iter() {
            let places = run.match_indices(value.as_str());
            found.extend(places.map(|(at, text)| Found::new(at..at + text.len(), SecretKind::Known)));
        }
        keys(run, previous, &mut found);
        passwords(run, &mut found);
        merged(found)
    }

    /// Finds private keys. Returns the state for the next run if this one belongs to a key, in whole or in part.
    fn private_key(&self, run: &str, found: &mut Vec<Found>) -> Option<Before> {
        let begin = match self.before {
            Before::PrivateKey => Some(0),
            Before::Pem => run.find("KEY-----").map(|at| at + "KEY-----".len()),
            _ => None,
        };
        let Some(begin) = begin else {
            // The words between are `RSA PRIVATE`, `OPENSSH PRIVATE` and the like.
            let is_between = self.before == Before::Pem && run.chars().all(|c| c.is_ascii_uppercase());
            return (is_between || run.ends_with(PEM_BEGIN)).then_some(Before::Pem);
        };
        let rest = run.get(begin..).unwrap_or_default();
        let end = rest.find(PEM_END).map(|at| begin + at);
        let place = begin..end.unwrap_or(run.len());
        if !place.is_empty() {
            found.push(Found::new(place, SecretKind::PrivateKey));
        }
        Some(if end.is_some() { Before::None } else { Before::PrivateKey })
    }

    /// Finds values of labels, in this run or across runs.
    fn labelled(&mut self, run: &str, found: &mut Vec<Found>) {
        let previous = std::mem::take(&mut self.before);
        let unquoted = run.trim_start_matches(QUOTES);
        let value = match previous {
            Before::Sign => Some(unquoted),
            Before::Label => unquoted.strip_prefix(['=', ':']),
            _ => None,
        };
        if let Some(value) = value {
            self.value(run, 0, value, found);
        }
        for (at, sign) in run.match_indices(['=', ':']) {
            let (name_at, name) = name_before(run, at);
            let is_query = run.get(..name_at).is_some_and(|left| left.ends_with(['?', '&']));
            if is_label(name) || is_query && name.eq_ignore_ascii_case("key") {
                self.value(run, name_at, run.get(at + sign.len()..).unwrap_or_default(), found);
            }
        }
        if self.before == Before::None && is_label(run.trim_end_matches(QUOTES)) {
            self.before = Before::Label;
        }
    }

    /// Records a value, which may only follow in the next run.
    fn value(&mut self, run: &str, context: usize, value: &str, found: &mut Vec<Found>) {
        let value = value.trim_start_matches(['=', ':']).trim_start_matches(QUOTES);
        let start = run.len().saturating_sub(value.len());
        // Longer texts are not passwords, and would take long to examine repeatedly.
        let value = value.get(..boundary(value, LOOKED_AT)).unwrap_or_default();
        let end = value.find(['"', '\'', '`', '&', '\\']).unwrap_or(value.len());
        let word = value.get(..end).unwrap_or_default();
        if word.is_empty() || word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic") {
            self.before = Before::Sign;
        } else if is_value(word) {
            found.push(Found { context, place: start..start + word.len(), kind: SecretKind::Labelled });
        }
    }
}

impl Found {
    fn new(place: Range<usize>, kind: SecretKind) -> Self {
        Self { context: place.start, place, kind }
    }
}

/// Returns the name before a sign, and its position.
fn name_before(run: &str, sign: usize) -> (usize, &str) {
    let before_sign = run.get(..sign).unwrap_or_default().trim_end_matches(QUOTES);
    let name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let length = before_sign.chars().rev().take(LONGEST_NAME).take_while(name).count();
    let start = before_sign.len() - length;
    (start, before_sign.get(start..).unwrap_or_default())
}

/// Finds keys of vendors, at the beginnings of words.
fn keys(run: &str, previous: Option<char>, found: &mut Vec<Found>) {
    let mut preceding = previous;
    let mut skip = 0;
    for (at, c) in run.char_indices() {
        let begins_word =
            preceding.is_none_or(|preceding| !preceding.is_ascii_alphanumeric() && !matches!(preceding, '_' | '-'));
        preceding = Some(c);
        if at < skip || !begins_word {
            continue;
        }
        if let Some(length) = run.get(at..).and_then(key_at) {
            found.push(Found::new(at..at + length, SecretKind::AccessKey));
            skip = at + length;
        } else if is_key_char(c) {
            // A word that is not a key contains none before its end or a separator.
            skip = at + c.len_utf8();
        }
    }
}

/// Finds passwords of addresses: `://user:password@`.
fn passwords(run: &str, found: &mut Vec<Found>) {
    let mut search_start = 0;
    while let Some(at) = run.get(search_start..).and_then(|rest| rest.find("://")) {
        let start = search_start + at + "://".len();
        let rest = run.get(start..).unwrap_or_default();
        let authority = rest.find(['/', '?', '#', '"', '\'', '<', '>']).and_then(|end| rest.get(..end)).unwrap_or(rest);
        search_start = start;
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        let Some((name, password)) = user.split_once(':') else { continue };
        if !is_placeholder(password) {
            let place = start + name.len() + 1;
            found.push(Found {
                context: start - "://".len(),
                place: place..place + password.len(),
                kind: SecretKind::Password,
            });
        }
    }
}

fn merged(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|found| (found.place.start, found.place.end));
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut() {
            Some(last) if next.place.start < last.place.end => {
                last.place.end = last.place.end.max(next.place.end);
                last.context = last.context.min(next.context);
                last.kind = last.kind.min(next.kind);
            }
            _ => merged.push(next),
        }
    }
    merged
}

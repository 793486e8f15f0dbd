//! Options and operands of read-only programs against their table entries.

use super::{Classification, Findings, PathOperand};
use crate::{Word, word::Piece};

/// What a program may be given without changing anything.
pub(super) struct Spec {
    pub(super) name: &'static str,
    /// Short options without a value.
    pub(super) flags: &'static str,
    /// Short options with a value, attached or separate.
    pub(super) valued: &'static str,
    /// Short options whose value is a file that is read.
    pub(super) files: &'static str,
    /// Long options: `name`, `name=` (value attached or separate), `name?` (value attached or none),
    /// `name@` (value is a file that is read).
    pub(super) long: &'static [&'static str],
    pub(super) operands: Operands,
    /// Options that make it descend into directories, as words.
    pub(super) recursive: &'static [&'static str],
    /// Whether it takes `-NUM`.
    pub(super) number: bool,
    /// Whether every option of the program is harmless, also those not listed: then a file name pattern may
    /// expand to one.
    pub(super) harmless: bool,
    /// Whether no harmful option of it can end in a suffix such as `.log`: then `*.log` is no option either.
    pub(super) suffixed: bool,
}

/// What the operands are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// At most so many words which are not paths.
    Text(usize),
    /// At most so many files.
    Files(usize),
    /// Files or directories; none stands for the working directory.
    Here,
    /// A pattern, unless `-e` or `-f` gave it, then files.
    Pattern,
    /// Like `Pattern`, with the working directory for no file; `--files` leaves out the pattern.
    PatternHere,
}

impl Spec {
    pub(super) const fn new(name: &'static str, flags: &'static str, valued: &'static str, operands: Operands) -> Self {
        Self {
            name,
            flags,
            valued,
            files: "",
            long: &[],
            operands,
            recursive: &[],
            number: false,
            harmless: false,
            suffixed: false,
        }
    }

    pub(super) const fn long(self, long: &'static [&'static str]) -> Self {
        Self { long, ..self }
    }

    pub(super) const fn files(self, files: &'static str) -> Self {
        Self { files, ..self }
    }

    pub(super) const fn recursive(self, recursive: &'static [&'static str]) -> Self {
        Self { recursive, ..self }
    }

    pub(super) const fn number(self) -> Self {
        Self { number: true, ..self }
    }

    pub(super) const fn harmless(self) -> Self {
        Self { harmless: true, ..self }
    }

    pub(super) const fn suffixed(self) -> Self {
        Self { suffixed: true, ..self }
    }
}

/// Arguments sorted into options and operands.
#[derive(Default)]
pub(super) struct Parsed<'w> {
    pub(super) operands: Vec<&'w Word>,
    /// Files named by options.
    pub(super) files: Vec<PathOperand>,
    /// Options in canonical form: `-x` or `--name`, with their values.
    pub(super) options: Vec<(String, Option<String>)>,
}

impl Parsed<'_> {
    pub(super) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| name == option)
    }
}

/// Sorts the arguments; `None` if one is not covered by the table entry.
pub(super) fn parse<'w>(spec: &Spec, args: &'w [Word]) -> Option<Parsed<'w>> {
    let mut parsed = Parsed::default();
    let mut args = args.iter();
    let mut options_end = false;
    while let Some(word) = args.next() {
        let text = word.text();
        if !word.is_literal() {
            if !options_end && spec.harmless && is_valued_option(spec, word) {
                continue;
            }
            let harmless = spec.harmless || (spec.suffixed && has_suffix(word));
            if !(options_end || word.cannot_be_option() || (harmless && word.literal_prefix().is_empty())) {
                return None;
            }
            parsed.operands.push(word);
        } else if options_end || text == "-" || !text.starts_with('-') {
            parsed.operands.push(word);
        } else if text == "--" {
            options_end = true;
        } else if let Some(long) = text.strip_prefix("--") {
            parse_long(spec, long, &mut args, &mut parsed)?;
        } else if spec.number && text.chars().skip(1).all(|c| c.is_ascii_digit()) {
            parsed.options.push(("-NUM".to_owned(), None));
        } else {
            parse_short(spec, text, &mut args, &mut parsed)?;
        }
    }
    Some(parsed)
}

/// `*.log`: a dot, then letters that are not all digits of some number.
fn has_suffix(word: &Word) -> bool {
    let Some(Piece::Text { text, .. }) = word.pieces().last() else { return false };
    text.rsplit_once('.').is_some_and(|(_, suffix)| {
        suffix.chars().all(|c| c.is_ascii_lowercase()) && suffix.chars().any(|c| matches!(c, 'g'..='z'))
    })
}

/// `--include=*.rs`: whatever the pattern matches is this option again.
fn is_valued_option(spec: &Spec, word: &Word) -> bool {
    let prefix = word.literal_prefix();
    let Some((name, _)) = prefix.strip_prefix("--").and_then(|long| long.split_once('=')) else {
        return false;
    };
    spec.long.iter().any(|entry| entry.strip_suffix('=') == Some(name))
}

fn parse_long<'w>(
    spec: &Spec,
    long: &str,
    args: &mut impl Iterator<Item = &'w Word>,
    parsed: &mut Parsed<'w>,
) -> Option<()> {
    let (name, attached) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
    let entry = spec.long.iter().find(|entry| entry.trim_end_matches(['=', '?', '@']) == name)?;
    let value = match (entry.chars().next_back()?, attached) {
        ('=' | '@' | '?', Some(value)) => Some(value.to_owned()),
        ('=' | '@', None) => Some(args.next()?.as_literal()?.to_owned()),
        ('?', None) => None,
        (_, None) => None,
        (_, Some(_)) => return None,
    };
    if let Some(file) = value.as_ref().filter(|_| entry.ends_with('@')) {
        parsed.files.push(PathOperand::literal(file));
    }
    parsed.options.push((format!("--{name}"), value));
    Some(())
}

fn parse_short<'w>(
    spec: &Spec,
    text: &str,
    args: &mut impl Iterator<Item = &'w Word>,
    parsed: &mut Parsed<'w>,
) -> Option<()> {
    let mut letters = text.chars();
    letters.next();
    while let Some(letter) = letters.next() {
        if spec.flags.contains(letter) {
            parsed.options.push((format!("-{letter}"), None));
            continue;
        }
        let is_file = spec.files.contains(letter);
        if !is_file && !spec.valued.contains(letter) {
            return None;
        }
        let attached = letters.as_str();
        let value = if attached.is_empty() { args.next()?.as_literal()? } else { attached };
        if is_file {
            parsed.files.push(PathOperand::literal(value));
        }
        parsed.options.push((format!("-{letter}"), Some(value.to_owned())));
        return Some(());
    }
    Some(())
}

/// The findings for a program of the read-only table.
pub(super) fn read_only(spec: &Spec, args: &[Word]) -> Findings {
    let parsed = parse(spec, args)?;
    let recursive = spec.recursive.iter().any(|option| *option == "always" || parsed.has(option));
    let has_pattern =
        ["-e", "-f", "--regexp", "--file", "--files", "--type-list"].iter().any(|option| parsed.has(option));
    let mut operands = parsed.operands.as_slice();
    match spec.operands {
        Operands::Text(max) if operands.len() <= max => operands = &[],
        Operands::Files(max)
            if operands.len() <= max && operands.iter().all(|w| max == usize::MAX || w.is_literal()) => {}
        Operands::Text(_) | Operands::Files(_) => return None,
        Operands::Here => {}
        Operands::Pattern | Operands::PatternHere if has_pattern => {}
        // A pattern of file names may become both the pattern and the files.
        Operands::Pattern | Operands::PatternHere if operands.first().is_some_and(|w| !w.is_literal()) => {}
        Operands::Pattern | Operands::PatternHere => operands = operands.get(1..)?,
    }
    let mut reads = parsed.files.clone();
    if operands.is_empty() {
        // To the shell a pattern is a path even where the program takes text.
        let patterns = parsed.operands.iter().filter(|w| !w.is_literal());
        reads.extend(patterns.map(|w| PathOperand::operand(w, false)));
    }
    for operand in operands.iter().filter(|w| w.text() != "-") {
        if operand.text().is_empty() {
            return None;
        }
        reads.push(PathOperand::operand(operand, recursive));
    }
    let here = matches!(spec.operands, Operands::Here | Operands::PatternHere)
        || (recursive && spec.operands == Operands::Pattern);
    if here && operands.is_empty() {
        reads.push(PathOperand::working_directory(recursive));
    }
    Some(Classification::reading(reads))
}

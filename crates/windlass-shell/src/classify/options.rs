//! Options and operands of read-only programs against their table entries.

use std::iter::Peekable;

use super::effect::{Classification, Findings, PathOperand};
use crate::Word;

/// Options and operands with which a program changes nothing.
pub(super) struct ProgramSpec {
    pub(super) name: &'static str,
    pub(super) options: Options,
    pub(super) operands: OperandKind,
    /// Options that make it descend into directories, as words.
    pub(super) recursive: &'static [&'static str],
    pub(super) syntax: Syntax,
}

/// The options that a program may be given.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// Short options without a value.
    pub(super) flags: &'static str,
    /// Short options with a value, attached or the next word.
    pub(super) valued: &'static str,
    /// Short options whose value, if there is one, is attached: they never take the next word.
    pub(super) optional: &'static str,
    /// Short options whose value is a file that is read.
    pub(super) files: &'static str,
    /// Long options, each with a mark for its value: see [`OptionValue::of`].
    pub(super) long: &'static [&'static str],
    /// Options that are known to take the next word whatever it begins with.
    pub(super) dashed: &'static [&'static str],
}

/// Peculiarities of a program's option syntax.
#[derive(Clone, Copy)]
pub(super) struct Syntax {
    /// `true` if the program takes `-NUM`.
    pub(super) number: bool,
    /// `true` if the value of a short option is the next word even if letters follow the option.
    pub(super) apart: bool,
    /// `true` if all words behind the first operand are operands too, even with a dash.
    pub(super) ordered: bool,
    /// `true` if a negative number is an operand.
    pub(super) negative: bool,
    /// `true` if `--` does not end the options.
    pub(super) endless: bool,
}

/// Form of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionValue {
    /// `name`: none.
    None,
    /// `name=`: attached or the next word.
    Next,
    /// `name@`: the same, and it is a file that is read.
    File,
    /// `name?`: attached or none.
    Optional,
    /// `name:`: attached. Alone the program refuses it.
    Attached,
    /// `name+`: attached or the next word; none where no word follows.
    Last,
    /// `name==`: the next two words.
    Two,
}

impl OptionValue {
    /// Returns the name and the value of an entry of [`Options::long`].
    pub(super) fn of(entry: &'static str) -> (&'static str, Self) {
        let marks = [
            ("==", Self::Two),
            ("=", Self::Next),
            ("@", Self::File),
            ("?", Self::Optional),
            (":", Self::Attached),
            ("+", Self::Last),
        ];
        let marked = marks.iter().find_map(|(mark, value)| Some((entry.strip_suffix(mark)?, *value)));
        marked.unwrap_or((entry, Self::None))
    }
}

/// Kind of the operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandKind {
    /// At most so many words which are not paths.
    Text(usize),
    /// At most so many files.
    Files(usize),
    /// Files or directories; without operands, the working directory.
    Here,
    /// A pattern, unless `-e` or `-f` gave it, then files.
    Pattern,
    /// Like `Pattern`, with the working directory for no file; `--files` leaves out the pattern.
    PatternHere,
}

impl ProgramSpec {
    pub(super) const fn new(
        name: &'static str,
        flags: &'static str,
        valued: &'static str,
        operands: OperandKind,
    ) -> Self {
        let options = Options { flags, valued, optional: "", files: "", long: &[], dashed: &[] };
        let syntax = Syntax { number: false, apart: false, ordered: false, negative: false, endless: false };
        Self { name, options, operands, recursive: &[], syntax }
    }

    pub(super) const fn long(self, long: &'static [&'static str]) -> Self {
        Self { options: Options { long, ..self.options }, ..self }
    }

    pub(super) const fn optional(self, optional: &'static str) -> Self {
        Self { options: Options { optional, ..self.options }, ..self }
    }

    pub(super) const fn dashed(self, dashed: &'static [&'static str]) -> Self {
        Self { options: Options { dashed, ..self.options }, ..self }
    }

    pub(super) const fn apart(self) -> Self {
        Self { syntax: Syntax { apart: true, ..self.syntax }, ..self }
    }

    pub(super) const fn ordered(self) -> Self {
        Self { syntax: Syntax { ordered: true, ..self.syntax }, ..self }
    }

    pub(super) const fn negative(self) -> Self {
        Self { syntax: Syntax { negative: true, ..self.syntax }, ..self }
    }

    pub(super) const fn endless(self) -> Self {
        Self { syntax: Syntax { endless: true, ..self.syntax }, ..self }
    }

    pub(super) const fn files(self, files: &'static str) -> Self {
        Self { options: Options { files, ..self.options }, ..self }
    }

    pub(super) const fn recursive(self, recursive: &'static [&'static str]) -> Self {
        Self { recursive, ..self }
    }

    pub(super) const fn number(self) -> Self {
        Self { syntax: Syntax { number: true, ..self.syntax }, ..self }
    }
}

/// Arguments sorted into options and operands.
#[derive(Default)]
pub(super) struct ParsedOptions<'w> {
    pub(super) operands: Vec<&'w Word>,
    /// Files named by options, and patterns that stand in the place of an option: without a match they are the option.
    pub(super) files: Vec<PathOperand>,
    /// Options in canonical form: `-x` or `--name`, with their values.
    pub(super) options: Vec<(String, Option<String>)>,
    /// Values that are words of their own and stand behind an operand. To a version of the program whose options end
    /// at the first operand they are operands too.
    late: Vec<&'w Word>,
    /// The number of operands before `--`.
    ended: Option<usize>,
}

impl ParsedOptions<'_> {
    /// Returns the path of one of the operands.
    pub(super) fn operand(&self, word: &Word, recursive: bool) -> PathOperand {
        let path = PathOperand::operand(word, recursive);
        PathOperand { option: path.option && self.is_open(word), ..path }
    }

    /// Returns `true` if an operand stands where options may stand too.
    pub(super) fn is_open(&self, word: &Word) -> bool {
        let behind = self.ended.and_then(|ended| self.operands.get(ended..)).unwrap_or_default();
        !behind.iter().any(|operand| std::ptr::eq(*operand, word))
    }

    pub(super) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| name == option)
    }

    /// Returns the values that were given to one of the options.
    pub(super) fn values<'p>(&'p self, names: &'p [&str]) -> impl Iterator<Item = &'p str> {
        let given = self.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
        given.filter_map(|(_, value)| value.as_deref())
    }

    /// Returns the words that another version of the program takes for further files.
    pub(super) fn late_files(&self) -> impl Iterator<Item = PathOperand> {
        self.late.iter().map(|word| PathOperand::operand(word, false))
    }
}

/// Sorts the arguments; `None` if one is not covered by the table entry.
pub(super) fn parse<'w>(spec: &ProgramSpec, args: &'w [Word]) -> Option<ParsedOptions<'w>> {
    let mut parsed = ParsedOptions::default();
    let mut args = args.iter().peekable();
    let mut options_end = false;
    while let Some(word) = args.next() {
        let text = word.text();
        if !word.is_literal() {
            // The mark of a pattern tells the caller about its matches: see `PathOperand::option`.
            if options_end || !word.literal_prefix().starts_with('-') {
                parsed.operands.push(word);
            } else {
                parsed.options.push(valued_option(spec, word)?);
                parsed.files.push(PathOperand::operand(word, false));
            }
        } else if options_end || text == "-" || !text.starts_with('-') || (spec.syntax.negative && is_negative(text)) {
            parsed.operands.push(word);
        } else if spec.syntax.ordered && !parsed.operands.is_empty() {
            // A file of such a name, or an option to another version of the program.
            return None;
        } else if text == "--" {
            options_end = !spec.syntax.endless;
            options_end.then_some(())?;
            parsed.ended = Some(parsed.operands.len());
        } else if let Some(long) = text.strip_prefix("--") {
            parse_long(spec, long, &mut args, &mut parsed)?;
        } else if spec.syntax.number && text.chars().skip(1).all(|c| c.is_ascii_digit()) {
            parsed.options.push(("-NUM".to_owned(), None));
        } else {
            parse_short(spec, text, &mut args, &mut parsed)?;
        }
    }
    Some(parsed)
}

/// Returns `true` for numbers such as `-5`, `-0.5`.
fn is_negative(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or_default();
    digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Returns the option and value of `--include=*.rs`, which has no match unless a file has the name of an option.
fn valued_option(spec: &ProgramSpec, word: &Word) -> Option<(String, Option<String>)> {
    let (name, value) = word.text().strip_prefix("--")?.split_once('=')?;
    let mut known = spec.options.long.iter().map(|entry| OptionValue::of(entry));
    let is_known = known.any(|known| known == (name, OptionValue::Next));
    // In a path the name of the option would be one of a directory.
    (is_known && !value.contains('/')).then(|| (format!("--{name}"), Some(value.to_owned())))
}

/// Returns the word behind an option as its value. A program that does not take it as one would read a word that begins
/// with a dash as another option, so such a word is a value only of options that are known to take any.
fn next_value<'w>(
    spec: &ProgramSpec,
    option: &str,
    args: &mut impl Iterator<Item = &'w Word>,
    parsed: &mut ParsedOptions<'w>,
) -> Option<&'w str> {
    let word = args.next()?;
    let value = word.as_literal()?;
    if !parsed.operands.is_empty() {
        parsed.late.push(word);
    }
    (value == "-" || !value.starts_with('-') || spec.options.dashed.contains(&option)).then_some(value)
}

fn parse_long<'w>(
    spec: &ProgramSpec,
    long: &str,
    args: &mut Peekable<impl Iterator<Item = &'w Word>>,
    parsed: &mut ParsedOptions<'w>,
) -> Option<()> {
    let (name, attached) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
    let option = format!("--{name}");
    let (_, takes) = spec.options.long.iter().map(|entry| OptionValue::of(entry)).find(|(known, _)| *known == name)?;
    let value = match (takes, attached) {
        (
            OptionValue::Next | OptionValue::File | OptionValue::Optional | OptionValue::Attached | OptionValue::Last,
            Some(value),
        ) => Some(value),
        (OptionValue::Next | OptionValue::File, None) => Some(next_value(spec, &option, args, parsed)?),
        (OptionValue::Last, None) if args.peek().is_some() => Some(next_value(spec, &option, args, parsed)?),
        (OptionValue::Two, None) => {
            next_value(spec, &option, args, parsed)?;
            Some(next_value(spec, &option, args, parsed)?)
        }
        (OptionValue::None | OptionValue::Optional | OptionValue::Last, None) => None,
        (OptionValue::None | OptionValue::Two, Some(_)) | (OptionValue::Attached, None) => return None,
    };
    if let Some(file) = value.filter(|_| takes == OptionValue::File) {
        parsed.files.push(PathOperand::literal(file));
    }
    parsed.options.push((option, value.map(str::to_owned)));
    Some(())
}

fn parse_short<'w>(
    spec: &ProgramSpec,
    text: &str,
    args: &mut Peekable<impl Iterator<Item = &'w Word>>,
    parsed: &mut ParsedOptions<'w>,
) -> Option<()> {
    let mut letters = text.chars();
    letters.next();
    while let Some(letter) = letters.next() {
        let option = format!("-{letter}");
        if spec.options.flags.contains(letter) {
            parsed.options.push((option, None));
            continue;
        }
        let attached = Some(letters.as_str()).filter(|value| !value.is_empty());
        if spec.options.optional.contains(letter) {
            parsed.options.push((option, attached.map(str::to_owned)));
            return Some(());
        }
        let is_file = spec.options.files.contains(letter);
        if !(is_file || spec.options.valued.contains(letter)) || (spec.syntax.apart && attached.is_some()) {
            return None;
        }
        let value = match attached {
            Some(value) => value,
            None => next_value(spec, &option, args, parsed)?,
        };
        if is_file {
            parsed.files.push(PathOperand::literal(value));
        }
        parsed.options.push((option, Some(value.to_owned())));
        return Some(());
    }
    Some(())
}

/// The findings for a program of the read-only table.
pub(super) fn read_only(spec: &ProgramSpec, args: &[Word]) -> Findings {
    let parsed = parse(spec, args)?;
    let recursive = spec.recursive.iter().any(|option| *option == "always" || parsed.has(option));
    let has_pattern =
        ["-e", "-f", "--regexp", "--file", "--files", "--type-list"].iter().any(|option| parsed.has(option));
    let mut operands = parsed.operands.as_slice();
    match spec.operands {
        // A pattern may become many words.
        OperandKind::Text(max) | OperandKind::Files(max)
            if operands.len() > max || (max < usize::MAX && operands.iter().any(|w| !w.is_literal())) =>
        {
            return None;
        }
        OperandKind::Text(_) => operands = &[],
        OperandKind::Files(_) => {}
        OperandKind::Here => {}
        OperandKind::Pattern | OperandKind::PatternHere if has_pattern => {}
        // A pattern of file names may become both the pattern and the files.
        OperandKind::Pattern | OperandKind::PatternHere if operands.first().is_some_and(|w| !w.is_literal()) => {}
        OperandKind::Pattern | OperandKind::PatternHere => operands = operands.get(1..)?,
    }
    let mut reads = parsed.files.clone();
    if matches!(spec.operands, OperandKind::Files(_) | OperandKind::Here) {
        reads.extend(parsed.late_files());
    }
    if operands.is_empty() {
        // To the shell a pattern is a path even where the program takes text.
        let patterns = parsed.operands.iter().filter(|w| !w.is_literal());
        reads.extend(patterns.map(|w| parsed.operand(w, false)));
    }
    for operand in operands.iter().filter(|w| w.text() != "-") {
        if operand.text().is_empty() {
            return None;
        }
        reads.push(parsed.operand(operand, recursive));
    }
    let here = matches!(spec.operands, OperandKind::Here | OperandKind::PatternHere)
        || (recursive && spec.operands == OperandKind::Pattern);
    if here && operands.is_empty() {
        reads.push(PathOperand::working_directory(recursive));
    }
    Some(Classification::reading(reads))
}

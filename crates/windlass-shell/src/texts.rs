//! Texts of other languages among the arguments of commands, as far as they name files or commands of the shell.
//!
//! For the deny side: the texts found may be run, read or written. A missing find proves nothing.

use crate::word::Word;

/// The system opens no longer path.
const MAX_PATH: usize = 4096;

/// Commands of the shell in one text are not looked for at more places than this: the rest of the text belongs to each.
const MAX_PLACES: usize = 16;

/// The form of the commands of a program.
struct Language {
    programs: &'static [&'static str],
    /// Beginnings of statements, in lower case, that name files or commands.
    statements: &'static [&'static str],
    /// Parts of statements that do.
    parts: &'static [&'static str],
    /// Behind one of these stands a command of the shell.
    shell: &'static [&'static str],
}

const LANGUAGES: &[Language] = &[
    // Their options show where a text is a program.
    Language {
        programs: &["ex", "less", "more", "most", "nvim", "vi", "view", "vim", "vimdiff"],
        statements: &[],
        parts: &[],
        shell: &["!", "term ", "terminal "],
    },
    Language {
        programs: &["duckdb", "sqlite", "sqlite3"],
        statements: &[
            ".ar", ".ba", ".cd", ".clo", ".ex", ".im", ".lo", ".on", ".op", ".ou", ".rea", ".res", ".sa", ".sh", ".sy",
            ".tr", ".www", "attach", "copy", "export", "import", "install", "load", "vacuum",
        ],
        parts: &["edit(", "load_extension", "read_", "readfile", "writefile"],
        shell: &[".sh ", ".she ", ".shel ", ".shell ", ".sy ", ".sys ", ".syst ", ".syste ", ".system ", "|"],
    },
    Language {
        programs: &["psql"],
        statements: &["\\!", "\\copy", "\\e", "\\g", "\\i", "\\lo_", "\\o", "\\s ", "\\w", "copy"],
        parts: &["lo_export", "lo_import", "pg_read"],
        shell: &["\\!", "|", "program '"],
    },
    Language {
        programs: &["mariadb", "mysql"],
        statements: &["\\!", "\\.", "\\p", "\\t", "pager", "source", "system", "tee"],
        parts: &["dumpfile", "infile", "load_file", "outfile"],
        shell: &["\\!", "\\p ", "pager ", "system "],
    },
];

fn language(program: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.programs.contains(&program))
}

/// Returns `true` if an argument of a program is a text in its own language that names files or commands.
pub(crate) fn has_commands(program: &str, args: &[Word]) -> bool {
    let Some(language) = language(program) else { return false };
    args.iter().any(|arg| {
        let text = arg.text().to_ascii_lowercase();
        let begins =
            |statement: &str| language.statements.iter().any(|start| statement.trim_start().starts_with(start));
        text.split(['\n', ';']).any(begins) || language.parts.iter().any(|part| text.contains(part))
    })
}

/// Returns `true` if all words of the texts of a program may be names of files.
pub(crate) fn names_files(program: &str) -> bool {
    language(program).is_some()
}

/// Returns the commands of the shell in the arguments of a program that has them.
pub(crate) fn shell_commands<'w>(program: &str, args: &'w [Word]) -> Vec<&'w str> {
    let shell = language(program).map_or(&[][..], |language| language.shell);
    let behind = |text: &'w str, mark: &'static str| {
        let places = text.match_indices(mark).take(MAX_PLACES);
        places.filter_map(move |(at, mark)| text.get(at.saturating_add(mark.len())..))
    };
    args.iter().flat_map(|arg| shell.iter().flat_map(move |mark| behind(arg.text(), mark))).collect()
}

/// Returns the words of a text, without signs that a language has around them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| c.is_whitespace() || "\"'|(),;=<>`".contains(c));
    parts.map(|part| part.trim_start_matches(['+', ':', '!'])).filter(|part| !part.is_empty())
}

/// Returns the file that `TZ="…"` in a text for a date names.
pub(crate) fn zone(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once("TZ=")?;
    let name = behind.trim_start_matches('"');
    Some(name.split('"').next()?.trim_start_matches(':'))
}

/// Returns the rest of the line behind each letter that may be a command or a flag of sed.
fn sed_places<'t>(script: &'t str, letters: &'static [char]) -> impl Iterator<Item = &'t str> {
    script.match_indices(letters).filter_map(|(at, letter)| {
        let before = script.get(..at)?.chars().next_back();
        let is_name = |c: char| c.is_ascii_alphabetic() && !matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | 'e');
        if before.is_some_and(is_name) {
            return None;
        }
        let after = script.get(at.saturating_add(letter.len())..)?;
        Some(after.split('\n').next()?.trim_start_matches([' ', '\t']))
    })
}

/// Returns the texts behind letters that may be commands of sed.
pub(crate) fn sed_commands<'t>(script: &'t str, letters: &'static [char]) -> impl Iterator<Item = &'t str> {
    sed_places(script, letters).filter(|text| !text.is_empty() && text.len() <= MAX_PATH)
}

/// Returns `true` if a script of sed may run text that it has made of its input.
pub(crate) fn sed_may_run(script: &str) -> bool {
    sed_places(script, &['e']).next().is_some()
}

/// A string of an awk program, its escapes replaced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AwkString {
    pub(crate) text: String,
    /// `true` if output goes to a file of this name.
    pub(crate) is_written: bool,
}

/// Returns `true` if an awk program may run commands of the shell: the results of its string operations are unknown.
pub(crate) fn awk_runs_commands(program: &str) -> bool {
    program.replace("||", "").contains('|') || program.contains("system") || program.contains("getline")
}

/// Returns the strings of an awk program. Where a pattern begins and a comment ends is not the same to all readings, so
/// the strings of each are there.
pub(crate) fn awk_strings(program: &str) -> Vec<AwkString> {
    let readings = [AwkReading::Plain, AwkReading::Patterns, AwkReading::PatternsBehindParentheses];
    let mut strings: Vec<AwkString> = readings.iter().flat_map(|reading| reading.strings(program)).collect();
    strings.sort_unstable();
    strings.dedup();
    strings
}

/// The meaning of `/` and `#`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AwkReading {
    /// Characters like others.
    Plain,
    /// The beginnings of a pattern, where an operand is due, and of a comment.
    Patterns,
    /// The same, also behind a closing parenthesis.
    PatternsBehindParentheses,
}

impl AwkReading {
    fn strings(self, program: &str) -> Vec<AwkString> {
        let mut found: Vec<AwkString> = Vec::new();
        // Strings beside each other are one: those since the last other sign.
        let mut run: Vec<AwkString> = Vec::new();
        let mut rest = program;
        let mut before = None;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = match c {
                '"' => {
                    let (text, after) = awk_string(after);
                    run.push(AwkString { text, is_written: before == Some('>') });
                    before = before.filter(|c| *c == '>').or(Some('"'));
                    after
                }
                '#' if self != Self::Plain => after.find('\n').and_then(|end| after.get(end..)).unwrap_or_default(),
                '/' if self.is_pattern(before) => after_pattern(after),
                c if c.is_whitespace() => after,
                _ => {
                    end_run(&mut run, &mut found);
                    before = Some(c);
                    after
                }
            };
        }
        end_run(&mut run, &mut found);
        found
    }

    fn is_pattern(self, before: Option<char>) -> bool {
        let is_value = |c: char| c.is_alphanumeric() || matches!(c, '_' | ']' | '"' | '$');
        match (self, before) {
            (Self::Plain, _) => false,
            (_, None) => true,
            (Self::Patterns, Some(')')) => false,
            (_, Some(c)) => !is_value(c),
        }
    }
}

/// Adds strings that stand beside each other, and their concatenation.
fn end_run(run: &mut Vec<AwkString>, found: &mut Vec<AwkString>) {
    if let [first, _, ..] = run.as_slice() {
        let text = run.iter().map(|string| string.text.as_str()).collect();
        found.push(AwkString { text, is_written: first.is_written });
    }
    found.append(run);
}

/// Returns the text behind the pattern that a `/` begins; if none ends on the line, the text behind the sign.
fn after_pattern(text: &str) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => break,
            '/' => return text.get(at.saturating_add(1)..).unwrap_or_default(),
            _ => {}
        }
    }
    text
}

/// Reads a string up to its end. Returns its text with escapes replaced, and the rest.
fn awk_string(text: &str) -> (String, &str) {
    let mut string = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some(digit @ '0'..='7') => string.push(number(digit.to_digit(8), &mut chars, 8, 2)),
                Some('x') => string.push(number(None, &mut chars, 16, 2)),
                Some('n') => string.push('\n'),
                Some('t') => string.push('\t'),
                Some('\n') | None => {}
                Some(c) => string.push(c),
            },
            c => string.push(c),
        }
    }
    (string, chars.as_str())
}

/// Returns the character that digits name: at most so many more.
fn number(first: Option<u32>, chars: &mut std::str::Chars<'_>, radix: u32, more: usize) -> char {
    let mut value = first.unwrap_or_default();
    for _ in 0..more {
        let Some(digit) = chars.as_str().chars().next().and_then(|c| c.to_digit(radix)) else { break };
        chars.next();
        value = value.saturating_mul(radix).saturating_add(digit);
    }
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(program: &str) -> Vec<(String, bool)> {
        awk_strings(program).into_iter().map(|string| (string.text, string.is_written)).collect()
    }

    #[test]
    fn strings_of_awk_are_found_in_every_reading() {
        for (program, expected) in [
            ("{print > \"a b\"}", "a b"),
            ("{print | \"tee x\"}", "tee x"),
            ("/\"/ {print | \"tee x\"}", "tee x"),
            ("{x = 4 / 2; print | \"tee x\"; y = 1 / 2}", "tee x"),
            ("if (a) /\"/; {print | \"tee x\"}", "tee x"),
            ("# \"\n{print | \"tee x\"}", "tee x"),
            ("{print | \"tee\" \" x\"}", "tee x"),
            ("{print | \"t\\145e \\x78\"}", "tee x"),
            ("{print | \"tee \\\"x\\\"\"}", "tee \"x\""),
            ("BEGIN{\"cat x\" | getline}", "cat x"),
        ] {
            assert!(strings(program).iter().any(|(text, _)| text == expected), "{program}: {:?}", strings(program));
        }
        assert!(strings("{print > \"a\" \"b\"}").contains(&("ab".to_owned(), true)));
        assert!(strings("{print >> \"\\056git\"}").contains(&(".git".to_owned(), true)));
        assert_eq!(strings("{print $1}"), []);
    }

    #[test]
    fn long_programs_of_awk_take_little_time() {
        for part in ["\"a\" ", "\"", "\"a\";", "/\"", "\"\\", "\"a\"/"] {
            let strings = awk_strings(&part.repeat(200_000 / part.len()));
            let chars: usize = strings.iter().map(|string| string.text.len()).sum();
            assert!(chars <= 1_200_000, "{part} {chars}");
        }
    }

    #[test]
    fn programs_of_awk_that_run_commands() {
        for program in
            ["{print | \"x\"}", "{print |& \"x\"}", "BEGIN{system(\"x\")}", "BEGIN{\"x\" | getline}", "{getline < f}"]
        {
            assert!(awk_runs_commands(program), "{program}");
        }
        for program in ["{print > \"x\"}", "$1 || $2 {print > \"x\"}"] {
            assert!(!awk_runs_commands(program), "{program}");
        }
    }

    #[test]
    fn zones_of_dates_are_files() {
        assert_eq!(zone("TZ=\":/etc/shadow\" now"), Some("/etc/shadow"));
        assert_eq!(zone("TZ=\"Europe/Berlin\" 9:00"), Some("Europe/Berlin"));
        assert_eq!(zone("2024-01-01"), None);
    }
}

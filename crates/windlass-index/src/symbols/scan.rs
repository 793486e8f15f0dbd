//! Finds the definitions of a source, line by line: without a parser, so a name in a comment over several lines may be
//! found too.

use super::Symbol;

/// Maximum number of symbols of one source.
const MAX_SYMBOLS: usize = 400;
/// Maximum length of a scanned line, and of a name, in bytes.
const MAX_LINE_BYTES: usize = 400;
const MAX_NAME_BYTES: usize = 80;

/// Syntax of definitions in a family of languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Rust,
    Script,
    Python,
    Go,
    Ruby,
    /// Java, C#, Kotlin, Scala, Swift, PHP, Dart: words for types and some functions.
    Typed,
    C,
}

impl Style {
    /// Style of a file, by its name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        Some(match ending {
            "rs" => Self::Rust,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => Self::Script,
            "py" | "pyi" => Self::Python,
            "go" => Self::Go,
            "rb" | "ex" | "exs" | "lua" => Self::Ruby,
            "java" | "cs" | "kt" | "kts" | "scala" | "swift" | "php" | "dart" => Self::Typed,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "m" | "mm" => Self::C,
            _ => return None,
        })
    }

    /// Words that may precede a definition.
    fn modifiers(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["pub", "async", "unsafe", "const", "extern", "default"],
            Self::Script => &["export", "default", "declare", "async", "abstract"],
            Self::Python => &["async"],
            Self::Go => &[],
            Self::Ruby => &["local"],
            Self::Typed => &[
                "public",
                "private",
                "protected",
                "internal",
                "static",
                "final",
                "abstract",
                "open",
                "sealed",
                "override",
                "data",
                "suspend",
                "inline",
                "partial",
                "export",
                "async",
                "case",
                "implicit",
                "fileprivate",
                "readonly",
                "mutating",
                "default",
            ],
            Self::C => &["static", "inline", "typedef", "export"],
        }
    }

    /// Words before a defined name.
    fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["fn", "struct", "enum", "trait", "mod", "type", "union", "macro_rules!", "static", "const"],
            Self::Script => {
                &["function", "function*", "class", "interface", "type", "enum", "namespace", "const", "let", "var"]
            }
            Self::Python => &["def", "class"],
            Self::Go => &["func", "type", "const", "var"],
            Self::Ruby => &["def", "class", "module", "defmodule", "defp", "defmacro", "function"],
            Self::Typed => &[
                "class",
                "interface",
                "enum",
                "record",
                "struct",
                "trait",
                "object",
                "protocol",
                "extension",
                "fun",
                "func",
                "function",
                "def",
                "namespace",
                "typealias",
            ],
            Self::C => &["struct", "class", "enum", "union", "namespace", "#define", "@interface", "@implementation"],
        }
    }
}

/// Names that a source defines, in order.
pub(crate) fn scan(style: Style, text: &str) -> Vec<Symbol> {
    let mut found: Vec<Symbol> = Vec::new();
    for (line, number) in text.lines().zip(1_u32..) {
        if found.len() >= MAX_SYMBOLS {
            break;
        }
        if line.len() > MAX_LINE_BYTES {
            continue;
        }
        let name = name_after_keyword(style, line).or_else(|| function_name(style, line));
        if let Some(name) = name.filter(|name| name.len() <= MAX_NAME_BYTES) {
            found.push(Symbol { line: number, name: name.to_owned() });
        }
    }
    found
}

/// Name after a defining word.
fn name_after_keyword(style: Style, line: &str) -> Option<&str> {
    let is_indented = line.starts_with([' ', '\t']);
    let mut rest = line.trim_start();
    loop {
        let (word, after) = rest.split_once([' ', '\t'])?;
        let after = after.trim_start();
        // `pub(crate)` and the like.
        let word_start = word.split('(').next().unwrap_or_default();
        if style.keywords().contains(&word) && !(style.modifiers().contains(&word) && begins_with_keyword(style, after))
        {
            // Indented values are usually local to a function.
            let is_value = matches!(word, "const" | "let" | "var" | "static" | "type");
            return if is_value && is_indented && style != Style::Rust { None } else { name_of(style, word, after) };
        }
        if !style.modifiers().contains(&word_start) {
            return None;
        }
        rest = after;
    }
}

fn begins_with_keyword(style: Style, text: &str) -> bool {
    text.split([' ', '\t'])
        .next()
        .is_some_and(|word| style.keywords().contains(&word) || style.modifiers().contains(&word))
}

fn name_of<'a>(style: Style, word: &str, after: &'a str) -> Option<&'a str> {
    // A Go method has its receiver first; a Ruby definition may begin with `self.`.
    let after = match style {
        Style::Go if word == "func" && after.starts_with('(') => after.split_once(')')?.1.trim_start(),
        Style::Ruby => after.strip_prefix("self.").unwrap_or(after),
        _ => after,
    };
    let after = after.strip_prefix("mut ").unwrap_or(after);
    let name = identifier(after)?;
    // `struct a *b;` declares, `struct a {` and `struct a` define.
    let following = after.get(name.len()..).unwrap_or_default().trim_start();
    let declares = style == Style::C
        && !word.starts_with(['#', '@'])
        && !(following.is_empty() || following.starts_with(['{', ':']));
    (!declares).then_some(name)
}

/// Name of a function without a defining word: in C at the beginning of a line, in other languages of this kind a
/// method.
fn function_name(style: Style, line: &str) -> Option<&str> {
    let is_open = |line: &str| line.ends_with('{') || line.ends_with(')') || line.ends_with(',');
    let code = line.trim_end();
    match style {
        Style::C if line.starts_with(|c: char| c.is_alphabetic() || c == '_') && is_open(code) => {}
        Style::Typed if line.starts_with([' ', '\t']) && code.ends_with('{') => {}
        _ => return None,
    }
    let (before, _) = code.split_once('(')?;
    let separator = before.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':' | '~')));
    let name = before.get(separator.map_or(0, |separator| separator.saturating_add(1))..)?;
    let kind = before.get(..before.len().saturating_sub(name.len()))?.trim();
    const NOT_TYPES: [&str; 6] = ["return", "else", "new", "throw", "await", "case"];
    let is_typed = !kind.is_empty()
        && !kind.contains(['=', '.', '(', '"', '!', '|'])
        && !NOT_TYPES.iter().any(|word| kind.split_whitespace().any(|part| part == *word));
    (is_typed && identifier(name).is_some()).then_some(name)
}

fn identifier(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    if !(first.is_alphabetic() || matches!(first, '_' | '$')) {
        return None;
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '?' | '!')));
    let name = text.get(..end.unwrap_or(text.len()))?.trim_end_matches(['?', '!']);
    (name.len() > 1).then_some(name)
}

#[cfg(test)]
mod tests;

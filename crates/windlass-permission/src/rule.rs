//! Rules as text.

use crate::RuleError;
use windlass_types::{RuleValue, mcp_name};

/// A rule in its two parts: `Tool` or `Tool(specifier)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ParsedRule {
    text: String,
    tool: String,
    specifier: Option<String>,
}

impl ParsedRule {
    /// Returns the rule as it was written, blanks around it removed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tool's canonical name, or a pattern of names with `*`.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the text in the parentheses, escapes removed; `None` for a rule on the whole tool, also when it is
    /// written `Tool(*)`.
    pub fn specifier(&self) -> Option<&str> {
        self.specifier.as_deref()
    }

    /// Returns the two parts as updates carry them.
    pub fn value(&self) -> RuleValue {
        match &self.specifier {
            None => RuleValue::tool(&self.tool),
            Some(specifier) => RuleValue::new(&self.tool, specifier),
        }
    }

    /// Returns a rule from its two parts; the content has no escapes.
    pub(crate) fn from_value(value: &RuleValue) -> Result<Self, RuleError> {
        let text = rule_text(value);
        check_name(&text, &value.tool_name)?;
        let content = value.rule_content.as_ref();
        let specifier = content.map(|content| check_specifier(&text, &value.tool_name, content.clone())).transpose()?;
        let specifier = specifier.filter(|content| !is_whole(content));
        Ok(Self { text, tool: crate::names::canonical(&value.tool_name).to_owned(), specifier })
    }
}

fn is_whole(content: &str) -> bool {
    content.trim() == "*"
}

/// Checks a specifier. Empty parentheses could mean every call or none.
fn check_specifier(text: &str, name: &str, content: String) -> Result<String, RuleError> {
    if content.trim().is_empty() {
        let problem = format!("has nothing in its parentheses: write `{name}` for every call, or say for which");
        return Err(RuleError::new(text, problem));
    }
    Ok(content)
}

fn check_name(text: &str, name: &str) -> Result<(), RuleError> {
    if name.is_empty() {
        return Err(RuleError::new(text, "names no tool: write `Tool` or `Tool(specifier)`"));
    }
    // Servers and their tools are named by others, with characters of any kind.
    let is_odd = |c: &char| match name.starts_with(mcp_name::PREFIX) {
        true => c.is_control() || *c == ')',
        false => !(c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '.' | ':' | '/')),
    };
    match name.chars().find(is_odd) {
        None => Ok(()),
        Some(c) => {
            Err(RuleError::new(text, format!("has {c:?} in the tool's name: write `Tool` or `Tool(specifier)`")))
        }
    }
}

/// Parses `Tool` or `Tool(specifier)`. In the parentheses `\(`, `\)` and `\\` mean the character after the backslash.
/// Old names of tools become their present ones.
///
/// # Errors
/// There is no tool name, it has characters that no name has, or the parentheses are empty or do not close at the end.
pub fn parse_rule(text: &str) -> Result<ParsedRule, RuleError> {
    let text = text.trim();
    let (name, inner) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => (name, Some(rest)),
    };
    check_name(text, name)?;
    let specifier = match inner {
        None => None,
        Some(rest) => {
            let unclosed = || {
                RuleError::new(
                    text,
                    "must end with its closing parenthesis: write `Tool(specifier)`, `\\)` for one inside",
                )
            };
            let inside = rest.strip_suffix(')').ok_or_else(unclosed)?;
            let backslashes = inside.chars().rev().take_while(|c| *c == '\\').count();
            if backslashes % 2 == 1 {
                return Err(unclosed());
            }
            Some(check_specifier(text, name, unescape(inside))?).filter(|content| !is_whole(content))
        }
    };
    Ok(ParsedRule { text: text.to_owned(), tool: crate::names::canonical(name).to_owned(), specifier })
}

fn unescape(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut chars = inside.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next @ ('(' | ')' | '\\')) if c == '\\' => {
                out.push(*next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// Returns the text of a rule in the syntax of settings: the content is escaped so that [`parse_rule`] restores it.
#[must_use]
pub fn rule_text(value: &RuleValue) -> String {
    let Some(content) = &value.rule_content else { return value.tool_name.clone() };
    let mut text = format!("{}(", value.tool_name);
    for c in content.chars() {
        if matches!(c, '(' | ')' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push(')');
    text
}

/// Splits the list of a command-line flag at the commas and blanks outside parentheses.
#[must_use]
pub fn split_rules(list: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let mut rule = String::new();
    let mut depth = 0_usize;
    let mut chars = list.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if depth > 0 => {
                rule.push(c);
                rule.extend(chars.next());
                continue;
            }
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            if !rule.is_empty() {
                rules.push(std::mem::take(&mut rule));
            }
        } else {
            rule.push(c);
        }
    }
    if !rule.is_empty() {
        rules.push(rule);
    }
    rules
}

#[cfg(test)]
mod tests;

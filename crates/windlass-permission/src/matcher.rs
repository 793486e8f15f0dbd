//! Rules made ready to match.

mod below;

use crate::glob::{ANY_NAME, Glob, Reach};
use crate::network::Domain;
use crate::path::{self, PathStyle, Subject};
use crate::rule::ParsedRule;
use crate::wildcard::Wildcard;
use crate::{RuleError, RuleWarning, names};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_shell::{BashPattern, PatternProblem, parse_rule_pattern};
use windlass_types::names::{guards_of_tool, model, skill};
use windlass_types::near::nearest;
use windlass_types::secret::is_secret;
use windlass_types::{Behavior, MatchedRule, RuleOrigin, RuleSource, RuleValue, ToolSpec, mcp_name};

/// A rule that can be matched.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) text: String,
    pub(crate) value: RuleValue,
    pub(crate) behavior: Behavior,
    pub(crate) source: RuleSource,
    pub(crate) tool: ToolName,
    pub(crate) test: Test,
    /// The definition of its tool that it is bound to, if it is: see [`Policy::offer`](crate::Policy::offer).
    pub(crate) definition: Option<Arc<ToolSpec>>,
    /// `true` if the rule ends with the run.
    pub(crate) for_run: bool,
    /// Place of the rule in a file.
    pub(crate) origin: Option<Arc<RuleOrigin>>,
}

impl Rule {
    /// Returns `true` if a rule that lowers a verdict is about a tool. A rule on a whole writing tool applies to all
    /// tools that write.
    pub(crate) fn lowers(&self, tool: &str) -> bool {
        let general = || guards_of_tool(tool).any(|guard| self.tool.matches(guard));
        self.tool.matches(tool) || (matches!(self.test, Test::Whole) && general())
    }

    pub(crate) fn matched(&self) -> MatchedRule {
        let mut matched = MatchedRule::new(self.text.clone(), self.behavior, self.source);
        matched.origin = self.origin.as_deref().cloned();
        matched
    }
}

/// Tools that a rule is about.
#[derive(Debug, Clone)]
pub(crate) enum ToolName {
    /// This tool.
    Exact(String),
    /// Every tool of this server.
    Server(String),
    /// These tools and every one whose name extends one of them by `__`: rules that lower a verdict reach further.
    Stem(Vec<String>),
    Pattern(Wildcard),
}

impl ToolName {
    pub(crate) fn matches(&self, tool: &str) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.matches(tool),
            // Several edits of one file are edits.
            Self::Exact(name) => tool == name || (name == "Edit" && tool == "MultiEdit"),
            Self::Server(server) => names::server_and_tool(tool).is_some_and(|(of, _)| of == server),
            Self::Stem(names) => names.iter().any(|name| {
                tool.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
            }),
        }
    }
}

/// Condition of a rule on a call of its tool.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// No condition: every call.
    Whole,
    Command(BashPattern),
    Path(PathRule),
    Domain(Domain),
    Agent(String),
    /// The model that a call names for an agent; its normal form.
    Model(String),
    Skill {
        name: String,
        with_arguments: bool,
    },
    Field {
        name: String,
        value: Wildcard,
    },
    /// The tool does not exist here.
    Never,
}

/// Touches of a path that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every read; for deny and ask rules every write too.
    Read,
    /// Every write, by whatever tool.
    Edit,
    /// The rule's own tool only.
    Tool,
}

/// A path pattern with the place where it starts.
#[derive(Debug, Clone)]
pub(crate) struct PathRule {
    pub(crate) scope: Scope,
    start: Start,
    globs: Vec<Glob>,
    /// `true` if the rule matches at any depth of the workspace.
    anywhere: bool,
    /// `true` if the text of the pattern names a place of secrets.
    names_secrets: bool,
}

#[derive(Debug, Clone)]
enum Start {
    /// A fixed directory, by its names.
    At(Vec<String>),
    /// The start directory; for deny and ask rules every directory of the workspace.
    Workspace,
}

/// A directory of the workspace, ready for comparison.
#[derive(Debug, Clone)]
pub(crate) struct Directory {
    exact: Vec<String>,
    folded: Vec<String>,
}

impl Directory {
    pub(crate) fn new(path: &Path) -> Self {
        Self::in_style(path, PathStyle::OWN)
    }

    fn in_style(path: &Path, style: PathStyle) -> Self {
        let names = || path::names(path).iter().map(ToString::to_string).collect();
        let exact: Vec<String> = style.names(path).unwrap_or_else(names);
        let folded = exact.iter().map(|name| path::fold(name)).collect();
        Self { exact, folded }
    }

    pub(crate) fn contains(&self, subject: &Subject) -> bool {
        subject.is_sure && path::strip(&subject.exact, &self.exact).is_some()
    }

    /// Returns `true` if this is the same directory.
    pub(crate) fn is(&self, path: &Path) -> bool {
        self.exact == Self::new(path).exact
    }

    /// Returns `true` if the subject is in the directory, in any spelling.
    pub(crate) fn holds(&self, subject: &Subject) -> bool {
        !subject.is_sure || subject.spellings().iter().any(|names| path::strip(names, &self.folded).is_some())
    }
}

impl PathRule {
    /// Returns `true` if the rule matches at any depth of the workspace.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.anywhere
    }

    /// Returns `true` if the text of the pattern names a place of secrets, such as `.env`, `*.pem` or `~/.ssh/**`.
    pub(crate) fn names_secrets(&self) -> bool {
        self.names_secrets
    }

    /// Returns `true` if an allow rule covers a path: byte for byte, from the start directory. For a `tree` it is
    /// enough to cover everything in it.
    pub(crate) fn covers(&self, subject: &Subject, tree: bool, workspace: &[Directory]) -> bool {
        let start = match &self.start {
            Start::At(names) => names,
            Start::Workspace => match workspace.first() {
                Some(first) => &first.exact,
                None => return false,
            },
        };
        let covered = |names: &[String]| self.globs.iter().any(|glob| glob.reach(names) == Reach::Covers);
        path::strip(&subject.exact, start)
            .filter(|_| subject.is_sure)
            .is_some_and(|rest| covered(rest) || (tree && covered(&[rest, &[ANY_NAME.to_owned()]].concat())))
    }

    /// Returns the reach of a deny or ask rule: in any spelling, from any directory of the workspace.
    pub(crate) fn reach(&self, subject: &Subject, workspace: &[Directory]) -> Reach {
        if !subject.is_sure {
            return Reach::Covers;
        }
        let spellings = subject.spellings().iter();
        spellings.map(|names| self.reach_from(names, &[], workspace)).max().unwrap_or(Reach::No)
    }

    /// Returns the reach of the rule into the path of these names and more of them.
    fn reach_from(&self, names: &[String], more: &[Cow<'_, str>], workspace: &[Directory]) -> Reach {
        let all = || names.iter().map(String::as_str).chain(more.iter().map(AsRef::as_ref));
        let reach = |start: &[String]| {
            let shared = all().zip(start).take_while(|(name, own)| name == own).count();
            if shared == start.len() {
                return self.globs.iter().map(|glob| glob.reach(all().skip(shared))).max().unwrap_or(Reach::No);
            }
            if shared == names.len().saturating_add(more.len()) { Reach::Below } else { Reach::No }
        };
        self.starts(workspace).map(reach).max().unwrap_or(Reach::No)
    }

    /// Returns the reach for a file name pattern below a directory, whose names are folded. `None`: a pattern that
    /// cannot be read.
    pub(crate) fn reach_pattern(&self, base: &[String], patterns: Option<&[Glob]>, workspace: &[Directory]) -> Reach {
        self.starts(workspace)
            .map(|start| match path::strip(base, start) {
                Some(rest) => {
                    let Some(patterns) = patterns else { return Reach::Covers };
                    let pairs = self.globs.iter().flat_map(|own| patterns.iter().map(move |pattern| (own, pattern)));
                    pairs.map(|(own, pattern)| own.may_reach(rest, pattern)).max().unwrap_or(Reach::No)
                }
                None if path::strip(start, base).is_some() => Reach::Covers,
                None => Reach::No,
            })
            .max()
            .unwrap_or(Reach::No)
    }

    /// Returns `false` if the rule covers no file whose name one of the patterns matches.
    pub(crate) fn may_be_named(&self, names: &[Glob]) -> bool {
        self.globs.iter().any(|own| names.iter().any(|name| own.may_be_named(name)))
    }

    fn starts<'a>(&'a self, workspace: &'a [Directory]) -> impl Iterator<Item = &'a [String]> {
        let (fixed, shared) = match &self.start {
            Start::At(names) => (Some(names.as_slice()), &[][..]),
            Start::Workspace => (None, workspace),
        };
        fixed.into_iter().chain(shared.iter().map(|directory| directory.folded.as_slice()))
    }
}

/// Base for parsing the rules of one source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) source: RuleSource,
    pub(crate) behavior: Behavior,
    /// Base directory of a single leading `/`.
    pub(crate) anchor: &'a Path,
    pub(crate) start_directory: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) style: PathStyle,
}

/// Directories at the root of file systems that no project has at its own.
const ROOT_DIRECTORIES: &[&str] = &[
    "Users", "Volumes", "dev", "etc", "home", "media", "mnt", "opt", "private", "proc", "root", "run", "srv", "sys",
    "usr", "var",
];

impl Place<'_> {
    /// Returns a warning about a path behind a single slash that was meant to start at the root of the file system.
    fn start_note(&self, tool: &str, specifier: &str) -> Option<String> {
        let rest = specifier.trim().strip_prefix('/').filter(|rest| !rest.starts_with('/'))?;
        self.anchor.parent()?;
        let whole = PathBuf::from(format!("/{rest}"));
        let first = rest.split('/').next().unwrap_or_default();
        let is_below = |directory: &Path| directory.parent().is_some() && whole.starts_with(directory);
        let below_home = self.home.filter(|home| is_below(home)).and_then(|home| whole.strip_prefix(home).ok());
        if below_home.is_none() && !is_below(self.start_directory) && !ROOT_DIRECTORIES.contains(&first) {
            return None;
        }
        let home = below_home.map(|below| format!(", or `{tool}(~/{})`", below.display())).unwrap_or_default();
        Some(format!(
            "starts at {}, as paths behind a single slash do: for the root write `{tool}(//{rest})`{home}",
            self.anchor.display()
        ))
    }
}

/// Makes a rule ready. A warning comes with rules that do less than their writer may think.
pub(crate) fn compile(rule: &ParsedRule, place: &Place<'_>) -> Result<(Rule, Option<RuleWarning>), RuleError> {
    let fail = |problem: String| RuleError::new(rule.text(), problem);
    let tool = tool_name(rule.tool(), place.behavior).map_err(fail)?;
    let mut warning = None;
    let test = match rule.specifier() {
        None => Test::Whole,
        Some(specifier) => {
            let (test, note) = specifier_test(rule.tool(), specifier, place).map_err(fail)?;
            warning = note.map(|note| RuleWarning::kept(rule.text(), note));
            test
        }
    };
    let (text, value) = (rule.text().to_owned(), rule.value());
    let (behavior, source) = (place.behavior, place.source);
    Ok((Rule { text, value, behavior, source, tool, test, definition: None, for_run: false, origin: None }, warning))
}

fn tool_name(name: &str, behavior: Behavior) -> Result<ToolName, String> {
    let of_server = name.strip_prefix(mcp_name::PREFIX);
    if !name.contains('*') {
        return match of_server {
            Some(rest) => server_name(name, rest, behavior),
            None => Ok(ToolName::Exact(name.to_owned())),
        };
    }
    if behavior == Behavior::Allow {
        let literal_server = of_server
            .and_then(|rest| rest.split_once("__"))
            .is_some_and(|(server, _)| !server.is_empty() && !server.contains('*'));
        if !literal_server {
            return Err("allows by a pattern of names: write each tool's name, or `mcp__server__*`".to_owned());
        }
    }
    let pattern = of_server.map(|_| mcp_name::pattern(name));
    Ok(ToolName::Pattern(Wildcard::new(pattern.as_deref().unwrap_or(name))))
}

/// Returns the tool name of a rule that names a server, or a tool of one, as the configuration does or as the model
/// knows it.
fn server_name(name: &str, rest: &str, behavior: Behavior) -> Result<ToolName, String> {
    let meant = mcp_name::meant(name);
    let Some(first) = meant.first() else {
        return Err("names no server: write `mcp__server`, or `mcp__*` for every server".to_owned());
    };
    if behavior != Behavior::Allow {
        return Ok(ToolName::Stem(meant));
    }
    // Names of servers contain no two underscores in a row.
    let parts = rest.split_once("__");
    let server = parts.map_or(rest, |(server, _)| server);
    match parts {
        // No server has such a name, and an allow rule means no other one.
        _ if !mcp_name::is_usable(server) => Ok(ToolName::Exact(name.to_owned())),
        None => Ok(ToolName::Server(first.trim_start_matches(mcp_name::PREFIX).to_owned())),
        Some((_, tool)) if first.ends_with(&format!("__{tool}")) => Ok(ToolName::Exact(first.clone())),
        // Another tool of the server may have this name.
        Some(_) => Err(format!("names a tool as its server does, so it allows none: write `{first}`")),
    }
}

type Compiled = Result<(Test, Option<String>), String>;

fn specifier_test(tool: &str, specifier: &str, place: &Place<'_>) -> Compiled {
    let lowers = place.behavior != Behavior::Allow;
    if let Some(inner) = quoted(tool, specifier) {
        return Err(format!("has quotes around its specifier, which are part of it: write `{tool}({inner})`"));
    }
    if let Some(field) = field_test(tool, specifier).filter(|_| lowers) {
        return Ok((field?, None));
    }
    let of_files = names::is_edit_tool(tool) || names::is_read_tool(tool);
    if let Some(path) = specifier.trim().strip_suffix(":*").filter(|_| of_files) {
        return Err(format!("ends in `:*`, which is for commands: write the path, `{path}` or `{path}/**`"));
    }
    match tool {
        "Bash" => {
            let pattern = parse_rule_pattern(specifier);
            let note = command_note(&pattern)?.filter(|_| lowers);
            Ok((if pattern.is_any() { Test::Whole } else { Test::Command(pattern) }, note))
        }
        "Read" => Ok((Test::Path(path_rule(specifier, Scope::Read, place)?), place.start_note(tool, specifier))),
        "Edit" => Ok((Test::Path(path_rule(specifier, Scope::Edit, place)?), place.start_note(tool, specifier))),
        other if of_files => file_test(other, specifier, place),
        "WebFetch" => match specifier.strip_prefix("domain:") {
            Some(domain) => Ok((Test::Domain(Domain::parse(domain)?), None)),
            None => Err("names no host: write `WebFetch(domain:example.com)`".to_owned()),
        },
        "Agent" => Ok((Test::Agent(specifier.trim().to_owned()), None)),
        "Skill" if skill(without_wildcard(specifier)).is_empty() => {
            Err("names no skill: write `Skill` for every one, or `Skill(name)`".to_owned())
        }
        "Skill" => {
            let name = without_wildcard(specifier);
            let with_arguments = name.len() < specifier.trim().len();
            Ok((Test::Skill { name: skill(name).to_owned(), with_arguments }, None))
        }
        // PowerShell commands are not analysed, so a rule that lowers a verdict applies to all of them.
        "PowerShell" if lowers => {
            let note = "holds for every command: those of PowerShell are not read; write `PowerShell`";
            Ok((Test::Whole, Some(note.to_owned())))
        }
        "PowerShell" => {
            let note = "has no effect: commands of PowerShell are not read, so each asks";
            Ok((Test::Never, Some(note.to_owned())))
        }
        "Cd" => Ok((Test::Never, Some(format!("has no effect: there is no tool {tool} here")))),
        _ if lowers => {
            let near = nearest(tool, names::WELL_KNOWN_TOOLS.iter().copied());
            if let Some(meant) = near.first().filter(|_| !names::WELL_KNOWN_TOOLS.contains(&tool)) {
                return Err(format!("is about {tool}, which is no known tool: did you mean `{meant}`?"));
            }
            Err(format!("has a specifier that {tool} does not know: write `{tool}` or `{tool}(field:value)`"))
        }
        _ => Err(format!("allows only some calls of {tool}, which is not possible: write `{tool}`")),
    }
}

/// Returns the test of a path rule for one of the tools that read or write files.
fn file_test(tool: &str, specifier: &str, place: &Place<'_>) -> Compiled {
    let is_edit = names::is_edit_tool(tool);
    let general = if is_edit { "Edit" } else { "Read" };
    if place.behavior == Behavior::Allow {
        return Err(format!("allows paths for {tool} alone, which has no effect: write `{general}({specifier})`"));
    }
    let start = place.start_note(general, specifier);
    if is_edit {
        return Ok((Test::Path(path_rule(specifier, Scope::Edit, place)?), start));
    }
    let note = || format!("holds for {tool} alone: write `{general}({specifier})` to cover other tools too");
    Ok((Test::Path(path_rule(specifier, Scope::Tool, place)?), Some(start.unwrap_or_else(note))))
}

/// Returns the text between the quotes or backticks around a specifier. A quoted program with its path is none.
fn quoted<'a>(tool: &str, specifier: &'a str) -> Option<&'a str> {
    let text = specifier.trim();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = text.get(1..)?.strip_suffix(quote)?;
    let is_whole = !inner.contains(quote) && !inner.is_empty();
    let is_program = tool == "Bash" && quote != '`' && inner.starts_with(['/', '.', '~']);
    (is_whole && !is_program).then_some(inner)
}

/// Returns the specifier without a wildcard at its end.
fn without_wildcard(specifier: &str) -> &str {
    let specifier = specifier.trim();
    specifier.strip_suffix(":*").or_else(|| specifier.strip_suffix(" *")).unwrap_or(specifier).trim()
}

/// Returns a warning about a pattern of commands.
///
/// # Errors
/// The pattern can never match.
fn command_note(pattern: &BashPattern) -> Result<Option<String>, String> {
    match pattern.problem() {
        None => Ok(None),
        Some(PatternProblem::Assignment) => Err("begins with an assignment, which is not compared, so it never \
             matches: write it without, or the exact text without a wildcard"
            .to_owned()),
        Some(PatternProblem::NotOneCommand) => Err("is about more than one command or a redirection, so it never \
             matches: write a rule for each command, without redirections"
            .to_owned()),
        Some(PatternProblem::QuotedStar) => Ok(Some(
            "has its `*` in quotes or behind a backslash, so it stands for \
             itself: write it outside of them to stand for any text"
                .to_owned(),
        )),
        Some(_) => Err("names no command: write `Bash` for every command, or `Bash(name *)`".to_owned()),
    }
}

/// Reads `field:value`, if the tool's specifier has no other meaning for it.
fn field_test(tool: &str, specifier: &str) -> Option<Result<Test, String>> {
    let (name, value) = specifier.split_once(':')?;
    let known = names::secondary_fields(tool);
    let identifier = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    // `Bash(timeout:*)` is about the program `timeout`.
    let own_meaning = matches!(tool, "PowerShell" | "Cd") || (tool == "Bash" && value == "*");
    if !identifier || own_meaning {
        return None;
    }
    if value.is_empty() && known.contains(&name) {
        return Some(Err(format!("gives no value for `{name}`: write `{tool}({name}:value)`")));
    }
    if tool == "Agent" && name == "model" && !value.contains('*') {
        return Some(Ok(Test::Model(model(value))));
    }
    if known.contains(&name) {
        let value = if tool == "Agent" && name == "model" { model(value) } else { value.to_owned() };
        return Some(Ok(Test::Field { name: name.to_owned(), value: Wildcard::new(&value) }));
    }
    let has_specifier = !known.is_empty() || names::is_read_tool(tool);
    match (has_specifier, names::is_primary_field(name)) {
        (true, _) => None,
        (false, true) => Some(Err(format!("compares `{name}`, which no rule on {tool} can: write `{tool}`"))),
        (false, false) => Some(Ok(Test::Field { name: name.to_owned(), value: Wildcard::new(value) })),
    }
}

fn path_rule(specifier: &str, scope: Scope, place: &Place<'_>) -> Result<PathRule, String> {
    let fold = place.behavior != Behavior::Allow;
    let text = &*place.style.pattern(specifier.trim());
    let first = text.split('/').next().unwrap_or_default();
    if matches!(first, "$HOME" | "${HOME}" | "%USERPROFILE%" | "file:")
        || (first.starts_with("${") && first.ends_with('}'))
    {
        return Err(format!("starts with `{first}`, which is not replaced, so it never matches: write `~/…` or `//…`"));
    }
    let fixed = |directory: &Path| {
        let directory = Directory::in_style(directory, place.style);
        Start::At(if fold { directory.folded } else { directory.exact })
    };
    let (start, rest) = if let Some(rest) = text.strip_prefix("//") {
        (fixed(Path::new("/")), rest)
    } else if let Some(rest) = text.strip_prefix('/') {
        (fixed(place.anchor), rest)
    } else if text == "~" || text.starts_with("~/") {
        let home = place.home.ok_or("starts at the home directory, which is not known: write the whole path, `//…`")?;
        (fixed(home), text.trim_start_matches(['~', '/']))
    } else if text.starts_with('~') {
        return Err("starts at another user's home: write the whole path, `//…`".to_owned());
    } else if text == ".." || text.starts_with("../") {
        let mut directory = place.start_directory.to_path_buf();
        let mut rest = text;
        while let Some(after) = rest.strip_prefix("..").filter(|after| after.is_empty() || after.starts_with('/')) {
            directory.pop();
            rest = after.trim_start_matches('/');
        }
        (fixed(&directory), rest)
    } else {
        return workspace_rule(text, scope, fold);
    };
    if rest.is_empty() && !fold {
        return Err("allows a whole tree without saying so: end it in `/**`".to_owned());
    }
    let names_secrets = names_secrets(text);
    Ok(PathRule { scope, start, globs: Glob::parse(rest, fold)?, anywhere: false, names_secrets })
}

/// Returns a pattern that starts at the workspace.
fn workspace_rule(text: &str, scope: Scope, fold: bool) -> Result<PathRule, String> {
    if text.starts_with('!') {
        return Err(
            "is negated, which rules cannot be: write what it is about, or `\\!` for a name that begins so".to_owned()
        );
    }
    let dotted = text.starts_with("./");
    let body = text.trim_start_matches("./").trim_end_matches('/');
    if body.is_empty() && !fold {
        return Err("allows a whole tree without saying so: write `./**`".to_owned());
    }
    let single = body.strip_suffix("/**").filter(|_| fold).unwrap_or(body);
    let any_depth = !single.contains('/') && (fold || !dotted);
    let globs = Glob::parse(body, fold)?;
    let globs = if any_depth { globs.into_iter().map(Glob::at_any_depth).collect() } else { globs };
    Ok(PathRule { scope, start: Start::Workspace, globs, anywhere: any_depth, names_secrets: names_secrets(text) })
}

/// Returns `true` if a pattern names a place of secrets: by its whole text, by the names before its first wildcard, or
/// by its last name.
fn names_secrets(pattern: &str) -> bool {
    let is_exact = !pattern.contains(WILDCARDS);
    let last = pattern.trim_end_matches(['/', '*']).rsplit('/').next().unwrap_or_default();
    is_exact || is_secret(Path::new(last)) || secret_example(pattern).is_some()
}

const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// Returns a place of secrets that a pattern names: the names before its first wildcard, with an example of its last
/// name below them.
pub(crate) fn secret_example(pattern: &str) -> Option<PathBuf> {
    let is_plain = |name: &&str| !name.contains(WILDCARDS);
    let root = pattern.starts_with("//").then_some("/");
    let before: PathBuf =
        root.into_iter().chain(pattern.split('/').filter(|name| !name.is_empty()).take_while(is_plain)).collect();
    let last = pattern.rsplit('/').next().unwrap_or_default().replace('\\', "");
    let below = before.parent().filter(|_| !pattern.contains(WILDCARDS)).unwrap_or(&before);
    let singles = ('a'..='z').chain(['.', '_', '-', '0']).map(|single| single.to_string());
    let singles: Vec<String> = if last.contains('?') { singles.collect() } else { vec![String::new()] };
    let examples = singles.iter().flat_map(|single| {
        let last = classes_replaced(&last).replace('?', single);
        [last.replace('*', "x"), last.replace('*', "")]
    });
    let found = examples.map(|last| below.join(last)).find(|example| is_secret(example));
    found.or_else(|| is_secret(&before).then_some(before))
}

/// Returns a name with the first character of each class in its place: `.en[vx]` becomes `.env`.
fn classes_replaced(name: &str) -> String {
    let (mut replaced, mut rest) = (String::with_capacity(name.len()), name);
    while let Some((plain, class)) = rest.split_once('[') {
        let Some((members, behind)) = class.split_once(']') else { break };
        replaced.push_str(plain);
        replaced.extend(members.chars().next());
        rest = behind;
    }
    replaced + rest
}

#[cfg(test)]
mod tests;

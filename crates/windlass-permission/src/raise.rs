//! Reasons for which a call runs without a permission request: the mode, allow rules, the read-only set.

use crate::call::Call;
use crate::command::Part;
use crate::definitions::{self, Definitions};
use crate::facts::CommandFacts;
use crate::found::OPTION;
use crate::matcher::{Directory, PathRule, Rule, Scope, Test};
use crate::names;
use crate::network::{Host, host};
use crate::repository::{is_version_control, version_control_places};
use crate::touch::Touch;
use std::path::{Path, PathBuf};
use windlass_shell::{Effect, NotUnderstood, SimpleCommand};
use windlass_types::Access;
use windlass_types::names::skill;
use windlass_types::secret::{holds_home, is_secret, is_secret_of_home};

/// Reason why a call, or a part of it, may run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cover<'a> {
    /// The call only reads, and only freely readable paths.
    Free,
    /// The mode acceptEdits lets it.
    Mode,
    /// A rule allows it.
    Rule(&'a Rule),
}

impl<'a> Cover<'a> {
    /// Joins two parts of one call to the stronger reason: a rule before the mode, the mode before reading only.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Rule(rule), _) | (_, Self::Rule(rule)) => Self::Rule(rule),
            (Self::Mode, _) | (_, Self::Mode) => Self::Mode,
            _ => Self::Free,
        }
    }
}

/// Reason why a call may not run without a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gap {
    /// The command is not understood.
    NotUnderstood(NotUnderstood),
    /// The directory of the command, or the effect of git there, is unknown.
    Unclear(&'static str),
    /// A path outside the workspace is read.
    ReadOutside(PathBuf),
    /// A place of secrets is read that no rule names.
    ReadSecret(PathBuf),
    /// A path outside the workspace is written.
    WriteOutside(PathBuf),
    /// A file is changed.
    Edit,
    /// The rule that allowed the call is bound to another definition of its tool.
    Redefined,
    /// No rule, mode or read-only set allows the call.
    NoRule,
}

/// The side of the policy that allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grants<'a> {
    pub(crate) allow: &'a [Rule],
    pub(crate) definitions: &'a Definitions,
    pub(crate) workspace: &'a [Directory],
    pub(crate) home: Option<&'a Path>,
    /// `true` if edits inside the workspace need no permission request.
    pub(crate) accept_edits: bool,
}

type Covered<'a> = Result<Cover<'a>, Gap>;

/// Reason why a rule for version control covers nothing in a repository inside of the workspace.
const OTHER_REPOSITORY: &str =
    "it runs version control where another repository may be, whose configuration can run programs";

impl<'a> Grants<'a> {
    /// Returns the coverage of the call by a rule, the mode or the read-only set.
    pub(crate) fn cover(&self, call: &Call<'_>) -> Covered<'a> {
        if call.facts.command.is_some() || call.tool == "Bash" {
            return self.cover_command(call);
        }
        if names::is_edit_tool(call.tool) {
            return self.cover_edit(call);
        }
        let mut rules = self.allow.iter().filter(|rule| rule.tool.matches(call.tool) && allows(rule, call)).peekable();
        let has_rule = rules.peek().is_some();
        let rule = rules.find(|rule| definitions::holds(rule, self.definitions, call.tool));
        let reads = matches!(call.facts.access, Access::Reads(_) | Access::Session)
            && call.facts.paths.len() >= call.facts.access.paths().len();
        let file_tool = names::is_read_tool(call.tool);
        if let Some(rule) = rule.filter(|_| !file_tool) {
            return Ok(Cover::Rule(rule));
        }
        if !reads || call.touches.iter().any(|touch| touch.usage.write) {
            return Err(if has_rule && rule.is_none() { Gap::Redefined } else { Gap::NoRule });
        }
        // Matches of a content search below are filtered; the names of files are no secret.
        let content = !names::only_lists(call.tool);
        self.all(&call.touches, |touch| self.read(touch, content, false))
    }

    fn all<'t>(
        &self,
        touches: impl IntoIterator<Item = &'t Touch>,
        test: impl Fn(&Touch) -> Covered<'a>,
    ) -> Covered<'a> {
        touches.into_iter().try_fold(Cover::Free, |cover, touch| Ok(cover.and(test(touch)?)))
    }

    /// Covers a read of names, or of the content. `whole`: nothing filters the entries below the path.
    fn read(&self, touch: &Touch, content: bool, whole: bool) -> Covered<'a> {
        let cover = self.readable(touch)?;
        if !content {
            return Ok(cover);
        }
        let mut cover = cover;
        for below in touch.secrets.iter().chain(touch.stands_for.iter().flat_map(|other| &other.secrets)) {
            let rule = self.secret_rule(below).ok_or_else(|| Gap::ReadSecret(below.requested_path().to_path_buf()))?;
            cover = Cover::Rule(rule);
        }
        let Some(secret) = self.secret_of(touch, whole) else { return Ok(cover) };
        match self.secret_rule(touch) {
            Some(rule) => Ok(Cover::Rule(rule)),
            None => Err(Gap::ReadSecret(secret)),
        }
    }

    /// Returns a rule that lets a place of secrets be read: one that names it. A rule for a tree above covers the rest
    /// of it.
    fn secret_rule(&self, touch: &Touch) -> Option<&'a Rule> {
        self.path_rule_of(Scope::Read, touch, |_| false, PathRule::names_secrets)
    }

    /// Returns the place of secrets that a read reaches, if there is one.
    fn secret_of(&self, touch: &Touch, whole: bool) -> Option<PathBuf> {
        let whole = whole && touch.usage.tree;
        let leads = |path: &Path| {
            is_secret(path) || is_secret_of_home(path, self.home) || (whole && holds_home(path, self.home))
        };
        let own = touch.subjects().map(|subject| &subject.path).find(|path| leads(path)).cloned();
        own.or_else(|| touch.stands_for.iter().find_map(|other| self.secret_of(other, whole)))
    }

    fn readable(&self, touch: &Touch) -> Covered<'a> {
        if let Some(why) = touch.unclear {
            return Err(Gap::Unclear(why));
        }
        if touch.is_inside(self.workspace) || is_null(touch) {
            return Ok(Cover::Free);
        }
        // The path as requested may be free while its end needs a rule, and the other way round.
        let free = |subject: &crate::path::Subject| self.workspace.iter().any(|directory| directory.contains(subject));
        match self.path_rule(Scope::Read, touch, free) {
            Some(rule) => Ok(Cover::Rule(rule)),
            None => Err(Gap::ReadOutside(touch.outside(self.workspace))),
        }
    }

    /// Covers the request and its target by path rules; freely accessible paths need none.
    fn path_rule(&self, scope: Scope, touch: &Touch, free: impl Fn(&crate::path::Subject) -> bool) -> Option<&'a Rule> {
        self.path_rule_of(scope, touch, free, |_| true)
    }

    fn path_rule_of(
        &self,
        scope: Scope,
        touch: &Touch,
        free: impl Fn(&crate::path::Subject) -> bool,
        counts: fn(&PathRule) -> bool,
    ) -> Option<&'a Rule> {
        let rules = || {
            self.allow.iter().filter_map(|rule| match &rule.test {
                Test::Path(path) if path.scope == scope && counts(path) => Some((rule, path)),
                _ => None,
            })
        };
        // A file name pattern reaches further than the directory it starts in.
        if touch.pattern.is_some() && scope == Scope::Edit {
            return None;
        }
        let tree = touch.usage.tree && scope == Scope::Read;
        let first =
            touch.subjects().find_map(|subject| rules().find(|(_, path)| path.covers(subject, tree, self.workspace)));
        let each =
            touch.both(|subject| free(subject) || rules().any(|(_, path)| path.covers(subject, tree, self.workspace)));
        first.filter(|_| each).map(|(rule, _)| rule)
    }

    fn cover_edit(&self, call: &Call<'_>) -> Covered<'a> {
        if call.touches.is_empty() {
            return Err(Gap::NoRule);
        }
        let whole = self.allow.iter().find(|rule| matches!(rule.test, Test::Whole) && rule.tool.matches(call.tool));
        self.all(&call.touches, |touch| {
            let inside = touch.is_inside(self.workspace);
            match (self.path_rule(Scope::Edit, touch, |_| false), whole) {
                (Some(rule), _) => Ok(Cover::Rule(rule)),
                (None, Some(rule)) if inside => Ok(Cover::Rule(rule)),
                _ if inside && self.accept_edits => Ok(Cover::Mode),
                _ if inside => Err(Gap::Edit),
                _ => Err(Gap::WriteOutside(touch.outside(self.workspace))),
            }
        })
    }

    fn cover_command(&self, call: &Call<'_>) -> Covered<'a> {
        let rules = || self.allow.iter().filter(|rule| rule.tool.matches(call.tool));
        let Some(command) = &call.facts.command else {
            return Err(Gap::Unclear("the command was not analysed"));
        };
        let whole = rules().find(|rule| match &rule.test {
            Test::Whole => true,
            Test::Command(pattern) => pattern.matches_whole(&command.text) && self.is_same_text(call, command),
            _ => false,
        });
        if let Some(rule) = whole {
            return Ok(Cover::Rule(rule));
        }
        command.analysis.understood().map_err(Gap::NotUnderstood)?;
        let Some(parts) = &call.parts else {
            return Err(Gap::Unclear(
                "it changes the directory in a way that is not followed, or has too many commands",
            ));
        };
        let moves = parts.iter().any(|(part, _)| part.moved);
        let cover = parts.iter().try_fold(Cover::Free, |cover, (part, touches)| {
            if moves && touches.iter().any(|touch| touch.usage.redirect && touch.usage.write) {
                return Err(Gap::Unclear("it changes the directory and redirects output"));
            }
            Ok(cover.and(self.cover_part(part, touches, command)?))
        })?;
        let shown = call.touches.iter().filter(|touch| touch.usage.read && !touch.usage.write && !touch.usage.tree);
        let unnamed = |touch: &Touch| {
            let secret = self.secret_of(touch, false)?;
            self.secret_rule(touch).is_none().then_some(secret)
        };
        match shown.filter(|touch| !touch.usage.loose).find_map(unnamed) {
            Some(secret) => Err(Gap::ReadSecret(secret)),
            None => Ok(cover),
        }
    }

    /// Returns `true` if the text of a command means the same as when someone allowed it: with version control, that is
    /// so in the directories of the workspace, and in their repositories.
    fn is_same_text(&self, call: &Call<'_>, command: &CommandFacts) -> bool {
        command.in_own_repository
            || self.workspace.iter().any(|directory| directory.is(&call.facts.cwd))
            || version_control_places(&command.analysis, &call.facts.cwd).is_empty()
    }

    /// Returns the first command that nothing covers, of a text that is understood.
    pub(crate) fn uncovered<'c>(&self, call: &'c Call<'_>) -> Option<&'c SimpleCommand> {
        let (command, parts) = (call.facts.command.as_ref()?, call.parts.as_ref()?);
        let gap = |(part, touches): &&(Part<'_>, Vec<Touch>)| self.cover_part(part, touches, command).is_err();
        parts.iter().find(gap).map(|(part, _)| part.command)
    }

    /// Covers the program first, then each of its paths.
    fn cover_part(&self, part: &Part<'_>, touches: &[Touch], command: &CommandFacts) -> Covered<'a> {
        let by_rule = || {
            self.allow.iter().find(|rule| match &rule.test {
                Test::Command(pattern) => rule.tool.matches("Bash") && pattern.matches_allow(part.command),
                _ => false,
            })
        };
        let program = match part.class.effect {
            Effect::ReadOnly | Effect::ChangeDirectory => Cover::Free,
            Effect::Git if command.git_is_inert && !part.moved => Cover::Free,
            effect => match (by_rule(), effect) {
                (Some(_), _) if !command.in_own_repository && is_version_control(part.command.words()) => {
                    return Err(Gap::Unclear(OTHER_REPOSITORY));
                }
                (Some(rule), _) => Cover::Rule(rule),
                (None, Effect::FileChange) if self.accept_edits => Cover::Mode,
                (None, Effect::Git) => return Err(Gap::Unclear("the configuration of git may run programs here")),
                (None, Effect::FileChange) => return Err(edit_gap(touches, self.workspace)),
                (None, _) => return Err(Gap::NoRule),
            },
        };
        if let (Cover::Mode, Some(why)) = (program, part.unclear_copy) {
            return Err(Gap::Unclear(why));
        }
        // A rule for an unknown program covers its arguments, whatever their meaning. Not covered are files elsewhere
        // that an option makes it write, and options that only the names of files show.
        let judged = |touch: &&Touch| {
            let shown = touch.usage.redirect || touch.usage.output || touch.unclear == Some(OPTION);
            (part.is_known() || part.on_files || shown) && !touch.usage.guess
        };
        let judged = touches.iter().filter(judged);
        self.all(judged, |touch| {
            let mut cover = program;
            if touch.usage.read {
                // File contents that git prints are found by the views.
                let content = !part.lists && part.class.effect != Effect::Git;
                cover = cover.and(self.read(touch, content, true)?);
            }
            if touch.usage.write {
                cover = cover.and(self.writable(touch, program)?);
            }
            Ok(cover)
        })
        .map(|cover| cover.and(program))
    }

    fn writable(&self, touch: &Touch, program: Cover<'a>) -> Covered<'a> {
        if let Some(why) = touch.unclear {
            return Err(Gap::Unclear(why));
        }
        let inside = touch.is_inside(self.workspace);
        if let Some(rule) = self.path_rule(Scope::Edit, touch, |_| false) {
            return Ok(Cover::Rule(rule));
        }
        match program {
            _ if is_null(touch) => Ok(Cover::Free),
            _ if !inside => Err(Gap::WriteOutside(touch.outside(self.workspace))),
            Cover::Rule(_) if !touch.usage.redirect => Ok(program),
            _ if self.accept_edits && touch.pattern.is_none() => Ok(Cover::Mode),
            _ => Err(Gap::Edit),
        }
    }
}

fn edit_gap(touches: &[Touch], workspace: &[Directory]) -> Gap {
    match touches.iter().find(|touch| touch.usage.write && !touch.is_inside(workspace)) {
        Some(touch) => Gap::WriteOutside(touch.outside(workspace)),
        None => Gap::Edit,
    }
}

fn is_null(touch: &Touch) -> bool {
    touch.requested_path() == Path::new("/dev/null") && touch.route.resolved.is_empty()
}

/// Returns `true` if an allow rule on the call's tool covers the call.
pub(crate) fn allows(rule: &Rule, call: &Call<'_>) -> bool {
    match &rule.test {
        Test::Whole => true,
        Test::Domain(domain) => match call.text("url").map(host) {
            Some(Host::Known(host)) => domain.matches(&host),
            _ => false,
        },
        Test::Agent(agent) => call.text("subagent_type").unwrap_or("general-purpose") == agent,
        Test::Skill { name, with_arguments } => {
            let bare = call.field("args").is_none_or(|args| args.is_null() || args.as_str().is_some_and(str::is_empty));
            call.text("skill").map(skill) == Some(name) && (*with_arguments || bare)
        }
        Test::Command(_) | Test::Path(_) | Test::Model(_) | Test::Field { .. } | Test::Never => false,
    }
}

/// Returns `true` if the call only reads, without regard to allow rules.
pub(crate) fn only_reads(call: &Call<'_>) -> bool {
    match &call.facts.command {
        Some(command) => call.parts.as_ref().is_some_and(|parts| {
            !parts.is_empty()
                && parts.iter().all(|(part, _)| {
                    let effect = match part.class.effect {
                        Effect::ReadOnly | Effect::ChangeDirectory => true,
                        Effect::Git => command.git_is_inert && !part.moved,
                        _ => false,
                    };
                    effect && part.class.writes.is_empty()
                })
        }),
        None => {
            matches!(call.facts.access, Access::Reads(_))
                && !names::is_edit_tool(call.tool)
                && !call.touches.iter().any(|touch| touch.usage.write)
        }
    }
}

//! Verdicts on tool calls, and the answers of hosts.

use crate::{JsonText, QuestionId, ToolUseId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

mod answer;
mod audit;
mod group;
mod impact;
mod question;
mod rule;

pub use answer::PermissionAnswer;
pub use audit::{AnsweredBy, AuditedAnswer, AuditedDecision, AuditedSandbox, InputChange, InputChangedBy, MadeCall};
pub use group::PermissionGroup;
pub use impact::{CallEffect, CallImpact, RiskGrade};
pub use question::{PendingQuestion, QuestionToken, TokenHash, WaitingAgent, WaitingCall};
pub use rule::{MatchedRule, RuleOrigin, RuleSource, RuleValue};

/// Permission mode: the calls that run without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum PermissionMode {
    /// Reading inside the workspace is free, every other call asks.
    #[default]
    Default,
    /// Also edits files, and runs a few file commands, inside the workspace.
    AcceptEdits,
    /// Only reads. Left through an approved ExitPlanMode or by the user.
    Plan,
    /// As default, but what would ask is denied.
    DontAsk,
    /// As acceptEdits, and a model is asked about calls that rules leave undecided: it allows one, or it is asked about.
    Auto,
    /// Everything but deny rules, ask rules and the safety floor. High risk.
    BypassPermissions,
}

impl PermissionMode {
    /// The mode as settings and the wire write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::Auto => "auto",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    /// Returns the mode that permits less, in the order `plan`, `dontAsk`, `default`, `acceptEdits`, `auto`,
    /// `bypassPermissions`.
    #[must_use]
    pub fn narrower(self, other: Self) -> Self {
        let width = |mode| match mode {
            Self::Plan => 0,
            Self::DontAsk => 1,
            Self::Default => 2,
            Self::AcceptEdits => 3,
            Self::Auto => 4,
            Self::BypassPermissions => 5,
        };
        if width(other) < width(self) { other } else { self }
    }

    /// All modes.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::DontAsk, Self::Auto, Self::BypassPermissions];
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PermissionMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "manual" {
            return Ok(Self::Default);
        }
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|mode| mode.as_str()).collect();
            format!("unknown permission mode {text:?}: use one of {}", all.join(", "))
        })
    }
}

/// Behavior for a call. Ordered: `Deny < Ask < Allow`, and a compound call takes the minimum of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "a verdict lattice with exactly these three points")]
pub enum Behavior {
    /// The call does not run.
    Deny,
    /// The host is asked.
    Ask,
    /// The call runs.
    Allow,
}

/// The part of the pipeline that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionReason {
    /// A hook denied, asked or allowed.
    Hook,
    /// A rule matched.
    Rule,
    /// The safety floor: a whole tree, a raw device, a fork bomb. Never allowed.
    Catastrophic,
    /// The safety floor: a protected path or command. Only an answer bound to this call lifts it.
    Protected,
    /// The tool's own check.
    ToolCheck,
    /// A path outside the workspace.
    WorkingDirectory,
    /// The command is not understood well enough.
    NotUnderstood,
    /// The permission mode.
    Mode,
    /// The sandbox in which commands run: it lets one run without a question, or one would run outside of it.
    Sandbox,
    /// The call is known to only read.
    ReadOnly,
    /// The classifier of the mode auto allowed it.
    Classifier,
    /// The host's answer.
    Host,
    /// Not allowed, and there is no host to ask.
    NobodyToAsk,
    /// No rule, mode or hook allowed it, so the host is asked.
    Default,
    /// The input is not valid, so there was nothing to judge.
    InvalidInput,
    /// The tool is not in the set.
    UnknownTool,
}

/// Destination of a permission update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum UpdateDestination {
    /// In the user's settings file.
    UserSettings,
    /// In the project's settings file.
    ProjectSettings,
    /// In the user's settings file for this project.
    LocalSettings,
    /// In memory, until the session ends.
    Session,
    /// With the rules of the command line, in memory.
    CliArg,
}

/// A change of permissions, suggested with a question or given with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum PermissionUpdate {
    /// Adds rules.
    AddRules {
        /// The rules.
        rules: Vec<RuleValue>,
        /// Behavior of the rules: allow, ask or deny.
        behavior: Behavior,
        /// Destination of the rules.
        destination: UpdateDestination,
    },
    /// Replaces all rules of one behaviour.
    ReplaceRules {
        /// The rules.
        rules: Vec<RuleValue>,
        /// Behavior of the rules: allow, ask or deny.
        behavior: Behavior,
        /// Destination of the rules.
        destination: UpdateDestination,
    },
    /// Removes rules.
    RemoveRules {
        /// The rules.
        rules: Vec<RuleValue>,
        /// Behavior of the rules: allow, ask or deny.
        behavior: Behavior,
        /// Place of the rules.
        destination: UpdateDestination,
    },
    /// Changes the mode.
    SetMode {
        /// The new mode.
        mode: PermissionMode,
        /// Destination of the mode.
        destination: UpdateDestination,
    },
    /// Adds directories to the workspace.
    AddDirectories {
        /// The directories.
        directories: Vec<PathBuf>,
        /// Destination of the directories.
        destination: UpdateDestination,
    },
    /// Removes directories from the workspace.
    RemoveDirectories {
        /// The directories.
        directories: Vec<PathBuf>,
        /// Place of the directories.
        destination: UpdateDestination,
    },
}

/// The verdict on one call, with its whole reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Decision {
    /// Behavior for the call.
    pub behavior: Behavior,
    /// The part of the pipeline that decided.
    pub reason: DecisionReason,
    /// The reason in a sentence, for people and for the model.
    pub message: String,
    /// The rule that decided, if one did.
    pub rule: Option<MatchedRule>,
    /// `true` if the safety floor decided, which no rule, hook or mode lifts.
    pub protected: bool,
    /// Suggested updates, the narrowest first: each alone lets the call run and prevents the same question later.
    /// Choose one; all together allow no more than the last.
    pub suggestions: Vec<PermissionUpdate>,
    /// The path that prevented the call from being allowed.
    pub blocked_path: Option<PathBuf>,
    /// The command that decided, as written in the line, if the call is a line of several commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

impl Decision {
    /// A decision with a reason in words.
    pub fn new(behavior: Behavior, reason: DecisionReason, message: impl Into<String>) -> Self {
        Self {
            behavior,
            reason,
            message: message.into(),
            rule: None,
            protected: matches!(reason, DecisionReason::Catastrophic | DecisionReason::Protected),
            suggestions: Vec::new(),
            blocked_path: None,
            part: None,
        }
    }

    /// Names the rule that decided.
    #[must_use]
    pub fn with_rule(mut self, rule: MatchedRule) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Names the command of the line that decided.
    #[must_use]
    pub fn with_part(mut self, part: Option<String>) -> Self {
        self.part = part;
        self
    }

    /// Names the path that prevented the call from being allowed.
    #[must_use]
    pub fn with_blocked_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.blocked_path = Some(path.into());
        self
    }

    /// Adds alternatives that an answer can choose from, the narrowest first.
    #[must_use]
    pub fn with_suggestions(mut self, suggestions: Vec<PermissionUpdate>) -> Self {
        self.suggestions = suggestions;
        self
    }
}

/// The digest of one exact call: tool, final input text, current directory,
/// resolved paths and agent path. An approval holds for one digest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct CallDigest(Arc<str>);

impl CallDigest {
    /// Wraps a digest in hexadecimal.
    pub fn new(hex: impl Into<Arc<str>>) -> Self {
        Self(hex.into())
    }

    /// The digest in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A question to the host: may this call run?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PermissionRequest {
    /// Id of the question, which an answer names. A call whose input an answer changed may be asked about again, under
    /// another id.
    pub id: QuestionId,
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// The tool's name.
    pub tool: String,
    /// The exact input that will run.
    pub input: JsonText,
    /// One line that names what will happen, control characters made visible.
    pub title: String,
    /// The verdict so far, with suggestions.
    pub decision: Decision,
    /// The exact call that an answer binds to.
    pub digest: CallDigest,
    /// The agent that asks; empty for the main agent.
    pub agent: crate::AgentPath,
    /// Identity of the agent, unless it is the main one.
    pub identity: Option<crate::AgentIdentity>,
    /// Token that an answer of another process must present, if the run waits for answers. `None`: the question ends
    /// with this process, or its token was given when it was first asked. Left out of the JSON then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<QuestionToken>,
    /// Group of the call.
    #[serde(default)]
    pub group: PermissionGroup,
    /// Preview of the file changes, if the session makes previews and the tool can compute one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<crate::EditPreview>,
    /// Effects, risk, paths and hosts of the call, with a sentence for people. `None`: the call was not analysed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Box<CallImpact>>,
}

impl PermissionRequest {
    /// A question about a call. Its id is that of the call until another one is set. The id of the call also stays
    /// where no call of the model asks, such as for a message that a server requests.
    pub fn new(call: crate::ToolUse, title: String, decision: Decision, digest: CallDigest) -> Self {
        Self {
            id: QuestionId::from(call.id.as_str()),
            tool_use_id: call.id,
            tool: call.name,
            input: call.input,
            title,
            decision,
            digest,
            agent: crate::AgentPath::default(),
            identity: None,
            token: None,
            group: PermissionGroup::default(),
            edits: None,
            impact: None,
        }
    }
}

/// A denied call, as the result of a run lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PermissionDenial {
    /// The tool's name.
    pub tool_name: String,
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// Input of the call.
    pub tool_input: JsonText,
}

impl PermissionDenial {
    /// A denied call.
    pub fn new(call: &crate::ToolUse) -> Self {
        Self { tool_name: call.name.clone(), tool_use_id: call.id.clone(), tool_input: call.input.clone() }
    }
}

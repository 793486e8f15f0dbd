//! Permissions: rules, modes, permission requests to the host and their answers.

pub use crate::permissions::Permissions;
pub use windlass_permission::network;
pub use windlass_permission::{
    CanUseTool, CanUseToolFn, ModeError, OnlyTools, Policy, PolicyConfig, RememberAnswer, RuleError, RuleWarning,
    UpdateError, can_use_tool_fn,
};
pub use windlass_runtime::{AnswerError, Classifier};
pub use windlass_types::{
    Access, AgentIdentity, AgentPath, AnsweredBy, AuditedAnswer, AuditedDecision, AuditedSandbox, Behavior, CallDigest,
    CallEffect, CallImpact, Decision, DecisionReason, EditPreview, HookVerdict, InputChange, InputChangedBy, JsonText,
    MadeCall, MatchedRule, PendingQuestion, PermissionAnswer, PermissionDenial, PermissionGroup, PermissionMode,
    PermissionRequest, PermissionUpdate, QuestionId, QuestionToken, RiskGrade, RuleOrigin, RuleSource, RuleValue,
    TokenHash, ToolUseId, UpdateDestination, WaitingCall,
};

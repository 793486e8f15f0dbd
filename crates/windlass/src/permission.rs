//! Who may do what: rules, modes, questions to the host and their answers.

pub use crate::permissions::Permissions;
pub use windlass_permission::{
    CanUseTool, CanUseToolFn, ModeError, OnlyTools, Policy, PolicyConfig, RememberAnswer, RuleError, RuleWarning,
    UpdateError, can_use_tool_fn,
};
pub use windlass_runtime::AnswerError;
pub use windlass_types::{
    Access, AgentIdentity, AgentPath, AuditedDecision, Behavior, CallDigest, Decision, DecisionReason, InputChange,
    InputChangedBy, JsonText, MatchedRule, PendingQuestion, PermissionAnswer, PermissionDenial, PermissionMode,
    PermissionRequest, PermissionUpdate, QuestionId, QuestionToken, RuleSource, RuleValue, TokenHash, ToolUseId,
    UpdateDestination,
};

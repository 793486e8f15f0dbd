//! Permissions: rules, modes, permission requests to the host and their answers.

pub use crate::permissions::{PermissionHost, Permissions, QuestionEvents};
pub use windlass_permission::{CanUseTool, CanUseToolFn, Policy, PolicyConfig, RuleError, can_use_tool_fn, parse_rule};
pub use windlass_permission::{own_writing_command, read_command, rule_text, split_rules};
pub use windlass_runtime::{AnswerError, Classifier};
pub use windlass_types::{
    AnsweredBy, AuditedDecision, AuditedSandbox, Behavior, CallDigest, Decision, DecisionReason, EditPreview,
    InputChangedBy, MatchedRule, PermissionDenial, PermissionGroup, PermissionUpdate, QuestionId, RuleOrigin,
    RuleSource, RuleValue, UpdateDestination,
};

/// Rules on hosts.
pub mod network {
    pub use windlass_permission::network::NetworkPolicy;
}

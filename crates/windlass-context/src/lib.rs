//! Context of models: prompts, environment, instructions, reminders, summaries and the texts that the runtime itself
//! writes, with token estimates and masks of secrets. Pure.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod boundary;
mod changed;
mod compaction;
mod deferred;
mod diagnostics;
mod environment;
mod estimate;
mod files;
mod fit;
mod imageless;
mod imitation;
mod instructions;
mod keywords;
mod ledger;
mod mask;
mod media;
mod media_budget;
mod mention;
mod model_id;
mod profile;
mod prompt;
mod relevance;
mod reminder;
mod reminders;
mod replay;
mod shares;
mod task;
mod trim;

pub use boundary::{boundary_mark, bounded_content, bounded_hook_context, noted_content, quoted_text};
pub use changed::{REST_LEFT_OUT, changed_file, more_changed_files};
pub use compaction::{
    SessionFacts, compaction_prompt, from_message, older_half, summary_of, summary_text, with_last_word,
};
pub use deferred::{
    FoundTools, TOOL_SEARCH, ToolBudget, Withholding, estimate_tool, search_tools, withheld_call, withheld_tools,
};
pub use diagnostics::{Diagnostic, Severity, introduced, introduced_text};
pub use environment::{Environment, RepositoryStatus, environment_changes};
pub use estimate::{
    StreamedTokens, estimate_blocks, estimate_message, estimate_request, estimate_result, estimate_text,
};
pub use files::{FileInstructions, InstructionSource};
pub use fit::{beginning, ending, results_to_fit, tokens_of_last_results};
pub use imageless::{has_images, without_images};
pub use imitation::{foreign_content, foreign_text};
pub use instructions::{KnownInstructions, ServerInstructions, missing_servers, server_instructions};
pub use keywords::{ThinkingKeywords, ThinkingLevel};
pub use ledger::{Ledger, LedgerFile};
pub use mask::{MaskStream, Masks, SecretKind, secret_in};
pub use media::unusable_media;
pub use media_budget::{MediaTally, half_of_media, media_to_drop};
pub use mention::{Mention, MentionedLines, mentioned, mentions};
pub use model_id::is_same_model;
pub use profile::{EditTools, HarnessProfile, ModelFamily};
pub use prompt::{SystemPrompt, coding_agent_sections};
pub use relevance::{Hit, Relevance};
pub use reminder::{ReminderStyle, is_reminder, reminder, runtime_text};
pub use reminders::{KnownReminders, LimitsLeft, ReminderSettings};
pub use replay::readable_messages;
pub use shares::ContextShares;
pub use task::task_notification;
pub use trim::{TrimRules, results_to_trim};
pub use windlass_types::secret::is_secret;

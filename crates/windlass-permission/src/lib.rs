//! Permission decisions on tool calls: rules, modes, the safety floor, and one pure function that weighs them.
//!
//! A [`Policy`] is plain data: rules parsed at load, a mode, the directories of the workspace. A driver gathers the
//! facts about a call as [`CallFacts`] (links followed, command analysed), and [`Policy::decide`] turns both into a
//! [`Decision`](windlass_types::Decision) without any I/O. The [`CanUseTool`] port answers when the verdict is *ask*.
//!
//! The verdict is the minimum (deny < ask < allow) of: a hook's deny or ask, deny rules, the safety floor, ask rules,
//! the tool's own check, the mode. A call that none of these decides is left to allow rules, a hook's allow and the
//! built-in read-only set, and asks otherwise.
//!
//! ```
//! use std::path::Path;
//! use windlass_permission::{CallFacts, PathFact, Policy, PolicyConfig};
//! use windlass_types::{Access, Behavior, CallDigest, JsonText, RuleSource};
//!
//! let mut policy = Policy::new(PolicyConfig::new("/w"));
//! policy.add_rules(RuleSource::CliArg, Behavior::Allow, &["Edit(/src/**)"], Path::new("/w"))?;
//!
//! let input = JsonText::parse(r#"{"file_path":"/w/src/lib.rs","content":""}"#)?;
//! let facts = CallFacts::new("Write", input, Access::writes("/w/src/lib.rs"), CallDigest::new("0"), "/w")
//!     .with_path(PathFact::new("/w/src/lib.rs", "/w/src/lib.rs", true));
//! assert_eq!(policy.decide(&facts, None, None).behavior, Behavior::Allow);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod ask;
mod call;
mod classifier;
mod command;
mod config;
mod decide;
mod definitions;
mod error;
mod facts;
mod found;
pub mod git;
mod glob;
mod groups;
mod impact;
mod launchers;
mod limits;
mod lower;
mod made;
mod matcher;
mod models;
mod names;
pub mod network;
mod only;
mod own_command;
mod parse;
mod path;
mod pattern;
mod places;
mod policy;
mod programs;
mod protected;
mod question;
mod raise;
mod repository;
mod rule;
mod rules;
mod run_rules;
mod same;
mod sandbox;
mod scripts;
mod search;
mod settings;
mod spec;
mod suggest;
mod touch;
mod transfer;
mod update;
mod usage;
mod views;
mod wildcard;
mod windows;
mod workspace;

pub use answer::{ReadAnswer, read_permission_answer};
pub use ask::{CanUseTool, CanUseToolFn, RememberAnswer, can_use_tool_fn};
pub use classifier::{
    Boundary, CLASSIFIER_SYSTEM, Classified, ClassifierCache, ClassifierQuestion, Heard, read_answer,
};
pub use command::command_paths;
pub use config::PolicyConfig;
pub use error::{ModeError, RuleError, RuleWarning, UpdateError};
pub use facts::{CallFacts, CommandFacts, CommandPath, OwnCheck, PathFact, PatternFact, Standing, TreeFact};
pub use launchers::{LaunchedRole, LaunchedWord, Launcher, is_package_runner};
pub use names::{WELL_KNOWN_TOOLS, access_of_unknown};
pub use only::OnlyTools;
pub use own_command::own_writing_command;
pub use parse::{CommandPart, CommandReading, read_command};
pub use pattern::{PatternName, ShellPattern};
pub use policy::Policy;
pub use protected::{REPOSITORY_DIRECTORIES, protected_names};
pub use question::Question;
pub use repository::{REPOSITORY_NAMES, version_control_places};
pub use rule::{ParsedRule, parse_rule, rule_text, split_rules};
pub use same::same_json;
pub use sandbox::SandboxedCommands;
pub use scripts::{FileRole, LineDirectories, LineFile, line_files, line_of};
pub use settings::{RuleOrigins, SettingsRules, SourceRules};
pub use windlass_shell::is_judged_by_name;
pub use windows::windows_path;

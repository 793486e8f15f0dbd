//! The facade as programs use it.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod agent;
mod answering;
#[cfg(feature = "project")]
mod assembly;
mod audited;
mod auto;
#[cfg(target_os = "linux")]
mod background;
#[cfg(feature = "mcp")]
mod binding;
mod boundaries;
mod branch;
mod checkpoints;
#[cfg(all(feature = "bedrock", feature = "gemini"))]
mod clouds;
#[cfg(feature = "project")]
mod commands;
mod common;
mod compaction;
#[cfg(all(feature = "project", unix))]
mod configured_hooks;
#[cfg(all(feature = "bedrock", feature = "gemini", feature = "openai"))]
mod connections;
mod cuts;
#[cfg(all(feature = "mcp", feature = "gemini", feature = "openai"))]
mod deferred;
#[cfg(all(feature = "mcp", feature = "project"))]
mod elicitations;
#[cfg(target_os = "linux")]
mod elsewhere;
mod failures;
mod formatted;
mod git;
mod guide;
mod handed_over;
mod hints;
mod hooks;
#[cfg(feature = "project")]
mod index;
#[cfg(feature = "project")]
mod instructions;
mod keywords;
#[cfg(unix)]
mod kill;
#[cfg(unix)]
mod killed_spending;
#[cfg(all(feature = "lsp", feature = "project", unix))]
mod language_servers;
mod large_results;
#[cfg(unix)]
mod link_oracle;
#[cfg(unix)]
mod links;
mod live;
#[cfg(all(unix, feature = "mcp"))]
mod live_servers;
mod locales;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mcp")]
mod mcp_rules;
mod measured;
mod memory;
#[cfg(target_os = "linux")]
mod memory_faults;
mod mentions;
mod mistakes;
mod models;
mod names;
mod nulls;
mod only;
#[cfg(target_os = "linux")]
mod opened;
mod plan;
#[cfg(all(feature = "tools", unix))]
mod plan_holds;
#[cfg(all(feature = "mcp", feature = "project"))]
mod plugins;
mod profiles;
#[cfg(feature = "program")]
mod programs;
mod project;
mod prompt_stream;
mod reminders;
mod requests;
mod resumed;
#[cfg(feature = "macros")]
mod rewound;
mod riddles;
mod run;
mod run_files;
#[cfg(all(feature = "mcp", unix))]
mod sampling;
#[cfg(all(feature = "mcp", unix))]
mod sampling_tools;
#[cfg(feature = "project")]
mod skills;
#[cfg(all(feature = "bedrock", feature = "gemini", feature = "openai"))]
mod soak;
mod stored;
mod streams;
mod structured;
mod subagents;
mod surveys;
mod task_list;
#[cfg(feature = "macros")]
mod tool_input;
mod tool_texts;
mod trouble;
#[cfg(feature = "web")]
mod web_search;

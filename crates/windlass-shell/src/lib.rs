//! Analysis of shell commands without running them.
//!
//! [`analyse`] reads a text as bash (non-interactive, no start-up files) would and gives two answers:
//!
//! * the **allow side** under-approximates: [`Analysis::understood`] is the list of commands if the text is covered
//!   by a small grammar whose meaning is completely known, and a reason otherwise;
//! * the **deny side** over-approximates: [`Analysis::found`] lists every command that might run, through
//!   any nesting, quoting, wrapper or literal script, and [`Analysis::undecided`] is set when there may be more.
//!
//! [`SimpleCommand::classify`] finds the effect and the paths of an understood command, [`FoundCommand::outputs`] names
//! the paths that a command may write without a redirection, [`BashPattern`] matches permission rules, [`catastrophic`]
//! finds commands that must never run.
//!
//! ```
//! use windlass_shell::{Effect, analyse, parse_rule_pattern, DenyMatch};
//!
//! let analysis = analyse("grep -rn TODO src | head -5");
//! let commands = analysis.understood().unwrap().commands();
//! assert!(commands.iter().all(|c| c.classify().effect == Effect::ReadOnly));
//!
//! let analysis = analyse("echo `timeout 5 /bin/rm x`");
//! assert!(analysis.understood().is_err());
//! let rule = parse_rule_pattern("rm:*");
//! assert!(analysis.found().iter().any(|c| rule.matches_deny(c) == DenyMatch::Yes));
//! ```
//!
//! The crate is pure: no processes, no files, no environment.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod analysis;
mod classify;
mod command;
mod danger;
mod directory;
mod environment;
mod gate;
mod grammar;
mod kinds;
mod outputs;
mod pattern;
mod reason;
mod scan;
mod texts;
mod word;

pub use analysis::{Analysis, analyse};
pub use classify::{Classification, Effect, PathOperand, PathRole, is_judged_by_name};
pub use command::{Assignment, Connector, Redirect, RedirectKind, SimpleCommand, Understood};
pub use danger::{Catastrophe, Suspicion, catastrophic, suspicious};
pub use directory::{Directories, ProcessPath, as_written, both_ways};
pub use outputs::{Output, OutputKind};
pub use pattern::{BashPattern, DenyMatch, PatternProblem, parse_rule_pattern, suggest_rule};
pub use reason::{MAX_CHARS, NotUnderstood, Undecided};
pub use scan::{FoundCommand, is_shell};
pub use word::{Word, WordKind};

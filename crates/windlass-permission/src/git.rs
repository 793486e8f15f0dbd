//! Effects that the files of a git repository can have on a reading git command.
//!
//! Git runs programs that configuration names: monitors, pagers, converters, filters, signature checkers. A repository
//! has its own configuration, so before `git status` may run without a permission request, these have to be read. The
//! functions here judge bytes that the caller read. They are pure, total and bounded by their input, and every doubt
//! means *not inert*.
//!
//! The configuration of the user and of the machine is not read: it is theirs.

mod attributes;
mod config;
mod index;
mod places;

pub use attributes::attributes_are_inert;
pub use config::{GitConfig, inert_config};
pub use index::{GitIndex, GitTracked, index_names, read_index};
pub use places::{ConfigPlaces, HOOK_NAMES, config_places, gitdir_target};

/// Returns `true` if a variable of the environment changes which repository, configuration or programs git uses.
#[must_use]
pub fn redirects_git(variable: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "GIT_ADVICE",
        "GIT_ASKPASS",
        "GIT_AUTHOR_DATE",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_DATE",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_EDITOR",
        "GIT_MERGE_AUTOEDIT",
        "GIT_OPTIONAL_LOCKS",
        "GIT_PAGER",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSL_CAINFO",
        "GIT_TERMINAL_PROMPT",
    ];
    let upper = variable.to_ascii_uppercase();
    upper.starts_with("GIT_") && !HARMLESS.contains(&upper.as_str())
}

//! Permissions as the command line gives them.

use crate::args::PermissionArgs;
use crate::failure::Usage;
use windlass::permission::{rule_text, split_rules};
use windlass::{
    Permissions,
    permission::{Behavior, PermissionUpdate},
};

/// The rules of a flag that may be repeated; each value is a list.
pub(crate) fn rules(values: &[String]) -> Vec<String> {
    values.iter().flat_map(|value| split_rules(value)).collect()
}

/// The word for a behavior in settings.
pub(crate) fn behavior_word(behavior: Behavior) -> &'static str {
    match behavior {
        Behavior::Deny => "deny",
        Behavior::Ask => "ask",
        _ => "allow",
    }
}

/// Permissions without a host to ask. Every rule must be usable: a typo in an
/// allow rule would otherwise only show when the agent is refused something.
pub(crate) fn permissions(args: &PermissionArgs) -> Result<(Permissions, Vec<String>), Usage> {
    let (allow, deny) = (rules(&args.allowed_tools), rules(&args.disallowed_tools));
    let mut notes = Permissions::check_rules(Behavior::Allow, &allow).map_err(Usage)?;
    notes.extend(Permissions::check_rules(Behavior::Deny, &deny).map_err(Usage)?);
    Ok((Permissions::new().allow(allow).deny(deny), notes))
}

/// Returns the flags that would allow a call, from the suggestions of its decision.
pub(crate) fn flags_for(suggestions: &[PermissionUpdate]) -> Option<String> {
    let flags: Vec<String> = suggestions
        .iter()
        .filter_map(|suggestion| match suggestion {
            PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, .. } => {
                let rules: Vec<String> = rules.iter().map(rule_text).collect();
                Some(format!("--allowedTools '{}'", rules.join(",")))
            }
            PermissionUpdate::SetMode { mode, .. } => Some(format!("--permission-mode {mode}")),
            PermissionUpdate::AddDirectories { directories, .. } => {
                directories.first().map(|directory| format!("--add-dir {}", directory.display()))
            }
            _ => None,
        })
        .collect();
    if flags.is_empty() { None } else { Some(flags.join(" or ")) }
}

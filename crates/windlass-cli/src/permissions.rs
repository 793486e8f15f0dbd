//! Permissions as the command line gives them.

use crate::args::PermissionArgs;
use crate::failure::Usage;
use std::path::Path;
use windlass::crates::permission::{PolicyConfig, rule_text, split_rules};
use windlass::crates::types::RuleSource;
use windlass::{Behavior, PermissionUpdate, Permissions, Policy};

/// The rules of a flag that may be repeated; each value is a list.
pub(crate) fn rules(values: &[String]) -> Vec<String> {
    values.iter().flat_map(|value| split_rules(value)).collect()
}

/// Permissions without anybody to ask. Every rule must be usable: a typo in an
/// allow rule would otherwise only show when the agent is refused something.
pub(crate) fn permissions(args: &PermissionArgs, bypass: bool) -> Result<(Permissions, Vec<String>), Usage> {
    let (allow, deny) = (rules(&args.allowed_tools), rules(&args.disallowed_tools));
    let notes = check(&allow, Behavior::Allow)?.into_iter().chain(check(&deny, Behavior::Deny)?).collect();
    let mut permissions = Permissions::new().mode(args.permission_mode.unwrap_or_default()).allow(allow).deny(deny);
    if bypass {
        permissions = permissions.allow_bypass();
    }
    Ok((permissions, notes))
}

/// Checks rules, and returns what is odd about usable ones.
pub(crate) fn check(rules: &[String], behavior: Behavior) -> Result<Vec<String>, Usage> {
    // Where the rules start does not matter for whether they can be used.
    let root = Path::new("/");
    let mut policy = Policy::new(PolicyConfig::new(root));
    let warnings =
        policy.add_rules(RuleSource::CliArg, behavior, rules, root).map_err(|error| Usage(error.to_string()))?;
    match warnings.iter().find(|warning| warning.ignored) {
        Some(warning) => Err(Usage(format!("permission rule `{}` {}", warning.rule, warning.problem))),
        None => Ok(warnings.iter().map(ToString::to_string).collect()),
    }
}

/// The flags that would allow a call, from what its decision suggests.
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

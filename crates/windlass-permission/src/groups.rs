//! Verdicts on all calls of a kind.

use crate::call::Call;
use crate::raise::Gap;
use std::collections::BTreeMap;
use windlass_types::{Behavior, Decision, DecisionReason, PermissionGroup};

/// Behavior for all calls of a group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups(BTreeMap<PermissionGroup, Behavior>);

impl Groups {
    /// Sets the behavior of a group. Of two verdicts on one group the stricter one wins.
    pub(crate) fn set(&mut self, group: PermissionGroup, behavior: Behavior) {
        let known = self.0.entry(group).or_insert(behavior);
        *known = (*known).min(behavior);
    }

    /// Returns `true` if all calls of a group are denied.
    pub(crate) fn denies(&self, group: PermissionGroup) -> bool {
        self.0.get(&group) == Some(&Behavior::Deny)
    }

    /// Returns `true` if calls of a kind are allowed for which only a rule is missing.
    pub(crate) fn allows_all(&self, group: PermissionGroup) -> bool {
        self.0.get(&group) == Some(&Behavior::Allow)
    }

    fn of(&self, call: &Call<'_>) -> Option<(PermissionGroup, Behavior)> {
        let group = PermissionGroup::of(call.tool, &call.facts.access);
        self.0.get(&group).map(|behavior| (group, *behavior))
    }

    /// Returns the verdict, if it is this one and no allow.
    pub(crate) fn lowers(&self, call: &Call<'_>, to: Behavior) -> Option<Decision> {
        let (group, behavior) = self.of(call).filter(|(_, behavior)| *behavior == to && to != Behavior::Allow)?;
        let does = if behavior == Behavior::Deny { "are denied" } else { "are asked about" };
        let message = format!("All calls of the group {} {does}.", group.as_str());
        Some(Decision::new(behavior, DecisionReason::Rule, message))
    }

    /// Allows a call for which only a rule is missing: not one outside of the workspace, or one that is not understood.
    pub(crate) fn allows(&self, call: &Call<'_>, gap: &Gap) -> Option<Decision> {
        let (group, _) = self.of(call).filter(|(_, behavior)| *behavior == Behavior::Allow)?;
        let message = format!("Calls of the group {} are allowed.", group.as_str());
        let is_missing = matches!(gap, Gap::Edit | Gap::NoRule);
        is_missing.then(|| Decision::new(Behavior::Allow, DecisionReason::Rule, message))
    }
}

//! Commands of PowerShell, which are not read.

use crate::common::{Rules, World, allow, deny};
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::PermissionMode;

#[test]
fn every_command_asks_unless_the_whole_tool_is_allowed() {
    for (rules, expected) in [
        (Rules::default(), Ask),
        (allow(&["PowerShell(Get-ChildItem *)"]), Ask),
        (allow(&["PowerShell"]), Allow),
        (deny(&["PowerShell(Remove-Item *)"]), Deny),
        (deny(&["PowerShell"]), Deny),
        (Rules { allow: &["PowerShell"], ask: &["PowerShell(Remove-Item *)"], ..Rules::default() }, Ask),
    ] {
        assert_eq!(World::new(rules).verdict("PowerShell Get-ChildItem src"), expected, "{rules:?}");
    }
    let bypass = World::in_mode(PermissionMode::BypassPermissions, deny(&["PowerShell(Remove-Item *)"]));
    assert_eq!(bypass.verdict("PowerShell Get-ChildItem src"), Deny);
}

#[test]
fn no_answer_allows_all_of_them_for_good() {
    let decision = World::new(Rules::default()).decision("PowerShell Get-ChildItem src");
    assert_eq!((decision.behavior, decision.suggestions), (Ask, vec![]));
}

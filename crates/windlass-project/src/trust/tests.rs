use super::*;

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn trust_covers_what_lies_below_in_the_same_project() {
    let mut trust = Trust::new();
    trust
        .add_claude_json(
            r#"{"numStartups":3,"projects":{
                "/w":{"hasTrustDialogAccepted":true,"allowedTools":[]},
                "/no":{"hasTrustDialogAccepted":false},
                "/home":{"hasTrustDialogAccepted":true},
                "/old":{}, "/n":{"hasTrustDialogAccepted":null}}}"#,
        )
        .unwrap();
    trust.add_record(r#"{"projects":{"/r/sub":{"trusted":true}}}"#).unwrap();
    for (chain, directory, expected) in [
        (&["/w"][..], "/w", true),
        (&["/w", "/w/a"], "/w/a", true),
        (&["/w/a"], "/w/a", false),
        (&["/r", "/r/sub"], "/r", false),
        (&["/r", "/r/sub"], "/r/sub", true),
        (&["/r", "/r/sub", "/r/sub/x"], "/r/sub/x", true),
        (&["/home/me/p"], "/home/me/p", false),
        (&["/wider"], "/wider", false),
        (&["/no"], "/no", false),
        (&["/old"], "/old", false),
        (&["/n"], "/n", false),
    ] {
        let standing = trust.standing(&paths(chain), Path::new(directory), false);
        assert_eq!(standing.is_trusted(), expected, "{chain:?} {directory}");
        assert!(!standing.covers(Path::new("/w/.mcp.json"), TrustKind::Server, "a", "{}"), "no item is pinned");
        assert!(trust.standing(&paths(chain), Path::new(directory), true).is_trusted());
    }
    assert!(Trust::new().for_this_run(true).standing(&paths(&["/x"]), Path::new("/x"), false).is_trusted());
}

#[test]
fn approvals_belong_to_one_directory() {
    let mut trust = Trust::new();
    trust
        .add_record(
            r#"{"projects":{"/w":{"approved":{"allow":["Bash(a)"],"directories":["/x"],"mode":"acceptEdits"}}}}"#,
        )
        .unwrap();
    trust.add_record(r#"{"projects":{"/w":{"approved":{"allow":["Bash(b)"]}}}}"#).unwrap();
    let standing = trust.standing(&paths(&["/w"]), Path::new("/w"), false);
    assert!(!standing.is_trusted());
    assert_eq!(standing.approved.allow.iter().map(String::as_str).collect::<Vec<_>>(), ["Bash(a)", "Bash(b)"]);
    assert_eq!(standing.approved.mode, Some(PermissionMode::AcceptEdits));
    assert_eq!(trust.standing(&paths(&["/w", "/w/a"]), Path::new("/w/a"), false), Standing::untrusted());
}

#[test]
fn what_is_not_a_record_grants_no_trust() {
    for text in
        ["", "1", r#"{"projects":[]}"#, r#"{"projects":{"/w":{"trusted":"yes"}}}"#, r#"{"projects":{"/w":true}}"#]
    {
        let mut trust = Trust::new();
        assert!(trust.add_record(text).is_err(), "{text}");
        assert_eq!(trust, Trust::new());
    }
    for text in ["{", r#"{"projects":{"/w":{"hasTrustDialogAccepted":"true"}}}"#] {
        let mut trust = Trust::new();
        assert!(trust.add_claude_json(text).is_err(), "{text}");
        assert_eq!(trust, Trust::new());
    }
}

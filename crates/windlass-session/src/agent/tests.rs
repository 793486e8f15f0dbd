use super::*;

#[test]
fn what_is_kept_of_an_agent_comes_back() {
    let header = AgentHeader::new("explore", "Looks\n\"around\"", "toolu_1".into()).with_parent(Some("a0".into()));
    let json = header.to_json();
    assert_eq!(
        json,
        r#"{"agentType":"explore","description":"Looks\n\"around\"","toolUseId":"toolu_1","parentAgentId":"a0"}"#
    );
    let head = b"{\"type\":\"x\"}\nbroken\n{\"timestamp\":\"2026-01-01T00:00:00.000Z\"}\n{\"timestamp\":\"2027";
    let summary = AgentSummary::read("a1".into(), json.as_bytes(), head);
    assert_eq!((summary.agent_type, summary.description), (header.agent_type, header.description));
    assert_eq!((summary.tool_use_id, summary.parent), (Some(header.tool_use_id), header.parent));
    assert_eq!(summary.started_at, Some(Timestamp::from_millis(1_767_225_600_000)));
    assert!(!AgentHeader::new("a", "b", "c".into()).to_json().contains("parentAgentId"));
}

#[test]
fn damage_leaves_out_what_it_hides() {
    for meta in ["", "{", "[]", "null", "\u{0}", r#"{"agentType":7,"description":null,"toolUseId":{}}"#] {
        let summary = AgentSummary::read("a1".into(), meta.as_bytes(), b"\xff");
        let nothing = AgentSummary::read("a1".into(), b"", b"");
        assert_eq!(summary, nothing, "{meta}");
    }
    let meta = r#"{"agentType":"x","description":[1],"worktreePath":"/w"}"#;
    assert_eq!(AgentSummary::read("a1".into(), meta.as_bytes(), b"").agent_type, "x");
    let long = AgentHeader::new("x", "\u{e9}".repeat(2_000), "t".into()).to_json();
    assert_eq!(AgentSummary::read("a1".into(), long.as_bytes(), b"").description, "\u{e9}".repeat(MAX_CHARS));
}

#[test]
fn the_first_to_begin_is_first() {
    let agent = |id: &str, time: Option<u64>| {
        let mut summary = AgentSummary::read(id.into(), b"", b"");
        summary.started_at = time.map(Timestamp::from_millis);
        summary
    };
    let mut agents =
        [agent("d", None), agent("c", Some(2)), agent("b", Some(2)), agent("a", Some(3)), agent("e", Some(1))];
    AgentSummary::sort(&mut agents);
    let ids: Vec<_> = agents.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["e", "b", "c", "a", "d"]);
}

use super::*;
use windlass_types::{RateLimitKind, RateLimitStatus, TaskUsage, Utilization};

fn read(line: &str) -> Message {
    let message = Message::read(JsonText::parse(line).unwrap());
    assert_eq!(message.raw().as_str(), line);
    message
}

#[test]
fn known_messages_are_typed_and_kept_as_they_came() {
    let Message::System(system) = read(
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","tools":["Read"],"permissionMode":"plan","x":1.50}"#,
    ) else {
        panic!("not a system message")
    };
    let init = system.init().unwrap();
    assert_eq!((init.cwd.as_str(), init.permission_mode.as_str(), init.tools.len()), ("/w", "plan", 1));

    let Message::Assistant(assistant) = read(
        r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"hi"},{"type":"hologram"}]},"error":"rate_limit"}"#,
    ) else {
        panic!("not an assistant message")
    };
    assert_eq!(
        (assistant.text().as_str(), assistant.content.len(), assistant.error.as_deref()),
        ("hi", 2, Some("rate_limit"))
    );

    let Message::User(user) = read(r#"{"type":"user","message":{"content":"x"},"tool_use_result":{"n":1e400}}"#) else {
        panic!("not a user message")
    };
    assert_eq!(user.tool_use_result.unwrap().as_str(), r#"{"n":1e400}"#);

    let Message::StreamEvent(event) =
        read(r#"{"type":"stream_event","event":{"delta":{"type":"text_delta","text":"He"}}}"#)
    else {
        panic!("not a stream event")
    };
    assert_eq!(event.text().as_deref(), Some("He"));

    let Message::Result(result) = read(
        r#"{"type":"result","subtype":"success","is_error":false,"result":"ok","total_cost_usd":null,"usage":{"input_tokens":3,"new":{}}}"#,
    ) else {
        panic!("not a result")
    };
    assert_eq!((result.result.as_deref(), result.counts.usage.input_tokens), (Some("ok"), 3));
}

#[test]
fn what_is_not_known_or_lacks_a_field_is_kept() {
    for (line, kind) in [
        (r#"{"type":"hologram","x":[1]}"#, "hologram"),
        (r#"{"type":"result"}"#, "result"),
        (r#"{"type":"system"}"#, "system"),
        (r#"{"type":"assistant","message":{"content":7}}"#, "assistant"),
        (r#"{"type":"user"}"#, "user"),
        (r#"{"type":"rate_limit_event"}"#, "rate_limit_event"),
        (r#"{"type":"rate_limit_event","rate_limit_info":{"resetsAt":1}}"#, "rate_limit_event"),
        (r#"{"x":1}"#, ""),
        (r#"{"type":7}"#, ""),
    ] {
        let Message::Other(other) = read(line) else { panic!("{line}") };
        assert_eq!(other.kind, kind, "{line}");
    }
}

#[test]
fn an_allowance_is_read_as_far_as_it_can_be() {
    let limit = |info: &str| {
        let line = format!(r#"{{"type":"rate_limit_event","rate_limit_info":{info},"uuid":"u","session_id":"s"}}"#);
        let Message::RateLimit(message) = read(&line) else { panic!("{line}") };
        assert_eq!(message.session_id, "s");
        message.info
    };
    let warning = RateLimit::new(RateLimitStatus::AllowedWarning)
        .with_kind(Some(RateLimitKind::FiveHour))
        .with_utilization(Utilization::new(0.82))
        .with_resets_at(Some(1_795_170_000));
    assert_eq!(
        limit(r#"{"status":"allowed_warning","rateLimitType":"five_hour","utilization":0.82,"resetsAt":1795170000}"#),
        warning
    );
    let rejected = RateLimit::new(RateLimitStatus::Rejected)
        .with_overage(Some(RateLimitStatus::Allowed), Some(7))
        .with_overage_disabled_reason(Some("later_reason".into()));
    assert_eq!(
        limit(
            r#"{"status":"rejected","overageStatus":"allowed","overageResetsAt":7,"overageDisabledReason":"later_reason","isUsingOverage":true,"later":[]}"#
        ),
        rejected
    );
    assert_eq!(limit(r#"{"status":"paused"}"#).status, RateLimitStatus::Other("paused".into()));
    assert_eq!(
        limit(r#"{"status":"allowed","resetsAt":"soon","rateLimitType":5,"utilization":-1,"isUsingOverage":"no"}"#),
        RateLimit::new(RateLimitStatus::Allowed)
    );
}

#[test]
fn agents_and_work_in_the_background_are_typed() {
    let of_agent = r#""message":{"content":"x"},"parent_tool_use_id":"t0","agent_id":"a1","subagent_type":"Explore""#;
    let (Message::Assistant(assistant), Message::User(user)) =
        (read(&format!(r#"{{"type":"assistant",{of_agent}}}"#)), read(&format!(r#"{{"type":"user",{of_agent}}}"#)))
    else {
        panic!("not messages of an agent")
    };
    assert_eq!(assistant.agent, Some(AgentIdentity::new("a1".into(), "Explore")));
    assert_eq!((user.agent, user.parent_tool_use_id), (assistant.agent, assistant.parent_tool_use_id));

    let task = |fields: &str| {
        let Message::System(system) = read(&format!(r#"{{"type":"system","task_id":"a1",{fields}}}"#)) else {
            panic!("{fields}")
        };
        system.task()
    };
    let Some(TaskMessage::Started(started)) =
        task(r#""subtype":"task_started","description":"Look","task_type":"local_agent","subagent_type":"Explore""#)
    else {
        panic!("not a start")
    };
    assert_eq!((started.task_id.as_str(), started.subagent_type.as_deref()), ("a1", Some("Explore")));
    let usage = r#""usage":{"total_tokens":900,"tool_uses":3,"duration_ms":4100,"new":1}"#;
    let progress = format!(r#""subtype":"task_progress","description":"Look",{usage},"last_tool_name":"Read""#);
    let Some(TaskMessage::Progress(progress)) = task(&progress) else { panic!("not progress") };
    assert_eq!((progress.usage, progress.last_tool_name.as_deref()), (TaskUsage::new(900, 3, 4_100), Some("Read")));
    let ended =
        format!(r#""subtype":"task_notification","status":"completed","output_file":"","summary":"ok",{usage}"#);
    let Some(TaskMessage::Ended(ended)) = task(&ended) else { panic!("not an end") };
    assert_eq!((ended.status.as_str(), ended.usage), ("completed", Some(TaskUsage::new(900, 3, 4_100))));
    // Messages that lack a field, and messages about other subjects.
    for other in [r#""subtype":"task_progress","description":"Look""#, r#""subtype":"status""#] {
        assert_eq!(task(other), None, "{other}");
    }
}

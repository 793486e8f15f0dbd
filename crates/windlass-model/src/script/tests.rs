use super::*;
use crate::wire;
use futures_util::{FutureExt, StreamExt};
use serde_json::json;
use windlass_types::{
    JsonText, Message, ModelEvent, ModelItem, RateLimit, RateLimitStatus, StopReason, StreamDelta, Usage, Utilization,
};

fn request(text: &str) -> Arc<ModelRequest> {
    Arc::new(ModelRequest::new("m", vec![Message::user_text(text).into()], 1000))
}

fn open(model: &ScriptedModel, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
    model.stream(request).now_or_never().expect("nothing to wait for")
}

fn play(model: &ScriptedModel) -> Vec<Result<ModelItem, ModelError>> {
    open(model, request("hi")).unwrap().collect::<Vec<_>>().now_or_never().expect("nothing to wait for")
}

fn events(model: &ScriptedModel) -> Vec<ModelEvent> {
    play(model).into_iter().map(|item| item.unwrap().event).collect()
}

fn text_of(events: &[ModelEvent]) -> Vec<&str> {
    let pieces = events.iter().filter_map(|event| match event {
        ModelEvent::BlockDelta { delta: StreamDelta::Text(text), .. } => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

fn one(write: impl FnOnce(ScriptedTurn) -> ScriptedTurn) -> ScriptedModel {
    ScriptedModel::new(Script::new().turn(write))
}

#[test]
fn a_turn_streams_its_blocks() {
    let model = one(|turn| {
        turn.thinking("hm", "sig").text("日本語").tool_use("Read", json!({"a": 1})).usage(Usage::new(10, 20))
    });
    let events = events(&model.with_delta_chars(2));
    let kinds: Vec<String> = events.iter().map(|event| wire::event_json(event).as_str().to_owned()).collect();
    let block = |index: usize, rest: &str| format!(r#"{{"type":"content_block_{rest},"index":{index}"#);
    assert!(kinds[0].contains(r#""id":"msg_script_0""#) && kinds[0].contains(r#""output_tokens":1"#), "{}", kinds[0]);
    assert!(kinds[1].starts_with(&block(0, r#"start""#)));
    assert!(kinds[2].contains(r#"{"type":"thinking_delta","thinking":"hm"}"#));
    assert!(kinds[3].contains(r#"{"type":"signature_delta","signature":"sig"}"#));
    assert!(kinds[4].starts_with(&block(0, r#"stop""#)));
    assert_eq!(text_of(&events), ["日本", "語"]);
    assert!(kinds[9].contains(r#"{"type":"tool_use","id":"toolu_script_0_2","name":"Read","input":{}}"#));
    let stop = ModelEvent::MessageDelta { stop_reason: Some(StopReason::ToolUse), usage: Usage::new(10, 20) };
    assert_eq!(events[events.len() - 2..], [stop, ModelEvent::MessageStop]);
}

#[test]
fn zero_characters_mean_one_piece() {
    let model = one(|turn| turn.text("a long enough text")).with_delta_chars(0);
    assert_eq!(text_of(&events(&model)), ["a long enough text"]);
    let model = one(|turn| turn.text("abc").delta_chars(1)).with_delta_chars(0);
    assert_eq!(text_of(&events(&model)), ["a", "b", "c"]);
}

#[test]
fn an_answer_without_tools_ends_the_turn() {
    let model = one(|turn| turn.text("x"));
    let reason = |events: &[ModelEvent]| match &events[events.len() - 2] {
        ModelEvent::MessageDelta { stop_reason, .. } => stop_reason.clone().unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&events(&model)), StopReason::EndTurn);
    let model = one(|turn| turn.text("x").stop_reason(StopReason::MaxTokens));
    assert_eq!(reason(&events(&model)), StopReason::MaxTokens);
}

#[test]
fn raw_frames_come_when_asked_for() {
    let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("x"));
    assert!(play(&model).iter().all(|item| item.as_ref().unwrap().raw.is_none()));
    let mut asked = ModelRequest::new("m", Vec::new(), 1);
    asked.raw_frames = true;
    let items: Vec<_> = open(&model, Arc::new(asked)).unwrap().collect().now_or_never().unwrap();
    for item in items {
        let item = item.unwrap();
        assert_eq!(wire::read_event(item.raw.unwrap().as_str()).unwrap(), item.event);
    }
}

#[test]
fn a_refused_request_names_what_the_script_says() {
    let script = Script::new()
        .turn(|turn| {
            turn.fail(ModelErrorKind::Overloaded).status(529).retry_after(Duration::from_secs(2)).message("no")
        })
        .fail(ModelErrorKind::Timeout);
    let model = ScriptedModel::new(script);
    let error = open(&model, request("x")).err().unwrap();
    assert_eq!((error.kind, error.status), (ModelErrorKind::Overloaded, Some(529)));
    assert_eq!((error.retry_after, error.to_string().as_str()), (Some(Duration::from_secs(2)), "no"));
    assert_eq!(open(&model, request("x")).err().unwrap().kind, ModelErrorKind::Timeout);
}

#[test]
fn a_stream_breaks_or_ends_where_the_script_says() {
    for events in 0..7 {
        let broken = play(&one(|turn| turn.text("x").fail_after(events, ModelErrorKind::Server)));
        let expected = events.min(6) + 1;
        assert_eq!(broken.len(), expected);
        assert_eq!(broken.last().unwrap().as_ref().unwrap_err().kind, ModelErrorKind::Server);
        let cut = play(&one(|turn| turn.text("x").cut_after(events)));
        assert_eq!(cut.len(), events.min(6));
        assert!(cut.iter().all(Result::is_ok));
    }
}

#[test]
fn an_input_that_is_not_json_is_streamed_as_it_is() {
    let model = one(|turn| turn.tool_use_text("Read", "{\"a\":")).with_delta_chars(0);
    let has = events(&model).into_iter().any(
        |event| matches!(event, ModelEvent::BlockDelta { delta: StreamDelta::ToolInput(text), .. } if text == "{\"a\":"),
    );
    assert!(has);
}

#[test]
fn a_script_that_has_run_out_says_so() {
    let model = one(|turn| turn.text("x"));
    assert_eq!(model.remaining(), Some(1));
    events(&model);
    let error = open(&model, request("what now?")).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Replay);
    assert_eq!(
        error.to_string(),
        r#"the script ends after turn 1 and is asked for turn 2; the request ends with the text "what now?" from the user"#
    );
    assert_eq!((model.requests().len(), model.asked(), model.remaining()), (2, 2, Some(0)));
}

#[test]
fn a_function_decides_from_the_request() {
    let model = ScriptedModel::from_fn(|request, number| {
        ScriptedTurn::new().text(format!("{number}{}", request.messages[0].text())).delta_chars(0)
    });
    assert_eq!(text_of(&events(&model)), ["0hi"]);
    assert_eq!(text_of(&events(&model.clone())), ["1hi"]);
    assert_eq!(model.remaining(), None);
}

#[test]
fn a_gate_holds_the_answer_and_the_stream() {
    let (first, second) = (Gate::new(), Gate::new());
    let model = one(|turn| turn.text("x").gate(&first).gate_at(2, &second));
    let mut opening = model.stream(request("x"));
    assert!(opening.as_mut().now_or_never().is_none());
    assert_eq!(first.arrived(), 1);
    assert!(first.wait_arrived(2).now_or_never().is_none());
    first.open();
    let mut stream = opening.now_or_never().expect("open").unwrap();
    assert!(stream.next().now_or_never().is_some());
    assert!(stream.next().now_or_never().is_some());
    assert!(stream.next().now_or_never().is_none());
    assert!(stream.next().now_or_never().is_none());
    assert_eq!(second.arrived(), 1);
    second.open();
    assert_eq!(stream.count().now_or_never(), Some(4));
}

#[test]
fn a_gate_wakes_who_waits_at_it() {
    let gate = Gate::new();
    let model = one(|turn| turn.text("x").gate_at(0, &gate));
    let stream = open(&model, request("x")).unwrap();
    let reader = std::thread::spawn(move || futures_executor::block_on(stream.count()));
    futures_executor::block_on(gate.wait_arrived(1));
    gate.open();
    assert_eq!(reader.join().unwrap(), 6);
}

#[test]
fn deltas_are_paced_by_the_callers_sleep() {
    let slept = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&slept);
    let model =
        one(|turn| turn.text("abcd")).with_delta_chars(2).with_pacing(Duration::from_millis(20), move |pause| {
            log.lock().unwrap().push(pause);
            std::future::ready(())
        });
    events(&model);
    assert_eq!(*slept.lock().unwrap(), [Duration::from_millis(20); 2]);
}

#[test]
fn a_script_is_read_from_json() {
    let text = r#"{"version":1,"turns":[
        {"blocks":[
            {"type":"thinking","thinking":"hm","signature":"s"},
            {"type":"text","text":"in ${dir}"},
            {"type":"tool_use","name":"Read","input":{"file_path":"${dir}/a"}},
            {"type":"tool_use","id":"mine","name":"Read","input":{"n":1.50}},
            {"type":"redacted_thinking","data":"x"}],
         "model":"other","id":"msg_1","delta_chars":0,"usage":{"input_tokens":5,"output_tokens":6}},
        {"fail":{"kind":"rate_limited","after":1,"retry_after_ms":1500,"status":429,"message":"slow down"},
         "blocks":[{"type":"text","text":"x"}]},
        {"blocks":[{"type":"text","text":"x"}],"cut_after":2,"rate_limit":{"status":"allowed_warning","utilization":0.5}},
        {"fail":{"kind":"rate_limited"},"rate_limit":{"status":"rejected"}}]}"#;
    let model = ScriptedModel::new(Script::from_json_with(text, &[("dir", "/a\"b\\c\"")]).unwrap());
    let first = events(&model);
    let json: Vec<String> = first.iter().map(|event| wire::event_json(event).as_str().to_owned()).collect();
    let all = json.join("\n");
    assert!(all.contains(r#""id":"msg_1""#) && all.contains(r#""model":"other""#), "{all}");
    assert_eq!(text_of(&first), ["in /a\"b\\c\""]);
    let inputs: Vec<&str> = first
        .iter()
        .filter_map(|event| match event {
            ModelEvent::BlockDelta { delta: StreamDelta::ToolInput(text), .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(inputs, [r#"{"file_path":"/a\"b\\c\"/a"}"#, r#"{"n":1.50}"#]);
    assert!(inputs.iter().all(|input| JsonText::parse_strict(*input).is_ok()));
    let second = play(&model);
    let error = second.last().unwrap().as_ref().unwrap_err();
    assert_eq!((second.len(), error.kind, error.status), (2, ModelErrorKind::RateLimited, Some(429)));
    assert_eq!(error.retry_after, Some(Duration::from_millis(1500)));
    let third = play(&model);
    let warning = RateLimit::new(RateLimitStatus::AllowedWarning).with_utilization(Utilization::new(0.5));
    let first = third.first().unwrap().as_ref().unwrap();
    assert_eq!((third.len(), &first.event, &first.raw), (3, &ModelEvent::RateLimit(Box::new(warning)), &None));
    let refused = open(&model, request("hi")).err().unwrap();
    assert_eq!(refused.rate_limit.unwrap().status, RateLimitStatus::Rejected);
}

#[test]
fn a_bad_script_names_the_place() {
    for (text, expected) in [
        ("", "not a script: EOF"),
        (r#"{"version":2,"turns":[]}"#, "not a script: version 2 is not known"),
        (r#"{"version":1,"turns":[{"bloks":[]}]}"#, "not a script: unknown field `bloks`"),
        (r#"{"version":1,"turns":[{},{"blocks":[{"type":"text"}]}]}"#, "not a script: turn 2: block 1: missing field"),
        (r#"{"version":1,"turns":[{"fail":{"kind":"tired"}}]}"#, "not a script: unknown variant `tired`"),
    ] {
        let error = Script::from_json(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

use super::*;
use crate::{ModelError, ModelInfo, ModelProvider, ModelStream, Script, ScriptedModel, ScriptedTurn};
use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt};
use proptest::prelude::*;
use serde_json::json;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use windlass_types::{
    BlockStart, ContentBlock, JsonText, Message, ModelErrorKind, ModelEvent, ModelItem, ModelRequest, RateLimit,
    RateLimitStatus, SectionScope, StopReason, StreamDelta, SystemSection, ToolResult, ToolSpec, ToolUse, Usage,
    Utilization,
};

/// A file that the test can read while the recorder writes it.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Tape {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    fn replay(&self, scrub: Scrub) -> Replayer {
        Replayer::load(self.text().as_bytes(), scrub).unwrap()
    }
}

type Played = Result<Vec<Result<ModelItem, ModelError>>, ModelError>;

fn play(model: &dyn ModelProvider, request: &ModelRequest) -> Played {
    let stream = model.stream(Arc::new(request.clone())).now_or_never().expect("nothing to wait for")?;
    Ok(stream.collect().now_or_never().expect("nothing to wait for"))
}

/// Returns the played items in a comparable form.
fn shown(played: &Played) -> String {
    format!("{played:?}")
}

fn ask(texts: &[&str]) -> ModelRequest {
    let messages = texts.iter().enumerate().map(|(at, text)| {
        let content = vec![ContentBlock::text(*text)];
        if at % 2 == 0 { Message::user(content).into() } else { Message::assistant(content).into() }
    });
    let mut request = ModelRequest::new("m", messages.collect(), 100);
    request.system = vec![SystemSection::new("be brief", SectionScope::Global)];
    let schema = JsonText::parse("{\n  \"type\": \"object\"}").unwrap();
    request.tools = Arc::from([Arc::new(ToolSpec::new("Read", "reads", schema))]);
    request.raw_frames = true;
    request
}

fn limit() -> RateLimit {
    RateLimit::new(RateLimitStatus::Rejected)
        .with_kind(Some("one_moon".into()))
        .with_utilization(Utilization::new(0.83))
        .with_resets_at(Some(1_795_170_000))
        .with_overage(Some(RateLimitStatus::Allowed), Some(1_795_180_000))
}

fn error_of(played: Played) -> ModelError {
    played.expect_err("refused")
}

fn record(script: Script, requests: &[ModelRequest], scrub: Scrub) -> (Tape, Vec<Played>) {
    let tape = Tape::default();
    let recorder = Recorder::start(ScriptedModel::new(script), tape.clone(), scrub).unwrap();
    let played = requests.iter().map(|request| play(&recorder, request)).collect();
    recorder.finish().unwrap();
    (tape, played)
}

#[test]
fn a_run_is_replayed_byte_for_byte() {
    let script = Script::new()
        .turn(|turn| turn.thinking("hm", "sig").text("日本語 in pieces").tool_use("Read", json!({"a": 1.5})))
        .turn(|turn| turn.fail(ModelErrorKind::Overloaded).status(529).retry_after(Duration::from_millis(1500)))
        .turn(|turn| turn.fail(ModelErrorKind::Connection).should_retry(false).unbilled())
        .turn(|turn| turn.rate_limit(limit()).fail(ModelErrorKind::RateLimited).status(429))
        .turn(|turn| turn.text("again").fail_after(3, ModelErrorKind::Server))
        .turn(|turn| turn.text("cut").cut_after(3))
        .turn(|turn| turn.rate_limit(limit()).text("done").usage(Usage::new(7, 8)));
    let requests = [
        ask(&["hi"]),
        ask(&["hi", "look", "what?"]),
        ask(&["hi", "look", "what?"]),
        ask(&["hi", "look", "what?"]),
        ask(&["hi", "look", "what?"]),
        ask(&["hi", "look", "what?"]),
        ask(&["other"]),
    ];
    let (tape, played) = record(script, &requests, Scrub::new());
    let replayer = tape.replay(Scrub::new());
    assert_eq!((replayer.name(), replayer.remaining()), ("script", 7));
    assert_eq!(tape.text().matches("one_moon").count(), 2, "in the stream and with the refusal");
    for (request, played) in requests.iter().zip(&played) {
        assert_eq!(shown(&play(&replayer, request)), shown(played));
    }
    assert_eq!(replayer.remaining(), 0);
    // The history is in the file once.
    assert_eq!(tape.text().matches("what?").count(), 1);
}

#[test]
fn counts_are_replayed() {
    let tape = Tape::default();
    let recorder = Recorder::start(ScriptedModel::new(Script::new()), tape.clone(), Scrub::new()).unwrap();
    let request = Arc::new(ask(&["hi"]));
    let counted = recorder.count_tokens(Arc::clone(&request)).now_or_never().unwrap().unwrap();
    let replayer = tape.replay(Scrub::new());
    let error = error_of(play(&replayer, &request));
    assert!(error.message.contains("expected a request for a count of tokens, but got one for an answer"), "{error}");
    assert_eq!(replayer.count_tokens(request).now_or_never().unwrap().unwrap(), counted);
}

#[test]
fn a_dropped_stream_says_so_when_more_is_wanted() {
    let tape = Tape::default();
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("x")));
    let recorder = Recorder::start(model, tape.clone(), Scrub::new()).unwrap();
    let mut stream = recorder.stream(Arc::new(ask(&["hi"]))).now_or_never().unwrap().unwrap();
    for _ in 0..2 {
        stream.next().now_or_never().unwrap().unwrap().unwrap();
    }
    assert_eq!(tape.text().lines().count(), 1);
    drop(stream);
    assert!(tape.text().ends_with("{\"end\":\"dropped\"}\n"));
    let items = play(&tape.replay(Scrub::new()), &ask(&["hi"])).unwrap();
    assert_eq!((items.len(), items[2].as_ref().unwrap_err().kind), (3, ModelErrorKind::Replay));
}

#[test]
fn a_divergence_is_named() {
    let with_block = |block: ContentBlock| {
        let mut request = ask(&["hi", "look"]);
        request.messages.push(Message::user(vec![ContentBlock::text("so"), block]).into());
        request
    };
    let recorded = with_block(ToolResult::ok("toolu_1", "alpha beta").into_block());
    let mut no_tools = recorded.clone();
    no_tools.tools = Arc::from([]);
    let mut system = recorded.clone();
    system.system = vec![SystemSection::new("be long", SectionScope::Global)];
    let mut model = recorded.clone();
    model.model = "n".to_owned();
    let mut shorter = recorded.clone();
    shorter.messages.truncate(2);
    let cases = [
        (model, r#"the model: expected "m", but got "n""#),
        (no_tools, r#"the name of tool 1: expected "Read", but there is none"#),
        (system, r#"system section 1: expected "be brief", but got "be long""#),
        (shorter, r#"message 3: expected one of the User that ends with "{\"type\":\"tool_result\",\"tool_use_id\":"#),
        (with_block(ToolResult::ok("toolu_1", "alpha gamma").into_block()), r#"message 3, block 2: expected …""#),
        (ask(&["hi", "look", "so"]), "message 3, block 2: expected \"{\\\"type\\\":\\\"tool_result\\\""),
    ];
    for (request, expected) in cases {
        let (tape, _) =
            record(Script::new().turn(|turn| turn.text("x")), std::slice::from_ref(&recorded), Scrub::new());
        let replayer = tape.replay(Scrub::new());
        let error = error_of(play(&replayer, &request));
        assert_eq!(error.kind, ModelErrorKind::Replay);
        let start = format!("request 1 differs from the cassette at {expected}");
        assert!(error.message.starts_with(&start), "{error}\n{start}");
        // The position in the cassette is not lost.
        assert!(play(&replayer, &recorded).is_ok());
        let error = error_of(play(&replayer, &recorded));
        assert!(error.message.starts_with("the cassette ends after request 1, and there is another one"), "{error}");
    }
}

#[test]
fn settings_need_not_be_the_same() {
    let (tape, _) = record(Script::new().turn(|turn| turn.text("x")), &[ask(&["hi"])], Scrub::new());
    let mut request = ask(&["hi"]);
    request.max_output_tokens = 5;
    request.user_id = Some("someone".to_owned());
    request.betas = vec!["b".to_owned()];
    assert!(play(&tape.replay(Scrub::new()), &request).is_ok());
}

#[test]
fn secrets_never_reach_the_tape() {
    const SECRET: &str = "open sesame";
    const KEY: &str = "sk-ant-api03-aaaaaaaaaaaaaaaaaaaa";
    let text = format!("the word is {SECRET} and {KEY}!");
    let script = Script::new()
        .turn(|turn| turn.text(text.as_str()).thinking(text.as_str(), "s").tool_use("Say", json!({"it": text})))
        .turn(|turn| turn.fail(ModelErrorKind::Authentication).message(format!("bad key {KEY}")));
    let mut request = ask(&[&text]);
    request.system.push(SystemSection::new(text.as_str(), SectionScope::Session));
    request.user_id = Some("device-17".to_owned());
    let scrub = || Scrub::new().secret("WORD", SECRET);
    for chars in [0, 1, 3, 16] {
        let tape = Tape::default();
        let model = ScriptedModel::new(script.clone()).with_delta_chars(chars);
        let recorder = Recorder::start(model, tape.clone(), scrub()).unwrap();
        play(&recorder, &request).unwrap();
        error_of(play(&recorder, &request));
        let text = tape.text();
        for secret in [SECRET, KEY, "sesame", "api03", "device-17"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        let replayer = tape.replay(scrub());
        let items = play(&replayer, &request).unwrap();
        let words: String = items
            .iter()
            .filter_map(|item| match &item.as_ref().unwrap().event {
                ModelEvent::BlockDelta { delta: StreamDelta::Text(text), .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(words, "the word is {{WORD}} and {{KEY}}!");
        assert_eq!(error_of(play(&replayer, &request)).message, "bad key {{KEY}}");
    }
}

#[test]
fn a_cassette_works_in_another_home() {
    let ask_in = |home: &str| ask(&[&format!("look into {home}/a.rs")]);
    let script =
        Script::new().turn(|turn| turn.text("in /home/ann/b").tool_use("Read", json!({"p": "/home/ann/a.rs"})));
    let (tape, _) = record(script, &[ask_in("/home/ann")], Scrub::new().place("HOME", "/home/ann"));
    assert!(!tape.text().contains("ann"));
    let replayer = tape.replay(Scrub::new().place("HOME", "C:\\bob"));
    let items = play(&replayer, &ask_in("C:\\bob")).unwrap();
    let text = |pick: fn(&StreamDelta) -> Option<&str>| -> String {
        let deltas = items.iter().filter_map(|item| match &item.as_ref().unwrap().event {
            ModelEvent::BlockDelta { delta, .. } => pick(delta),
            _ => None,
        });
        deltas.collect()
    };
    assert_eq!(text(|delta| if let StreamDelta::Text(text) = delta { Some(text) } else { None }), "in C:\\bob/b");
    let input = text(|delta| if let StreamDelta::ToolInput(text) = delta { Some(text) } else { None });
    assert_eq!(input, r#"{"p":"C:\\bob/a.rs"}"#);
    for item in &items {
        let item = item.as_ref().unwrap();
        assert_eq!(crate::wire::read_event(item.raw.as_ref().unwrap().as_str()).unwrap(), item.event);
    }
}

#[test]
fn what_changes_from_run_to_run_can_be_rewritten() {
    let scrub = || Scrub::new().rewrite(|text| text.split(" at ").next().unwrap_or_default().to_owned());
    let (tape, _) = record(Script::new().turn(|turn| turn.text("x")), &[ask(&["built at 10:00"])], scrub());
    assert!(play(&tape.replay(scrub()), &ask(&["built at 11:30"])).is_ok());
}

#[test]
fn parallel_calls_can_match_in_any_order() {
    let model = ScriptedModel::from_fn(|request, _| ScriptedTurn::new().text(request.messages[0].text()));
    let tape = Tape::default();
    let recorder = Recorder::start(model, tape.clone(), Scrub::new()).unwrap();
    // Written in the order of their ends, numbered in that of their beginnings.
    let (first, second) = (Arc::new(ask(&["one"])), Arc::new(ask(&["two"])));
    let one = recorder.stream(Arc::clone(&first)).now_or_never().unwrap().unwrap();
    let two = recorder.stream(Arc::clone(&second)).now_or_never().unwrap().unwrap();
    two.count().now_or_never().unwrap();
    one.count().now_or_never().unwrap();
    assert!(tape.text().lines().nth(1).unwrap().starts_with(r#"{"call":1,"#));
    let strict = tape.replay(Scrub::new());
    assert!(play(&strict, &second).is_err());
    assert!(play(&strict, &first).is_ok() && play(&strict, &second).is_ok());
    let loose = tape.replay(Scrub::new()).with_any_order();
    assert!(play(&loose, &second).is_ok() && play(&loose, &first).is_ok());
    assert!(play(&loose, &first).is_err());
}

#[test]
fn only_known_versions_are_read() {
    let load = |text: &str| Replayer::load(text.as_bytes(), Scrub::new()).map(drop).map_err(|error| error.to_string());
    assert_eq!(load("{\"windlass_cassette\":1,\"provider\":\"x\"}\n"), Ok(()));
    assert_eq!(
        load("{\"windlass_cassette\":3,\"new\":true}\n").unwrap_err(),
        "the cassette has version 3; this program reads versions up to 2"
    );
    for text in ["", "\n", "{}", "hello"] {
        assert!(load(text).unwrap_err().starts_with("this is not a cassette"), "{text}");
    }
    let line = |line: &str| load(&format!("{{\"windlass_cassette\":1,\"provider\":\"x\"}}\n{line}\n")).unwrap_err();
    assert_eq!(line("{\"end\":\"complete\"}"), "line 2 of the cassette: it belongs to no call");
    assert!(line("{\"novel\":1}").starts_with("line 2 of the cassette: unknown field `novel`"));
}

#[test]
fn a_cut_cassette_is_refused_unless_whole_calls_are_left() {
    let script = || Script::new().turn(|turn| turn.text("x")).turn(|turn| turn.text("y"));
    let (tape, _) = record(script(), &[ask(&["a"]), ask(&["a", "b", "c"])], Scrub::new());
    let text = tape.text();
    let ends: Vec<usize> = text.match_indices("{\"end\":\"complete\"}").map(|(at, end)| at + end.len()).collect();
    for at in text.char_indices().map(|(at, _)| at) {
        let calls = ends.iter().filter(|end| at >= **end).count();
        match Replayer::load(&text.as_bytes()[..at], Scrub::new()) {
            Ok(replayer) => assert_eq!(replayer.remaining(), calls),
            Err(error) => assert!(!ends.contains(&at), "{error}"),
        }
    }
}

#[test]
fn a_tape_that_cannot_be_written_stops_the_recording() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let model = || ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("x"));
    assert!(Recorder::start(model(), Full(0), Scrub::new()).is_err());
    let recorder = Recorder::start(model(), Full(1), Scrub::new()).unwrap();
    assert!(play(&recorder, &ask(&["a"])).is_ok());
    let error = error_of(play(&recorder, &ask(&["a"])));
    assert!(error.message.starts_with("the cassette cannot be written: "), "{error}");
    assert_eq!(recorder.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
}

/// A provider that streams given items, sensible or not.
#[derive(Debug)]
struct Canned(Vec<ModelItem>);

#[async_trait]
impl ModelProvider for Canned {
    fn name(&self) -> &str {
        "canned"
    }

    fn resolve_model(&self, name: &str) -> String {
        name.to_owned()
    }

    fn model_info(&self, _: &str) -> ModelInfo {
        ModelInfo::new(1, 1)
    }

    async fn stream(&self, _: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        Ok(Box::pin(futures_util::stream::iter(self.0.clone().into_iter().map(Ok))))
    }

    async fn count_tokens(&self, _: Arc<ModelRequest>) -> Result<u64, ModelError> {
        Ok(0)
    }
}

trait IntoBlock {
    fn into_block(self) -> ContentBlock;
}

impl IntoBlock for ToolResult {
    fn into_block(self) -> ContentBlock {
        ContentBlock::ToolResult(self)
    }
}

fn any_event() -> impl Strategy<Value = ModelEvent> {
    let json = || JsonText::parse("{ \"type\": \"odd\",\n\t\"n\": 1.50, \"s\": \"\\u00e9\" }").unwrap();
    let usage = (any::<u32>(), any::<u32>()).prop_map(|(input, output)| Usage::new(input.into(), output.into()));
    let delta = (0..5, ".{0,6}").prop_map(|(kind, text)| match kind {
        0 => StreamDelta::Text(text),
        1 => StreamDelta::Thinking(text),
        2 => StreamDelta::Signature(text),
        3 => StreamDelta::ToolInput(text),
        _ => StreamDelta::Unknown,
    });
    let start = (0..5, "[a-z]{1,6}").prop_map(move |(kind, text)| match kind {
        0 => BlockStart::Text(text),
        1 => BlockStart::Thinking { thinking: text, signature: "s".to_owned() },
        2 => BlockStart::ToolUse { id: text.into(), name: "Read".to_owned() },
        3 => BlockStart::Whole(ContentBlock::Unknown(json())),
        _ => BlockStart::Whole(ContentBlock::ToolUse(ToolUse::new(text, "Read", json()))),
    });
    prop_oneof![
        (".{0,6}", usage.clone()).prop_map(|(id, usage)| ModelEvent::MessageStart {
            id: id.into(),
            model: "m".to_owned(),
            usage
        }),
        (0..9_usize, start).prop_map(|(index, block)| ModelEvent::BlockStart { index, block }),
        (0..9_usize, delta).prop_map(|(index, delta)| ModelEvent::BlockDelta { index, delta }),
        (0..9_usize).prop_map(|index| ModelEvent::BlockStop { index }),
        (prop::option::of("[a-z_]{0,6}"), usage)
            .prop_map(|(reason, usage)| ModelEvent::MessageDelta { stop_reason: reason.map(StopReason::from), usage }),
        Just(ModelEvent::MessageStop),
        Just(ModelEvent::Ping),
        Just(ModelEvent::Unknown),
    ]
}

proptest! {
    /// All items of a provider are replayed unchanged, frames and their white space included.
    #[test]
    fn any_items_survive(
        events in prop::collection::vec((any_event(), 0..3), 0..12),
    ) {
        let items: Vec<ModelItem> = events
            .into_iter()
            .map(|(event, raw)| match raw {
                0 => ModelItem::from(event),
                1 => { let raw = crate::wire::event_json(&event); ModelItem::with_raw(event, raw) }
                _ => ModelItem::with_raw(event, JsonText::parse("{ \"type\":\n \"x\" }").unwrap()),
            })
            .collect();
        let tape = Tape::default();
        let recorder = Recorder::start(Canned(items.clone()), tape.clone(), Scrub::new()).unwrap();
        play(&recorder, &ask(&["a"])).unwrap();
        prop_assert!(tape.text().lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        let back: Vec<ModelItem> =
            play(&tape.replay(Scrub::new()), &ask(&["a"])).unwrap().into_iter().map(Result::unwrap).collect();
        prop_assert_eq!(back, items);
    }

    #[test]
    fn damage_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (tape, _) = record(Script::new().turn(|turn| turn.text("x")), &[ask(&["a"])], Scrub::new());
        let mut bytes = tape.text().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = Replayer::load(&bytes[..], Scrub::new());
    }
}

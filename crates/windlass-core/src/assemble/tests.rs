use super::*;
use proptest::prelude::*;
use windlass_types::ModelEvent as E;

fn start() -> E {
    E::MessageStart { id: "msg_1".into(), model: "m".to_owned(), usage: Usage::new(3, 1) }
}

fn open(index: usize, block: BlockStart) -> E {
    E::BlockStart { index, block }
}

fn text(index: usize) -> E {
    open(index, BlockStart::Text(String::new()))
}

fn call(index: usize, id: &str) -> E {
    open(index, BlockStart::ToolUse { id: id.into(), name: "Read".to_owned() })
}

fn whole(index: usize, json: &str) -> E {
    open(index, BlockStart::Whole(ContentBlock::Unknown(JsonText::parse(json).unwrap())))
}

fn delta(index: usize, delta: StreamDelta) -> E {
    E::BlockDelta { index, delta }
}

fn words(index: usize, text: &str) -> E {
    delta(index, StreamDelta::Text(text.to_owned()))
}

fn input(index: usize, json: &str) -> E {
    delta(index, StreamDelta::ToolInput(json.to_owned()))
}

fn close(index: usize) -> E {
    E::BlockStop { index }
}

fn stop(reason: &str) -> E {
    E::MessageDelta { stop_reason: Some(reason.into()), usage: Usage::new(3, 9) }
}

fn usage() -> E {
    E::MessageDelta { stop_reason: None, usage: Usage::new(3, 5) }
}

fn assemble(events: &[E]) -> Result<Option<AssembledMessage>, AssembleError> {
    let mut assembler = MessageAssembler::new();
    let mut message = None;
    for event in events {
        if let Step::Complete(complete) = assembler.handle(&mut event.clone())? {
            message = Some(*complete);
        }
    }
    assert_eq!(assembler.phase == Phase::Complete, message.is_some());
    Ok(message)
}

/// Returns the tool uses with unusable input, each with the reason.
fn malformed(events: &[E]) -> Vec<(usize, ToolUseId, String)> {
    let (mut assembler, mut malformed) = (MessageAssembler::new(), Vec::new());
    for event in events {
        if let Step::BlockFinished { index, block, malformed: Some(error) } =
            assembler.handle(&mut event.clone()).unwrap()
        {
            malformed.push((index, block.as_tool_use().unwrap().id.clone(), error.to_owned()));
        }
    }
    malformed
}

fn complete(events: &[E]) -> AssembledMessage {
    assemble(events).unwrap().expect("the message is complete")
}

fn call_with(pieces: &[&str]) -> Vec<E> {
    let mut events = vec![start(), call(0, "toolu_1")];
    events.extend(pieces.iter().map(|piece| input(0, piece)));
    events.extend([close(0), stop("tool_use"), E::MessageStop]);
    events
}

#[test]
fn a_message_is_its_pieces_in_order() {
    let events = [
        E::Ping,
        start(),
        open(0, BlockStart::Thinking { thinking: "h".to_owned(), signature: String::new() }),
        delta(0, StreamDelta::Thinking("m".to_owned())),
        delta(0, StreamDelta::Signature("si".to_owned())),
        delta(0, StreamDelta::Signature("g".to_owned())),
        close(0),
        open(1, BlockStart::Text("é".to_owned())),
        E::Unknown,
        words(1, "日本"),
        delta(1, StreamDelta::Unknown),
        usage(),
        words(1, "語"),
        close(1),
        call(2, "toolu_1"),
        input(2, r#"{"a":1.50,"#),
        input(2, r#" "b":"\u00e9"}"#),
        close(2),
        open(3, BlockStart::Whole(ContentBlock::RedactedThinking { data: "xx".to_owned() })),
        close(3),
        usage(),
        stop("tool_use"),
        E::Ping,
        E::MessageStop,
    ];
    let message = complete(&events);
    assert_eq!(message.id.as_str(), "msg_1");
    assert_eq!(message.model, "m");
    assert_eq!(message.stop_reason, StopReason::ToolUse);
    assert_eq!(message.usage, Usage::new(3, 9));
    assert_eq!(malformed(&events), []);
    assert_eq!(
        message.content,
        [
            ContentBlock::Thinking { thinking: "hm".to_owned(), signature: "sig".to_owned() },
            ContentBlock::text("é日本語"),
            ContentBlock::ToolUse(ToolUse::new(
                "toolu_1",
                "Read",
                JsonText::parse(r#"{"a":1.50, "b":"\u00e9"}"#).unwrap()
            )),
            ContentBlock::RedactedThinking { data: "xx".to_owned() },
        ]
    );
}

#[test]
fn steps_show_what_came() {
    let mut assembler = MessageAssembler::new();
    let (begin, first, piece, end) = (start(), text(0), words(0, "hi"), close(0));
    assert!(matches!(assembler.handle(&mut begin.clone()), Ok(Step::Started { model: "m", .. })));
    assert!(matches!(assembler.handle(&mut first.clone()), Ok(Step::Nothing)));
    assert!(
        matches!(assembler.handle(&mut piece.clone()), Ok(Step::Grew { index: 0, delta: Delta::Text(text) }) if text == "hi")
    );
    assert!(matches!(
        assembler.handle(&mut end.clone()),
        Ok(Step::BlockFinished { index: 0, block: ContentBlock::Text { text, .. }, malformed: None }) if text == "hi"
    ));
    assert_ne!(assembler.phase, Phase::Complete);
}

#[test]
fn an_empty_message_is_a_message() {
    assert_eq!(complete(&[start(), stop("end_turn"), E::MessageStop]).content, []);
}

#[test]
fn a_call_without_input_text_has_an_empty_object() {
    for pieces in [&[][..], &[""], &["", ""]] {
        let events = call_with(pieces);
        let message = complete(&events);
        assert_eq!(malformed(&events), []);
        assert_eq!(message.content[0].as_tool_use().unwrap().input.as_str(), "{}");
    }
}

#[test]
fn an_unusable_input_is_named_and_replaced() {
    for bad in [
        "{",
        r#"{"a":1"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a":"\u0000"}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"a":1} {"b":2}"#,
        r#"{"a":1e999}"#,
        "[1]",
        "null",
        "\"rm\"",
        " ",
        "not json",
    ] {
        let events = call_with(&[bad]);
        let (message, malformed) = (complete(&events), malformed(&events));
        let [(0, id, error)] = malformed.as_slice() else { panic!("{bad} was taken") };
        assert_eq!(id.as_str(), "toolu_1");
        assert!(error.starts_with("the tool input is "), "{error}");
        let call = message.content[0].as_tool_use().unwrap();
        assert_eq!((call.name.as_str(), call.input.as_str()), ("Read", "{}"), "{bad}");
    }
}

#[test]
fn a_call_that_came_whole_is_checked_too() {
    let events = |input: &str| {
        let block = ContentBlock::ToolUse(ToolUse::new("toolu_1", "Read", JsonText::parse(input).unwrap()));
        [start(), open(0, BlockStart::Whole(block)), close(0), stop("tool_use"), E::MessageStop]
    };
    assert_eq!(malformed(&events(r#"{"a":1}"#)), []);
    assert_eq!(malformed(&events(r#"{"a":1,"a":2}"#)).len(), 1);
}

#[test]
fn an_unknown_block_keeps_its_text_and_its_streamed_input() {
    let kept = r#"{"type":"novelty", "x":1.50}"#;
    let ended = || [close(0), stop("end_turn"), E::MessageStop];
    let message = complete(&[&[start(), whole(0, kept), words(0, "?")][..], &ended()].concat());
    assert_eq!(serde_json::to_string(&message.content[0]).unwrap(), kept);

    let search = whole(0, r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#);
    let pieces = [start(), search.clone(), input(0, r#"{"q":"#), input(0, "1.0}")];
    let message = complete(&[&pieces[..], &ended()].concat());
    assert_eq!(
        serde_json::to_string(&message.content[0]).unwrap(),
        r#"{"id":"s","input":{"q":1.0},"name":"web_search","type":"server_tool_use"}"#
    );

    let cut = [start(), search, input(0, r#"{"q":"#), close(0)];
    assert_eq!(assemble(&cut), Err(AssembleError::ForeignBlock));
}

#[test]
fn impossible_streams_are_refused() {
    let tool_result = ContentBlock::ToolResult(windlass_types::ToolResult::ok("toolu_1", "x"));
    let cases: Vec<(Vec<E>, AssembleError)> = vec![
        (vec![text(0)], AssembleError::NotStarted),
        (vec![E::MessageStop], AssembleError::NotStarted),
        (vec![start(), start()], AssembleError::StartedTwice),
        (vec![start(), text(1)], AssembleError::WrongIndex { expected: 0, found: 1 }),
        (vec![start(), text(usize::MAX)], AssembleError::WrongIndex { expected: 0, found: usize::MAX }),
        (vec![start(), text(0), close(0), text(0)], AssembleError::WrongIndex { expected: 1, found: 0 }),
        (vec![start(), text(0), text(1)], AssembleError::BlockOpen { index: 0 }),
        (vec![start(), text(0), stop("end_turn")], AssembleError::BlockOpen { index: 0 }),
        (vec![start(), text(0), E::MessageStop], AssembleError::BlockOpen { index: 0 }),
        (vec![start(), words(0, "x")], AssembleError::NotOpen { index: 0 }),
        (vec![start(), text(0), words(1, "x")], AssembleError::NotOpen { index: 1 }),
        (vec![start(), text(0), close(0), words(0, "x")], AssembleError::NotOpen { index: 0 }),
        (vec![start(), text(0), close(0), close(0)], AssembleError::NotOpen { index: 0 }),
        (vec![start(), text(0), input(0, "{}")], AssembleError::WrongDelta { index: 0 }),
        (vec![start(), call(0, "t"), words(0, "x")], AssembleError::WrongDelta { index: 0 }),
        (vec![start(), call(0, "")], AssembleError::NamelessCall),
        (vec![start(), call(0, "t"), close(0), call(1, "t")], AssembleError::RepeatedCall { id: ToolUseId::from("t") }),
        (vec![start(), open(0, BlockStart::Whole(tool_result))], AssembleError::ForeignBlock),
        (vec![start(), whole(0, "[]")], AssembleError::ForeignBlock),
        // A known type when it is read back: it would be an unchecked call.
        (vec![start(), whole(0, r#"{"type":"tool_use","id":"t","name":"n","input":{}}"#)], AssembleError::ForeignBlock),
        (vec![start(), E::MessageStop], AssembleError::NoStopReason),
        (vec![start(), usage(), E::MessageStop], AssembleError::NoStopReason),
        (vec![start(), stop("end_turn"), text(0)], AssembleError::AfterStopReason),
        (vec![start(), stop("end_turn"), stop("tool_use")], AssembleError::StopReasonChanged),
        (vec![start(), stop("end_turn"), E::MessageStop, E::MessageStop], AssembleError::Ended),
        (vec![start(), stop("end_turn"), E::MessageStop, start()], AssembleError::Ended),
    ];
    for (events, error) in cases {
        assert_eq!(assemble(&events), Err(error), "{events:?}");
    }
}

#[test]
fn nothing_follows_an_error() {
    let mut assembler = MessageAssembler::new();
    assert!(assembler.handle(&mut E::MessageStop.clone()).is_err());
    for event in [start(), stop("end_turn"), E::MessageStop, E::Ping] {
        assert_eq!(assembler.handle(&mut event.clone()), Err(AssembleError::Ended));
    }
    assert_ne!(assembler.phase, Phase::Complete);
}

#[test]
fn bytes_and_blocks_are_bounded() {
    let run = |events: &[E]| {
        let mut assembler = MessageAssembler::with_limits(20, 2);
        events.iter().try_for_each(|event| assembler.handle(&mut event.clone()).map(drop))
    };
    let too_large = Err(AssembleError::TooLarge { limit: 20 });
    assert_eq!(run(&[start(), text(0), words(0, "12345678901234")]), Ok(()));
    assert_eq!(run(&[start(), text(0), words(0, "123456789012345")]), too_large);
    assert_eq!(run(&[start(), text(0), words(0, "1234567"), words(0, "12345678")]), too_large);
    assert_eq!(run(&[start(), call(0, "t"), input(0, "123456789012345")]), too_large);
    assert_eq!(run(&[start(), stop("a reason of great length")]), too_large);
    assert_eq!(
        run(&[start(), text(0), close(0), text(1), close(1), text(2)]),
        Err(AssembleError::TooManyBlocks { limit: 2 })
    );
}

/// `true` if the events match the grammar of the module's documentation, implemented a second time: on slices.
fn is_message(events: &[E]) -> bool {
    let events: Vec<&E> = events.iter().filter(|event| !matches!(event, E::Ping | E::Unknown)).collect();
    match events.as_slice() {
        [E::MessageStart { .. }, body @ .., E::MessageStop] => is_body(body, 0),
        _ => false,
    }
}

fn is_body(events: &[&E], next: usize) -> bool {
    match events {
        [E::MessageDelta { stop_reason: None, .. }, rest @ ..] => is_body(rest, next),
        [E::MessageDelta { stop_reason: Some(reason), .. }, rest @ ..] => rest.iter().all(|event| {
            matches!(event, E::MessageDelta { stop_reason, .. } if stop_reason.as_ref().is_none_or(|it| it == reason))
        }),
        [E::BlockStart { index, block }, rest @ ..] if *index == next => {
            let Some(end) = rest.iter().position(|event| matches!(event, E::BlockStop { .. })) else { return false };
            let fits = |delta: &StreamDelta| {
                matches!(
                    (block, delta),
                    (BlockStart::Text(_), StreamDelta::Text(_))
                        | (BlockStart::ToolUse { .. }, StreamDelta::ToolInput(_))
                        | (_, StreamDelta::Unknown)
                )
            };
            matches!(rest[end], E::BlockStop { index } if *index == next)
                && rest[..end].iter().all(|event| match event {
                    E::BlockDelta { index, delta } => *index == next && fits(delta),
                    E::MessageDelta { stop_reason: None, .. } => true,
                    _ => false,
                })
                && is_body(&rest[end + 1..], next + 1)
        }
        _ => false,
    }
}

fn any_delta() -> impl Strategy<Value = StreamDelta> {
    prop_oneof![
        ".{0,4}".prop_map(StreamDelta::Text),
        "[{}\":a1,]{0,4}".prop_map(StreamDelta::ToolInput),
        Just(StreamDelta::Unknown),
    ]
}

fn any_event() -> impl Strategy<Value = E> {
    prop_oneof![
        1 => Just(start()),
        3 => (0..3_usize, any::<bool>()).prop_map(|(n, tool)| if tool { call(n, &format!("t{n}")) } else { text(n) }),
        3 => (0..3_usize, any_delta()).prop_map(|(n, it)| delta(n, it)),
        3 => (0..3_usize).prop_map(close),
        1 => Just(usage()),
        1 => prop_oneof![Just(stop("end_turn")), Just(stop("tool_use"))],
        1 => Just(E::MessageStop),
        1 => prop_oneof![Just(E::Ping), Just(E::Unknown)],
    ]
}

/// Generates a stream that follows the grammar.
fn any_message() -> impl Strategy<Value = Vec<E>> {
    let block = (any::<bool>(), prop::collection::vec(".{0,5}", 0..4));
    prop::collection::vec(block, 0..4).prop_map(|blocks| {
        let mut events = vec![start()];
        for (n, (tool, pieces)) in blocks.into_iter().enumerate() {
            events.push(if tool { call(n, &format!("t{n}")) } else { text(n) });
            events.extend(pieces.iter().map(|piece| if tool { input(n, piece) } else { words(n, piece) }));
            events.push(close(n));
        }
        events.extend([stop("end_turn"), E::MessageStop]);
        events
    })
}

proptest! {
    #[test]
    fn complete_exactly_when_the_grammar_holds(events in prop::collection::vec(any_event(), 0..12)) {
        prop_assert_eq!(matches!(assemble(&events), Ok(Some(_))), is_message(&events));
    }

    /// Damage to a valid stream: one event lost, doubled, swapped or inserted.
    #[test]
    fn a_damaged_stream_completes_only_when_it_is_still_a_message(
        (mut events, at, to, other) in any_message().prop_flat_map(|events| {
            let range = 0..events.len();
            (Just(events), range.clone(), range, any_event())
        }),
        damage in 0..4,
    ) {
        prop_assert!(matches!(assemble(&events), Ok(Some(_))));
        match damage {
            0 => drop(events.remove(at)),
            1 => events.insert(at, events[at].clone()),
            2 => events.swap(at, to),
            _ => events.insert(at, other),
        }
        prop_assert_eq!(matches!(assemble(&events), Ok(Some(_))), is_message(&events));
    }

    #[test]
    fn a_stream_cut_anywhere_is_not_complete(events in any_message(), at in any::<prop::sample::Index>()) {
        let cut = &events[..at.index(events.len())];
        prop_assert_eq!(assemble(cut), Ok(None));
    }

    #[test]
    fn the_pieces_do_not_matter(text in ".{0,40}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let chars: Vec<char> = text.chars().collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
        cuts.extend([0, chars.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| words(0, &chars[pair[0]..pair[1]].iter().collect::<String>()));
        let mut events = vec![start(), self::text(0)];
        events.extend(pieces);
        events.extend([close(0), stop("end_turn"), E::MessageStop]);
        prop_assert_eq!(complete(&events).content, [ContentBlock::text(text)]);
    }
}

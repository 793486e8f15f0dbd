use super::*;
use serde_json::json;

fn assembly() -> (ResponseAssembly, VecDeque<ModelEvent>) {
    let mut assembly = ResponseAssembly::new("asked", Secrets::default());
    let mut out = VecDeque::new();
    let created = json!({"type": "response.created", "response": {"id": "resp_1"}});
    assembly.accept(None, &created.to_string(), &mut out).unwrap();
    (assembly, out)
}

#[test]
fn the_model_that_was_asked_stands_for_one_that_is_not_named() {
    let (_, out) = assembly();
    let ModelEvent::MessageStart { model, .. } = &out[0] else { panic!("{out:?}") };
    assert_eq!(model, "asked");
}

#[test]
fn a_message_does_not_grow_for_ever() {
    let (mut assembly, mut out) = assembly();
    let delta =
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "x".repeat(1 << 20)}).to_string();
    let mut accepted = 0;
    let error = loop {
        match assembly.accept(None, &delta, &mut out) {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        out.clear();
    };
    assert_eq!((error.kind, accepted), (windlass_types::ModelErrorKind::Protocol, 63));
}

#[test]
fn a_response_has_no_end_of_items() {
    let (mut assembly, mut out) = assembly();
    let mut accept = |place: usize| {
        let event = json!({"type": "response.output_item.added", "output_index": place, "item": {"type": "message"}});
        assembly.accept(None, &event.to_string(), &mut out)
    };
    for place in (0..10_000).rev() {
        accept(place).unwrap();
    }
    assert!(accept(10_000).unwrap_err().message.contains("10000 items"));
    assert!(accept(usize::MAX).is_err());
}

#[test]
fn the_name_of_an_event_stands_for_its_type() {
    let (mut assembly, mut out) = assembly();
    out.clear();
    let data = json!({"output_index": 0, "delta": "a"}).to_string();
    assembly.accept(Some("response.output_text.delta"), &data, &mut out).unwrap();
    assert_eq!(out.len(), 2);
    assert!(assembly.accept(Some("error"), "overloaded", &mut out).unwrap_err().message.contains("overloaded"));
    assert!(assembly.accept(Some("later"), "{\"delta\": 1}", &mut out).is_ok());
}

//! Serialised form of a message's fate.

use super::*;
use crate::EventKind;

#[test]
fn the_fate_is_written_beside_the_id() {
    for (id, fate, expected) in [
        (
            Some("u"),
            SteeredFate::Joined { entry: "e".into() },
            r#"{"type":"steered","id":"u","fate":"joined","entry":"e"}"#,
        ),
        (
            None,
            SteeredFate::Blocked { reason: "no".to_owned() },
            r#"{"type":"steered","id":null,"fate":"blocked","reason":"no"}"#,
        ),
        (Some("u"), SteeredFate::Deferred, r#"{"type":"steered","id":"u","fate":"deferred"}"#),
        (Some("u"), SteeredFate::Returned, r#"{"type":"steered","id":"u","fate":"returned"}"#),
    ] {
        let event = EventKind::Steered(Steered::new(id.map(EntryId::from), fate));
        assert_eq!(serde_json::to_string(&event).unwrap(), expected);
    }
}

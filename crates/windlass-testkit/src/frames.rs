//! Frames of the host protocol, in a form that tests compare.

use serde_json::Value;

/// Returns the kinds of frames, in order: the type, then the subtype, the event of the stream or the first block of the
/// message.
/// ```
/// use serde_json::json;
/// use windlass_testkit::frames::outline;
///
/// let frames = [json!({"type": "system", "subtype": "init"}), json!({"type": "keep_alive"})];
/// assert_eq!(outline(&frames), ["system/init", "keep_alive"]);
/// ```
pub fn outline(frames: &[Value]) -> Vec<String> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let kind = |frame: &Value| {
        let detail = text(frame.get("subtype"))
            .or_else(|| text(frame.pointer("/event/type")))
            .or_else(|| text(frame.pointer("/message/content/0/type")));
        [text(frame.get("type")), detail].into_iter().flatten().collect::<Vec<_>>().join("/")
    };
    frames.iter().map(kind).collect()
}

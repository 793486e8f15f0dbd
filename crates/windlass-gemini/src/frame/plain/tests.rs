use super::*;
use crate::frame::Chunk;
use proptest::prelude::*;

/// Returns a chunk in the form of the API.
fn written(text: &str, thought: &str, usage: &str, space: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"candidates":{space}[{{"content":{space}{{"parts":{space}[{{"text":{space}{text}{thought}}}],"role":{space}"model"}},"index":{space}0}}],"usageMetadata":{space}{{{usage}}},"modelVersion":{space}"m","responseId":{space}"r"}}"#
    )
}

const USAGE: &str = r#""promptTokenCount": 5,"candidatesTokenCount": 7,"totalTokenCount": 12,"cachedContentTokenCount":3,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 5},{"modality":"IMAGE","tokenCount":0}],"thoughtsTokenCount": 0"#;

/// `true` if the parser reads the same of a chunk whose tail is known.
fn agrees(data: &str) -> bool {
    let Some(plain) = Plain::read(data) else { return true };
    if plain.tail != r#","modelVersion":"m","responseId":"r"}"#
        && plain.tail != r#","modelVersion": "m","responseId": "r"}"#
    {
        return true;
    }
    let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) else { return false };
    let [candidate] = chunk.candidates.as_deref().unwrap() else { return false };
    let [part] = candidate.content.as_ref().unwrap().parts.as_deref().unwrap() else { return false };
    let figures = |usage: &UsageMetadata| {
        [
            usage.prompt_token_count,
            usage.cached_content_token_count,
            usage.tool_use_prompt_token_count,
            usage.candidates_token_count,
            usage.thoughts_token_count,
        ]
    };
    part.text.as_deref() == Some(&*plain.text)
        && part.thought.unwrap_or(false) == plain.is_thought
        && part.thought_signature.is_none()
        && part.function_call.is_none()
        && part.other().is_none()
        && candidate.finish_reason.is_none()
        && candidate.index.unwrap_or(0) == 0
        && figures(&chunk.usage_metadata.unwrap()) == figures(&plain.usage)
}

#[test]
fn the_form_of_the_api_is_read() {
    for (text, thought) in [("a \"quoted\" 日本\n", ""), ("hm", r#","thought": true"#), ("", "")] {
        for space in ["", " "] {
            let data = written(text, thought, USAGE, space);
            let plain = Plain::read(&data).unwrap();
            assert_eq!((plain.text.as_str(), plain.is_thought), (text, !thought.is_empty()));
            assert_eq!(
                (plain.usage.cached_content_token_count, plain.usage.candidates_token_count),
                (Some(3), Some(7))
            );
            assert!(plain.tail.starts_with(",\"modelVersion\"") && agrees(&data));
        }
    }
}

#[test]
fn other_forms_are_for_the_parser() {
    let good = written("a", "", USAGE, " ");
    for (from, to) in [
        ("\"a\"", "\"a\",\"thoughtSignature\": \"s\""),
        ("\"a\"", "7"),
        ("\"a\"", "\"a\",\"thought\": false"),
        ("\"index\": 0", "\"index\": 1"),
        ("\"index\": 0", "\"finishReason\": \"STOP\",\"index\": 0"),
        ("}],\"role\"", "},{\"text\": \"b\"}],\"role\""),
        ("\"model\"", "\"user\""),
        (": 5,", ": -5,"),
        (": 5,", ": 05,"),
        (": 5,", ": 5.5,"),
        (": 5,", ": 5e1,"),
        (": 5,", ": null,"),
        (": 5,", ": 5,\"promptTokenCount\": 5,"),
        ("totalTokenCount", "laterTokenCount"),
        ("\"TEXT\"", "\"te\\\"xt\""),
        ("\"usageMetadata\"", "\"usage\""),
    ] {
        let other = good.replacen(from, to, 1);
        assert!(other != good && Plain::read(&other).is_none(), "{other}");
    }
}

proptest! {
    #[test]
    fn what_is_read_here_the_parser_reads_the_same(
        text in ".{0,20}",
        at in any::<prop::sample::Index>(),
        with in prop::sample::select(vec!["", " ", "\"", "\\", ",", "0", "9", "}", "]", "{", "a", ":", "\u{1}", "é"]),
        thought in prop::sample::select(vec!["", ",\"thought\":true", ",\"thought\": true"]),
        space in prop::sample::select(vec!["", " "]),
    ) {
        let data = written(&text, thought, USAGE, space);
        prop_assert!(agrees(&data));
        prop_assert!(Plain::read(&data).is_some());
        // One place is changed.
        let places: Vec<usize> = data.char_indices().map(|(place, _)| place).collect();
        let place = *at.get(&places);
        let mut changed = data.clone();
        changed.replace_range(place..place + data.split_at(place).1.chars().next().unwrap().len_utf8(), with);
        prop_assert!(agrees(&changed), "{}", changed);
    }
}

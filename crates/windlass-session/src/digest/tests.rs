use super::*;

fn digest(lines: &[&str]) -> (SessionDigest, Vec<(LogTextKind, String)>) {
    let (mut digest, mut texts) = (SessionDigest::default(), Vec::new());
    for line in lines {
        digest.add(line.as_bytes(), |text| texts.push((text.kind, text.text)));
    }
    (digest, texts)
}

#[test]
fn figures_and_texts_of_a_log() {
    let (digest, texts) = digest(&[
        r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"<environment>"},"timestamp":"2026-01-01T00:00:00.000Z"}"#,
        r#"{"type":"user","message":{"role":"user","content":"Mend\nthe parser"},"timestamp":"2026-01-01T00:00:01.000Z"}"#,
        r#"{"type":"assistant","message":{"id":"m1","model":"small","content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":3,"output_tokens":2}}}"#,
        r#"{"type":"assistant","message":{"id":"m1","model":"small","content":[{"type":"tool_use","name":"Read","input":{"text":"x"}}],"usage":{"input_tokens":3,"output_tokens":9}}}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"secret"}]}}"#,
        r#"{"type":"assistant","isSidechain":true,"message":{"id":"s","model":"other","content":"aside"}}"#,
        r#"{"type":"assistant","message":{"id":"m2","model":"large","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":5,"output_tokens":1}},"timestamp":"2026-01-01T00:00:02.000Z"}"#,
        r#"{"type":"assistant","message":{"model":"<synthetic>","content":[]}}"#,
        r#"{"type":"cost-state","totalCostUSD":0.25}"#,
        r#"{"type":"cost-state","totalCostUSD":0.5}"#,
        "nonsense",
        "",
    ]);
    assert_eq!((digest.prompts, digest.answers, digest.tool_uses), (1, 3, 1));
    assert_eq!(digest.model.as_deref(), Some("large"));
    assert_eq!(digest.usage(), Usage::new(8, 10));
    assert_eq!(digest.cost, Some(NanoUsd::from_usd(0.5)));
    assert_eq!(digest.last_active, Timestamp::parse("2026-01-01T00:00:02Z"));
    let expected =
        [(LogTextKind::Prompt, "Mend the parser"), (LogTextKind::Answer, "I look."), (LogTextKind::Answer, "Done.")];
    assert_eq!(texts, expected.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn the_cost_of_a_log_has_calls_that_were_cut() {
    let cost = |lines: &[&str]| digest(lines).0.cost.map(NanoUsd::nano);
    let held = r#"{"type":"windlass-spent","totalCostUSD":0.25,"heldUSD":{"m":0.5,"n":0.125}}"#;
    let ended = r#"{"type":"windlass-spent","totalCostUSD":0.375,"modelUsage":{}}"#;
    assert_eq!(cost(&[held]), Some(875_000_000));
    assert_eq!(cost(&[held, ended]), Some(375_000_000));
    // A run ends while background requests are open, and another program knows of more.
    let run = |usd: f64| format!(r#"{{"type":"cost-state","totalCostUSD":{usd}}}"#);
    assert_eq!(cost(&[held, &run(0.25)]), Some(875_000_000));
    assert_eq!(cost(&[ended, &run(2.0)]), Some(2_000_000_000));
}

#[test]
fn a_digest_that_was_stored_is_continued() {
    let lines: Vec<String> = (0..9)
        .map(|n| {
            let id = n / 2;
            format!(r#"{{"type":"assistant","message":{{"id":"m{id}","usage":{{"output_tokens":{n}}}}}}}"#)
        })
        .collect();
    let whole = digest(&lines.iter().map(String::as_str).collect::<Vec<_>>()).0;
    for cut in 0..=lines.len() {
        let mut parts = SessionDigest::default();
        for (at, line) in lines.iter().enumerate() {
            if at == cut {
                parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
            }
            parts.add(line.as_bytes(), |_| {});
        }
        assert_eq!(parts, whole, "{cut}");
    }
}

#[test]
fn a_long_text_is_cut() {
    let line = format!(r#"{{"type":"user","message":{{"content":"{}"}}}}"#, "é".repeat(10 << 20));
    let (_, texts) = digest(&[&line]);
    assert_eq!(texts.first().map(|(_, text)| text.chars().count()), Some(TEXT_CHARS));
}

#[test]
fn a_run_is_open_until_its_end_is_there() {
    let mut digest = SessionDigest::default();
    let mut open = |line: &str| {
        digest.add(line.as_bytes(), |_| {});
        digest.has_open_run()
    };
    let answer = |origin: &str, block: &str| {
        format!(r#"{{"type":"assistant","message":{{"id":"m","model":"x","content":[{block}]}}{origin}}}"#)
    };
    let (own, text) = (r#","windlassOrigin":{}"#, r#"{"type":"text","text":"a"}"#);
    assert!(open(r#"{"type":"user","promptId":"r","message":{"content":"hi"}}"#));
    assert!(open(&answer(own, r#"{"type":"tool_use","id":"t","name":"Read","input":{}}"#)));
    assert!(open(&answer(own, text)));
    // An answer of another program, which records no ends.
    assert!(!open(&answer("", text)));
    assert!(open(&answer(own, text)));
    assert!(open(
        r#"{"type":"cost-state","totalCostUSD":1,"windlassRun":{"run":"other","outcome":"success","turns":1}}"#
    ));
    assert!(!open(r#"{"type":"cost-state","totalCostUSD":1,"windlassRun":{"run":"r","outcome":"success","turns":1}}"#));
    assert!(open(r#"{"type":"windlass-run-resumed","run":"r2","of":"r"}"#));
    assert!(!open(
        r#"{"type":"cost-state","totalCostUSD":1,"windlassRun":{"run":"r2","outcome":"success","turns":1}}"#
    ));
}

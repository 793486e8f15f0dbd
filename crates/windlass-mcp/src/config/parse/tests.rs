use super::*;

fn one(entry: &str) -> Result<McpServerConfig, String> {
    let lookup = |name: &str| (name == "TOKEN").then(|| "secret".to_owned());
    let mut all = parse_config(&format!(r#"{{"mcpServers":{{"x":{entry}}}}}"#), lookup).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0).1.map_err(|error| error.to_string())
}

#[test]
fn programs_have_arguments_and_an_environment() {
    let config =
        one(r#"{"command":"mcp","args":["-t","${TOKEN}"],"env":{"A":"${B:-b}"},"timeout":1500,"new":1}"#).unwrap();
    let McpTransport::Stdio { command, args, env } = config.transport else { panic!("{config:?}") };
    assert_eq!((command.as_str(), args), ("mcp", vec!["-t".to_owned(), "secret".to_owned()]));
    assert_eq!(env.get("A").map(String::as_str), Some("b"));
    assert_eq!((config.timeout, config.source.as_str()), (Some(Duration::from_millis(1500)), "dynamic"));
}

#[test]
fn endpoints_have_headers() {
    for entry in [
        r#"{"type":"http","url":"https://a.b/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}"#,
        r#"{"type":"streamable-http","url":"https://a.b/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}"#,
        r#"{"url":"https://a.b/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}"#,
    ] {
        let config = one(entry).unwrap();
        assert!(!format!("{config:?}").contains("secret"));
        let McpTransport::Http { url, headers } = config.transport else { panic!("{entry}") };
        assert_eq!((url.as_str(), headers["Authorization"].as_str()), ("https://a.b/mcp", "Bearer secret"));
    }
    assert!(matches!(one(r#"{"type":"sse","url":"http://a"}"#).unwrap().transport, McpTransport::Sse { .. }));
    let host = one(r#"{"type":"sdk","name":"x"}"#).unwrap();
    assert_eq!((host.is_in_process(), host.source.as_str()), (true, "sdk"));
}

#[test]
fn settings_limit_calls_and_give_tools_a_policy() {
    for (entry, timeout) in [("1000", Some(1)), ("2000", Some(2)), ("999", None), ("-5", None), ("1e300", None)] {
        let config = one(&format!(r#"{{"command":"a","timeout":{entry}}}"#)).unwrap();
        assert_eq!(config.timeout.map(|timeout| timeout.as_secs()), timeout, "{entry}");
    }
    let tools = r#"{"tools":[{"name":"a","permission_policy":"always_ask"},{"name":"b","permission_policy":"always_deny"},
        {"name":"c","permission_policy":"always_allow"},{"name":"d","permission_policy":"new"},{"name":"e"},{"x":1},7],
        "timeout":5000}"#;
    let config = McpServerConfig::stdio("a").settings(&JsonText::parse(tools).unwrap());
    let (ask, deny) = (McpToolPolicy::Ask, McpToolPolicy::Deny);
    let expected = [("a", ask), ("b", deny), ("d", ask)].map(|(name, policy)| (name.to_owned(), policy));
    assert_eq!((config.policies, config.timeout), (BTreeMap::from(expected), Some(Duration::from_secs(5))));
    let untouched = McpServerConfig::stdio("a").settings(&JsonText::parse(r#"{"tools":7}"#).unwrap());
    assert!(untouched.policies.is_empty());
}

#[test]
fn one_bad_entry_leaves_the_others() {
    for (entry, problem) in [
        ("{}", "no `command`"),
        (r#"{"command":""}"#, "no `command`"),
        (r#"{"type":"http"}"#, "no `url`"),
        (r#"{"type":"ws","url":"ws://a"}"#, "not supported"),
        (r#"{"command":"${NOT_SET}"}"#, "NOT_SET is not set"),
        (r#"{"command":"a","args":"b"}"#, "expected a sequence"),
        ("7", "expected"),
    ] {
        let error = one(entry).unwrap_err();
        assert!(error.contains(problem) && error.contains("\"x\""), "{entry}: {error}");
    }
    let all = parse_config(r#"{"mcpServers":{"b":{"command":"b"},"a":{}}}"#, |_| None).unwrap();
    assert_eq!(
        all.iter().map(|(name, config)| (name.as_str(), config.is_ok())).collect::<Vec<_>>(),
        [("a", false), ("b", true)]
    );
}

#[test]
fn the_inner_object_is_enough_and_nonsense_is_refused() {
    assert_eq!(parse_config(r#"{"a":{"command":"a"}}"#, |_| None).unwrap().len(), 1);
    assert!(parse_config("{}", |_| None).unwrap().is_empty());
    for bad in ["", "[]", "x", r#"{"mcpServers":[]}"#, r#"{"mcpServers":{"a":{},"a":{}}}"#] {
        assert!(parse_config(bad, |_| None).is_err(), "{bad}");
    }
}

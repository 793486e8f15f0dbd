//! Programs that misbehave.

use crate::world::{LONG, json, names, one, one_with, options, program, status, text, until};
#[cfg(target_os = "linux")]
use crate::world::{marked, until_gone};
use std::time::{Duration, Instant};
use windlass_mcp::{McpError, McpServerState, McpServers};

#[tokio::test]
async fn a_server_that_cannot_be_greeted_says_why() {
    for (behaviour, problem, limit) in [
        ("dies at once", "cannot find the frobnicator", 60),
        ("silent", "did not answer within 2 s", 2),
        ("no list", "did not answer within 2 s", 2),
        ("bad greeting", "not understood", 60),
        ("refuses", "not today", 60),
    ] {
        let limit = options().with_connect_timeout(Duration::from_secs(limit));
        let servers = one_with(behaviour, limit).await;
        let known = status(&servers);
        assert_eq!(known.state, McpServerState::Failed, "{behaviour}");
        assert!(known.error.as_ref().is_some_and(|error| error.contains(problem)), "{behaviour}: {known:?}");
        assert!(servers.tools().is_empty());
        servers.close().await;
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_started_again_for_the_next() {
    let servers = one("dies in a call").await;
    let lost = servers.call("s", "go", &json("{}"), None).await.unwrap_err();
    let McpError::Lost { detail, output, .. } = &lost else { panic!("{lost}") };
    assert!(detail.contains("exit status: 11") && !detail.contains("segmentation fault"), "{lost}");
    assert!(output.contains("segmentation fault"), "{lost}");
    let known = until(&servers, McpServerState::Failed).await;
    assert!(known.error.is_some_and(|error| error.contains("exit status: 11")));
    assert_eq!(names(&servers.tools()), ["mcp__s__go"], "its tools stay: the next call starts it again");
    // The server is not started for a moment first.
    assert!(matches!(servers.call("s", "go", &json("{}"), None).await, Err(McpError::NotConnected { .. })));
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(1100)).await;
    tokio::time::resume();
    assert!(matches!(servers.call("s", "go", &json("{}"), None).await, Err(McpError::Lost { .. })));
    servers.close().await;
}

/// Holds also if no task waits until the end is noticed otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_call_that_follows_a_lost_one_finds_the_server_at_rest() {
    let servers = one("dies in a call").await;
    let none = json("{}");
    let call = || servers.call("s", "go", &none, None);
    let (first, second) = tokio::join!(call(), call());
    for lost in [first, second] {
        // A call that comes too late for the server is not lost.
        let lost = lost.unwrap_err();
        assert!(matches!(lost, McpError::Lost { .. } | McpError::NotConnected { .. }), "{lost}");
    }
    for _ in 0..3 {
        let next = call().await.unwrap_err();
        assert!(matches!(next, McpError::NotConnected { .. }), "{next}");
    }
    assert_eq!(status(&servers).state, McpServerState::Failed);
    servers.close().await;
}

#[tokio::test]
async fn noise_does_no_harm() {
    for behaviour in ["flood", "pings", "stderr", "nonsense"] {
        let servers = one(behaviour).await;
        assert_eq!(status(&servers).state, McpServerState::Connected, "{behaviour}");
        let answer = servers.call("s", "go", &json("{}"), None).await;
        assert!(answer.is_ok(), "{behaviour}: {answer:?}");
        let began = Instant::now();
        servers.close().await;
        assert!(began.elapsed() < Duration::from_secs(60), "{behaviour}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn answers_that_are_wrong_fail_the_call_alone() {
    let servers = one("wrong answer").await;
    assert!(matches!(servers.call("s", "go", &json("{}"), None).await, Err(McpError::BadAnswer { .. })));
    assert_eq!(status(&servers).state, McpServerState::Connected);
    servers.close().await;

    // The server keeps its state: the next call reaches the same program.
    for (behaviour, problem) in [
        ("long line", "line of more than 16777216 bytes"),
        ("many values", "more than 500000 values"),
        ("deep", "nested more than 127 deep"),
    ] {
        let servers = one(behaviour).await;
        let bad = servers.call("s", "go", &json("{}"), Some(LONG)).await.unwrap_err();
        assert!(matches!(&bad, McpError::BadAnswer { detail, .. } if detail.contains(problem)), "{behaviour}: {bad}");
        let next = servers.call("s", "go", &json("{}"), Some(LONG)).await.unwrap();
        assert!(text(&next).contains(r#""calls":2"#), "{behaviour}: {next:?}");
        servers.close().await;
    }
    let servers = one("endless line").await;
    let lost = servers.call("s", "go", &json("{}"), Some(LONG)).await.unwrap_err();
    assert!(matches!(&lost, McpError::Lost { detail, .. } if detail.contains("line of more than")), "{lost}");
    servers.close().await;
}

/// Returns the outcome of a call that is answered with this line.
async fn answered_with(line: &str) -> Result<String, McpError> {
    let servers = McpServers::new(options());
    servers.add("s", program("given").env("ANSWER", line)).unwrap();
    servers.settled(LONG).await;
    let called = servers.call("s", "go", &json("{}"), Some(LONG)).await;
    let next = servers.call("s", "go", &json("{}"), Some(LONG)).await.unwrap();
    assert!(text(&next).contains(r#""calls":2"#), "{line}: {next:?}");
    servers.close().await;
    called.map(|output| text(&output).to_owned())
}

#[tokio::test]
async fn an_answer_that_is_no_valid_message_ends_its_call() {
    for line in [
        r#"{"jsonrpc":"2.0","id":ID,"error":"plain text"}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":{"message":"plain text"}}"#,
        r#"{"jsonrpc":"2.0","id":"ID","error":{"code":"E","message":"plain text"},"result":null}"#,
    ] {
        let refused = answered_with(line).await.unwrap_err();
        assert!(matches!(&refused, McpError::Refused { message, .. } if message == "plain text"), "{line}: {refused}");
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\ud83d b"}]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":null,"result":{"content":[{"type":"text","text":"a\ufffd b"}]}}"#,
        r#"[{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\ude00 b"}]}}]"#,
    ] {
        assert_eq!(answered_with(line).await.as_deref(), Ok("a\u{fffd} b"), "{line}");
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":NaN}}"#,
        r#"{"jsonrpc":"2.0","id":ID}"#,
        r#"{"jsonrpc":"2.0","result":{"content":[]}}"#,
    ] {
        let bad = answered_with(line).await.unwrap_err();
        assert!(matches!(&bad, McpError::BadAnswer { detail, .. } if !detail.is_empty()), "{line}: {bad}");
    }
}

#[tokio::test]
async fn lists_are_bounded_and_names_kept_apart() {
    let servers = one("endless list").await;
    assert_eq!(servers.tools().len(), 1000);
    servers.close().await;
    let servers = one("empty pages").await;
    assert_eq!((status(&servers).state, servers.tools().len()), (McpServerState::Connected, 0));
    servers.close().await;
    let servers = one("odd tools").await;
    assert_eq!(names(&servers.tools()), ["mcp__s__good"]);
    servers.close().await;
    let servers = one("clash").await;
    let names = names(&servers.tools());
    assert_eq!((names.len(), names[0].as_str()), (3, "mcp__s__a_b"));
    assert!(names[1..].iter().all(|name| name.starts_with("mcp__s__a_b_") && name.len() == 18), "{names:?}");
    for name in &names {
        let (server, tool) = servers.find(name).unwrap();
        assert!(servers.call(&server, &tool, &json("{}"), None).await.is_ok());
    }
    servers.close().await;
}

#[tokio::test]
async fn a_call_that_is_not_answered_is_taken_back() {
    let servers = one("no answer").await;
    let mut changes = servers.changes();
    let limit = Some(Duration::from_millis(100));
    assert!(matches!(servers.call("s", "go", &json("{}"), limit).await, Err(McpError::TimedOut { .. })));
    assert_eq!(status(&servers).state, McpServerState::Connected);
    drop(changes.servers());
    // The server is still usable.
    servers.reconnect("s").await.unwrap();
    assert!(changes.changed().await);
    servers.close().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn fifty_connections_leave_no_process() {
    let mark = format!("{}-fifty", std::process::id());
    let quick = || options().with_connect_timeout(Duration::from_millis(400));
    for round in 0..50 {
        let (behaviour, options) = match round % 5 {
            0 => ("real", options()),
            1 => ("grandchild", options()),
            2 => ("silent", quick()),
            3 => ("dies at once", options()),
            _ => ("plain", options()),
        };
        let servers = McpServers::new(options);
        servers.add("s", program(behaviour).env("MARK", &mark).env("PATH", "/usr/bin:/bin")).unwrap();
        match round % 3 {
            // Dropped at a different point of the greeting each time.
            0 => tokio::time::sleep(Duration::from_millis(20)).await,
            _ => servers.settled(Duration::from_secs(20)).await,
        }
        if round % 2 == 0 {
            servers.close().await;
        }
    }
    until_gone(&mark).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn closing_is_bounded_and_takes_the_tree_along() {
    let mark = format!("{}-stubborn", std::process::id());
    let servers = McpServers::new(options());
    for name in ["a", "b", "c"] {
        servers.add(name, program("stubborn").env("MARK", &mark).env("PATH", "/usr/bin:/bin")).unwrap();
    }
    servers.settled(Duration::from_secs(20)).await;
    assert!(marked(&mark) >= 6);
    let began = Instant::now();
    servers.close().await;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    // Killed processes may need a moment to exit.
    until_gone(&mark).await;
}

#[tokio::test]
async fn a_runtime_that_ends_takes_its_servers_along() {
    let mark = format!("{}-runtime", std::process::id());
    let marked_program = program("grandchild").env("MARK", &mark).env("PATH", "/usr/bin:/bin");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let servers = McpServers::new(options());
            servers.add("s", marked_program).unwrap();
            servers.settled(Duration::from_secs(20)).await;
            assert!(text(&servers.call("s", "go", &json("{}"), None).await.unwrap()).contains("calls"));
            std::mem::forget(servers);
        });
        runtime.shutdown_background();
    })
    .join()
    .unwrap();
    #[cfg(target_os = "linux")]
    until_gone(&mark).await;
}

#[tokio::test]
async fn an_unknown_version_is_refused() {
    for version in ["1999-01-01", "2099-12-31", "1", "", "newest"] {
        let servers = McpServers::new(options());
        servers.add("s", program("plain").env("VERSION", version)).unwrap();
        servers.settled(Duration::from_secs(20)).await;
        let known = status(&servers);
        let error = known.error.unwrap_or_default();
        assert_eq!(known.state, McpServerState::Failed, "{version}");
        assert!(error.contains(&format!("{version:?}")) && error.contains("2025-11-25"), "{version}: {error}");
        assert!(servers.tools().is_empty());
        servers.close().await;
    }
    for version in ["2024-10-07", "2024-11-05", "2025-03-26", "2025-11-25"] {
        let servers = McpServers::new(options());
        servers.add("s", program("plain").env("VERSION", version)).unwrap();
        servers.settled(Duration::from_secs(20)).await;
        assert_eq!(status(&servers).state, McpServerState::Connected, "{version}");
        servers.close().await;
    }
}

#[tokio::test]
async fn a_server_that_crashed_while_idle_is_started_again_by_the_next_call() {
    let servers = one("dies after a call").await;
    for round in 0..5 {
        let called = servers.call("s", "go", &json("{}"), None).await;
        assert!(called.is_ok(), "{round}: {called:?}");
        // The loss is known, and the server had answered a call before.
        until(&servers, McpServerState::Failed).await;
    }
    servers.close().await;
}

/// If a server dies during a call, it is not always known whether the call was executed. The error then reports that,
/// and the call is not sent again.
#[tokio::test]
async fn no_call_is_carried_out_twice_however_its_server_dies() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let servers = McpServers::new(options());
    servers.add("s", program("dies after a call").env("LOG", log.to_str().unwrap())).unwrap();
    servers.settled(Duration::from_secs(20)).await;
    let mut answered = Vec::new();
    let mut failures = Vec::new();
    for n in 0..40_u64 {
        match servers.call("s", "go", &json(&format!("{{\"n\":{n}}}")), None).await {
            Ok(_) => answered.push(n),
            Err(lost @ McpError::Lost { .. }) => {
                assert!(lost.to_string().contains("outcome of the call is unknown"));
                failures.push((n, lost.to_string()));
            }
            // A server that was lost in its first call is not started for a moment.
            Err(error) => {
                assert!(matches!(error, McpError::NotConnected { .. }), "{error}");
                failures.push((n, error.to_string()));
            }
        }
        if n % 4 == 0 {
            tokio::time::sleep(Duration::from_millis(n)).await;
        }
    }
    servers.close().await;
    let log = std::fs::read_to_string(log).unwrap();
    for n in 0..40_u64 {
        let times = log.lines().filter(|line| *line == n.to_string()).count();
        assert!(times <= 1 && (times == 1 || !answered.contains(&n)), "{n}: {times}");
    }
    assert!(answered.len() >= 10, "{answered:?} {failures:#?}");
}

#[tokio::test]
async fn an_error_without_an_id_is_that_of_the_only_call() {
    let servers = one("error without id").await;
    let none = json("{}");
    let call = servers.call("s", "go", &none, None);
    let refused = tokio::time::timeout(Duration::from_secs(20), call).await.unwrap().unwrap_err();
    assert!(matches!(&refused, McpError::Refused { message, .. } if message == "that was no JSON"), "{refused}");
    servers.close().await;
}

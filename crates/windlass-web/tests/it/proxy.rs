//! Proxy in use by programs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use windlass_permission::network::{NetworkPolicy, Target};
use windlass_web::proxy::{AskTarget, EgressOptions, EgressProxy};

use crate::common::{FakeNetwork, PUBLIC, read_head, server};

/// Lines that a proxy reported.
pub(crate) type Events = Arc<Mutex<Vec<String>>>;

pub(crate) fn options(network: &FakeNetwork) -> (EgressOptions, Events) {
    let events = Events::default();
    let sink = Arc::clone(&events);
    let options = EgressOptions::default().with_network(network.clone());
    (options.on_event(move |event| sink.lock().unwrap().push(event.to_string())), events)
}

pub(crate) fn policy() -> NetworkPolicy {
    NetworkPolicy::default()
        .allow("example.com")
        .unwrap()
        .allow("*.example.com")
        .unwrap()
        .deny("bad.example.com")
        .unwrap()
}

/// Returns the header with the token of a proxy.
pub(crate) fn authorization(proxy: &EgressProxy) -> String {
    let url = proxy.url_at("127.0.0.1:1".parse().unwrap());
    let user = url.strip_prefix("http://").unwrap().split('@').next().unwrap();
    format!("proxy-authorization: Basic {}\r\n", base64::engine::general_purpose::STANDARD.encode(user))
}

/// Sends a request with the token, and reads the head of the answer.
pub(crate) async fn ask(proxy: &EgressProxy, head: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(proxy.address().unwrap()).await.unwrap();
    stream.write_all(format!("{head}\r\n{}\r\n", authorization(proxy)).as_bytes()).await.unwrap();
    let answer = read_head(&mut stream).await;
    (stream, answer)
}

pub(crate) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[tokio::test]
async fn tunnels_pass_bytes_as_they_are() {
    let (address, read) = server(|text| format!("heard {}", text.len()).into_bytes()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
    let (options, events) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();

    let (mut stream, answer) = ask(&proxy, "CONNECT Example.com:443 HTTP/1.1\r\nhost: example.com:443").await;
    assert_eq!(status(&answer), "200", "{answer}");
    stream.write_all(b"\x16\x03\x01 hello\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "heard 13");
    assert_eq!(*read.lock().unwrap(), ["\u{16}\u{3}\u{1} hello\r\n\r\n"]);
    assert_eq!(network.dialled(), [format!("{PUBLIC}:443").parse().unwrap()]);
    assert_eq!(*events.lock().unwrap(), ["example.com:443 is allowed by `example.com`"]);
}

#[tokio::test]
async fn plain_requests_are_sent_on_without_what_is_for_the_proxy() {
    let (address, read) = server(|_| b"HTTP/1.1 200 OK\r\nkeep-alive: x\r\ncontent-length: 2\r\n\r\nhi".to_vec()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
    let (options, _) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();

    let head = "GET http://example.com/a?b HTTP/1.1\r\nhost: bad.example.com\r\nproxy-connection: keep-alive\r\n\
                connection: x-mine\r\nx-mine: 1\r\naccept: */*";
    let (mut stream, answer) = ask(&proxy, head).await;
    assert_eq!(status(&answer), "200", "{answer}");
    assert!(!answer.contains("keep-alive"), "{answer}");
    let mut body = [0; 2];
    stream.read_exact(&mut body).await.unwrap();
    assert_eq!(&body, b"hi");
    let sent = read.lock().unwrap().join("|").to_lowercase();
    assert!(sent.starts_with("get /a?b http/1.1\r\n") && sent.contains("host: example.com\r\n"), "{sent}");
    for gone in ["proxy-", "x-mine", "basic", "bad.example.com"] {
        assert!(!sent.contains(gone), "{gone}: {sent}");
    }
}

#[tokio::test]
async fn what_the_policy_does_not_allow_is_not_looked_up_and_not_dialled() {
    let (address, _) = server(|_| Vec::new()).await;
    let network = FakeNetwork::to(address).name("bad.example.com", &[&[PUBLIC]]).name("other.org", &[&[PUBLIC]]);
    let (options, events) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    for (target, expected) in [
        ("bad.example.com:443", "refused: bad.example.com:443 is denied by `bad.example.com`"),
        ("other.org:443", "refused: other.org:443 is not in the list of allowed hosts"),
        ("example.com:22", "refused: example.com:22 is not in the list of allowed hosts"),
        ("localhost:443", "refused: localhost:443 is a name of the local network"),
        ("127.0.0.1:443", "refused: 127.0.0.1:443 is not a public address"),
        ("[::ffff:169.254.169.254]:80", "refused: 169.254.169.254:80 is not a public address"),
        ("[::1]:443", "refused: [::1]:443 is not a public address"),
        (PUBLIC_WITH_PORT, "refused: 93.184.216.34:443 is not in the list of allowed hosts"),
    ] {
        let (_, answer) = ask(&proxy, &format!("CONNECT {target} HTTP/1.1")).await;
        assert_eq!(status(&answer), "403", "{target}: {answer}");
        assert_eq!(events.lock().unwrap().pop().unwrap(), expected);
        let (_, answer) = ask(&proxy, &format!("GET http://{target}/ HTTP/1.1")).await;
        assert_eq!(status(&answer), "403", "{target}: {answer}");
        assert_eq!(events.lock().unwrap().pop().unwrap(), expected);
    }
    assert_eq!(network.looked_up(), Vec::<String>::new());
    assert_eq!(network.dialled(), []);
}

const PUBLIC_WITH_PORT: &str = "93.184.216.34:443";

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_and_one_that_changes_is_looked_up_once() {
    let (address, _) = server(|_| Vec::new()).await;
    let network = FakeNetwork::to(address)
        .name("a.example.com", &[&["10.0.0.1"]])
        .name("b.example.com", &[&[PUBLIC, "127.0.0.1"]])
        .name("c.example.com", &[&["::ffff:127.0.0.1"]])
        .name("d.example.com", &[&["fd00::1"]])
        .name("e.example.com", &[&["169.254.169.254"]])
        .name("f.example.com", &[&[]])
        .name("rebound.example.com", &[&[PUBLIC], &["127.0.0.1"]]);
    let (options, _) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    for (name, expected) in
        [("a", "403"), ("b", "403"), ("c", "403"), ("d", "403"), ("e", "403"), ("f", "502"), ("g", "502")]
    {
        let (_, answer) = ask(&proxy, &format!("CONNECT {name}.example.com:443 HTTP/1.1")).await;
        assert_eq!(status(&answer), expected, "{name}: {answer}");
    }
    assert_eq!(network.dialled(), []);
    let (_, answer) = ask(&proxy, "CONNECT rebound.example.com:443 HTTP/1.1").await;
    assert_eq!(status(&answer), "200");
    let (_, answer) = ask(&proxy, "CONNECT rebound.example.com:443 HTTP/1.1").await;
    assert_eq!(status(&answer), "403");
    assert_eq!(network.dialled(), [PUBLIC_WITH_PORT.parse().unwrap()]);
}

#[tokio::test]
async fn only_who_shows_the_token_is_served() {
    let (address, _) = server(|_| Vec::new()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
    let (options, events) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    let right = authorization(&proxy);
    for shown in [
        String::new(),
        "proxy-authorization: Basic d2luZGxhc3M6\r\n".to_owned(),
        right.replace("Basic", "Bearer"),
        right.replace("proxy-authorization", "authorization"),
        format!("{right}{right}"),
    ] {
        for line in ["CONNECT example.com:443 HTTP/1.1", "GET http://example.com/ HTTP/1.1"] {
            let mut stream = TcpStream::connect(proxy.address().unwrap()).await.unwrap();
            stream.write_all(format!("{line}\r\n{shown}\r\n").as_bytes()).await.unwrap();
            let answer = read_head(&mut stream).await;
            assert_eq!(status(&answer), "407", "{shown}: {answer}");
            assert_eq!(events.lock().unwrap().pop().unwrap(), "a request without the token was refused");
        }
    }
    assert_eq!(network.dialled(), []);
    assert!(!format!("{proxy:?}").contains(proxy.url().unwrap().split([':', '@']).nth(2).unwrap()));
}

#[tokio::test]
async fn a_new_policy_counts_from_then_on() {
    let (address, _) = server(|_| Vec::new()).await;
    let network = FakeNetwork::to(address).name("other.org", &[&[PUBLIC]]);
    let (options, _) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    let line = "CONNECT other.org:443 HTTP/1.1";
    assert_eq!(status(&ask(&proxy, line).await.1), "403");
    proxy.set_policy(policy().allow("other.org").unwrap());
    assert_eq!(status(&ask(&proxy, line).await.1), "200");
    proxy.set_policy(NetworkPolicy::default());
    assert_eq!(status(&ask(&proxy, line).await.1), "403");
}

struct OnlyOther;

#[async_trait]
impl AskTarget for OnlyOther {
    async fn may_reach(&self, target: &Target) -> bool {
        target.host() == "other.org"
    }
}

#[tokio::test]
async fn what_no_entry_names_can_be_asked_about() {
    let (address, _) = server(|_| Vec::new()).await;
    let network = FakeNetwork::to(address).name("other.org", &[&[PUBLIC], &["10.0.0.1"]]);
    let (options, events) = options(&network);
    let proxy = EgressProxy::start(policy(), options.with_ask(OnlyOther)).await.unwrap();
    for (target, expected) in [("other.org:8443", "200"), ("other.org:443", "403"), ("third.org:443", "403")] {
        assert_eq!(status(&ask(&proxy, &format!("CONNECT {target} HTTP/1.1")).await.1), expected, "{target}");
    }
    assert_eq!(
        *events.lock().unwrap(),
        [
            "other.org:8443 was allowed when asked about",
            "refused: other.org:443 has an address that is not public",
            "refused: third.org:443 is not in the list of allowed hosts",
        ]
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_serves_the_same() {
    let (address, _) = server(|_| b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
    let (options, _) = options(&network);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proxy");
    let proxy = EgressProxy::start_at(&path, policy(), options.clone()).unwrap();
    assert_eq!((proxy.address(), proxy.url(), proxy.environment()), (None, None, Vec::new()));
    let mut stream = tokio::net::UnixStream::connect(&path).await.unwrap();
    let head = format!("GET http://example.com/ HTTP/1.1\r\n{}connection: close\r\n\r\n", authorization(&proxy));
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert_eq!(status(&answer), "204", "{answer}");
    let again = EgressProxy::start_at(&path, policy(), options);
    assert_eq!(again.unwrap_err().to_string(), "the proxy cannot listen");
}

#[tokio::test]
async fn programs_learn_of_it_by_variables_and_it_ends_with_its_owner() {
    let (address, _) = server(|_| Vec::new()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
    let (options, _) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    let variables = proxy.environment();
    let url = proxy.url().unwrap();
    assert!(url.starts_with("http://windlass:") && url.ends_with(&format!("@{}", proxy.address().unwrap())), "{url}");
    for name in ["HTTPS_PROXY", "http_proxy", "all_proxy"] {
        assert!(variables.contains(&(name, url.clone())), "{name}");
    }
    assert!(variables.contains(&("NO_PROXY", String::new())));

    let (mut tunnel, answer) = ask(&proxy, "CONNECT example.com:443 HTTP/1.1").await;
    assert_eq!(status(&answer), "200");
    let address = proxy.address().unwrap();
    drop(proxy);
    let ended = tokio::time::timeout(Duration::from_secs(10), tunnel.read_u8()).await.unwrap();
    assert!(ended.is_err());
    let refused = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), refused).await.unwrap();
}

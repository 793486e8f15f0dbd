use std::time::{Duration, Instant};

use windlass_http::{
    Bytes, HeaderMap, HeaderName, HeaderValue, HttpClient, HttpOptions,
    proxy::{CredentialProxy, ProxyCredential, ProxyOptions},
};
use windlass_testkit::wire::{Message, Reply, WireServer};

const ROUNDS: usize = 2000;

/// Returns the median time to the first event, and to the end, of one kept connection.
async fn times(url: &str, key: &str) -> (Duration, Duration) {
    let client = HttpClient::new(url, HttpOptions::default()).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("x-api-key"), HeaderValue::from_str(key).unwrap());
    let body = Bytes::from(vec![b'x'; 20_000]);
    let (mut firsts, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut events = client.post("/v1/messages", headers.clone(), body.clone()).await.unwrap().events();
        events.next().await.unwrap().unwrap();
        firsts.push(start.elapsed());
        while let Some(event) = events.next().await {
            event.unwrap();
        }
        ends.push(start.elapsed());
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    (median(&mut firsts), median(&mut ends))
}

/// Each side has a thread of its own, as it would have a process of its own.
#[test]
#[ignore = "measures; run with --release -- --ignored --nocapture"]
fn what_the_proxy_adds() {
    let server = WireServer::start_on_thread().unwrap();
    server.forget_requests();
    let deltas = vec!["some text "; 100];
    let reply = Reply::from(Message::new().text_deltas(deltas)).separate_writes();
    server.on_request(move |_| reply.clone());
    let mut options = ProxyOptions::new(ProxyCredential::api_key("sk-ant-real-key-0123456789").unwrap());
    options.base_url = server.url();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let proxy = CredentialProxy::bind(options).await.unwrap();
            sender.send((proxy.url(), proxy.nonce().to_owned())).unwrap();
            std::future::pending::<()>().await;
        });
    });
    let (url, nonce) = receiver.recv().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for round in 0..3 {
            let (first, end) = times(&server.url(), "key").await;
            let (first_through, end_through) = times(&url, &nonce).await;
            println!(
                "round {round}: first event {first:?} direct, {first_through:?} through the proxy (+{:?}, {:.2}x); \
                 102 deltas and more {end:?} direct, {end_through:?} through (+{:?}, {:.2}x)",
                first_through.saturating_sub(first),
                first_through.as_secs_f64() / first.as_secs_f64(),
                end_through.saturating_sub(end),
                end_through.as_secs_f64() / end.as_secs_f64(),
            );
        }
    });
}

//! The wire server over plain sockets, so that its bytes are checked directly.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use serde_json::json;
use windlass_testkit::wire::{Gate, Message, Reply, WireServer};

const REQUEST: &[u8] = b"POST /v1/messages?beta=true HTTP/1.1\r\nX-Api-Key: k\r\nContent-Length: 2\r\n\r\n{}";

fn connect(server: &WireServer) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(REQUEST).unwrap();
    stream
}

fn read_all(mut stream: TcpStream) -> io::Result<String> {
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// Returns the chunks of the body of one chunked response.
fn chunks(response: &str) -> Vec<String> {
    let (_, mut rest) = response.split_once("\r\n\r\n").unwrap();
    let mut chunks = Vec::new();
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        chunks.push(tail[..size].to_owned());
        rest = &tail[size + 2..];
    }
    chunks
}

fn read_response(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"0\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1);
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn serves_a_script_over_one_connection_and_records_it() {
    let server = WireServer::start_on_thread().unwrap();
    server.push(Message::new().text("one"));
    server.push(Message::new().tool_use("toolu_1", "Read", json!({"file_path": "/a"})));
    let mut stream = connect(&server);
    let first = read_response(&mut stream);
    stream.write_all(REQUEST).unwrap();
    let second = read_response(&mut stream);

    assert!(first.contains("\"text\":\"one\"") && first.contains("end_turn"));
    assert!(second.contains("\"stop_reason\":\"tool_use\""));
    assert_ne!(first.split("msg_wire_").nth(1).unwrap()[..6], second.split("msg_wire_").nth(1).unwrap()[..6]);
    assert_eq!(server.connections(), 1);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].path, "/v1/messages?beta=true");
    assert_eq!(requests[1].header("x-api-key"), Some("k"));
    assert_eq!(requests[1].json().unwrap(), json!({}));
}

#[test]
fn one_chunk_for_each_event_by_default() {
    let server = WireServer::start_on_thread().unwrap();
    let reply = Reply::from(Message::new().text("héllo"));
    let body = reply.body();
    server.push(reply.clone());
    server.push(reply.clone().chunks_of(7));
    server.push(reply.clone().chunks_at([3, 10]));
    server.push(reply.clone().one_chunk());

    let lengths: Vec<Vec<usize>> = (0..4)
        .map(|_| {
            let mut stream = connect(&server);
            chunks(&read_response(&mut stream).replace("héllo", "hello!")).iter().map(String::len).collect()
        })
        .collect();
    let mut ends = 0;
    let natural: Vec<usize> = lengths[0]
        .iter()
        .map(|length| {
            ends += length;
            ends
        })
        .collect();
    assert_eq!(natural, reply.event_ends());
    assert!(lengths[1].iter().rev().skip(1).all(|length| *length == 7));
    assert_eq!(lengths[2], [3, 7, body.len() - 10]);
    assert_eq!(lengths[3], [body.len()]);
}

#[test]
fn cuts_resets_and_stops_where_asked() {
    let server = WireServer::start_on_thread().unwrap();
    let reply = Reply::from(Message::new().id("msg_1").text("hello"));
    let body = reply.body();
    for at in [0, 1, 57, body.len()] {
        server.push(reply.clone().one_chunk().cut_at(at));
        let cut = read_all(connect(&server)).unwrap();
        assert!(!cut.ends_with("0\r\n\r\n"));
        assert_eq!(chunks(&cut).concat().as_bytes(), &body[..at]);

        server.push(reply.clone().until_close().cut_at(at));
        let closed = read_all(connect(&server)).unwrap();
        assert_eq!(closed.split_once("\r\n\r\n").unwrap().1.as_bytes(), &body[..at]);

        server.push(reply.clone().stop_at(at));
        let mut stream = connect(&server);
        assert_eq!(chunks(&read_response(&mut stream)).concat().as_bytes(), &body[..at]);

        server.push(reply.clone().reset_at(at));
        let error = read_all(connect(&server)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}

#[tokio::test]
async fn waits_at_gates_and_notices_who_hangs_up() {
    let server = WireServer::start().await.unwrap();
    let gate = Gate::new();
    let reply = Reply::from(Message::new().text("hello"));
    let first = reply.event_ends()[0];
    server.push(reply.clone().pause_at(first, &gate));
    server.push(Reply::never());

    let stream = connect(&server);
    gate.wait_arrived(1).await;
    gate.open();
    let mut stream = tokio::task::spawn_blocking(move || {
        let mut stream = stream;
        read_response(&mut stream);
        stream
    })
    .await
    .unwrap();
    stream.write_all(REQUEST).unwrap();
    server.wait_requests(2).await;
    drop(stream);
    server.wait_hang_ups(1).await;
    assert_eq!(server.unused_replies(), 0);
}

#[test]
fn answers_by_handler_and_says_when_nothing_is_scripted() {
    let server = WireServer::start_on_thread().unwrap();
    let mut stream = connect(&server);
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 400");

    server.on_request(|request| Reply::status(429, format!("request {}", request.index)).header("retry-after", "3"));
    let mut stream = connect(&server);
    let mut answer = vec![0; 1024];
    let mut length = 0;
    while !answer[..length].ends_with(b"request 1") {
        length += stream.read(&mut answer[length..]).unwrap();
    }
    assert!(String::from_utf8_lossy(&answer).contains("retry-after: 3\r\n"));
}

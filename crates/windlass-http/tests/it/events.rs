//! Framing, limits and patience of the event decoder, without a socket.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use proptest::prelude::*;
use windlass_http::{Bytes, Events, HttpError, HttpErrorKind, HttpOptions};

/// Expected events of each framing.
const EVENTS: [(Option<&str>, &str); 3] =
    [(Some("a"), "{\"t\":\"日本語 🦀\"}"), (None, "two\nlines"), (Some("end"), "")];

fn corpus() -> Vec<Vec<u8>> {
    let lines = [
        ": a comment",
        "event: a",
        "data: {\"t\":\"日本語 🦀\"}",
        "",
        "",
        "retry: 10",
        "",
        "data:two",
        "unknown: field",
        "id: 7",
        "data: lines",
        "colonless",
        ":",
        "",
        "event:end",
        "data",
        "",
        "data: never finished",
    ];
    let mut texts = Vec::new();
    for bom in ["", "\u{feff}"] {
        for end in ["\n", "\r\n", "\r"] {
            let mut text = bom.to_owned();
            for line in &lines[..lines.len() - 1] {
                text.push_str(line);
                text.push_str(end);
            }
            text.push_str(lines[lines.len() - 1]);
            texts.push(text.into_bytes());
        }
    }
    texts
}

fn events_of(chunks: Vec<Vec<u8>>, options: &HttpOptions) -> Events {
    let chunks = chunks.into_iter().map(|chunk| Ok(Bytes::from(chunk)));
    Events::new(stream::iter(chunks), options)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn decode(chunks: Vec<Vec<u8>>) -> Result<Vec<(Option<String>, String)>, HttpError> {
    let mut events = events_of(chunks, &HttpOptions::default());
    run(async {
        let mut decoded = Vec::new();
        while let Some(event) = events.next().await {
            let event = event?;
            decoded.push((event.name.as_deref().map(str::to_owned), event.data.to_string()));
        }
        Ok(decoded)
    })
}

fn expected() -> Vec<(Option<String>, String)> {
    EVENTS.iter().map(|(name, data)| (name.map(str::to_owned), (*data).to_owned())).collect()
}

#[test]
fn every_framing_in_every_chunk_size() {
    for text in corpus() {
        for size in 1..=text.len() {
            let chunks = text.chunks(size).map(<[u8]>::to_vec).collect();
            assert_eq!(decode(chunks).unwrap(), expected(), "chunks of {size}");
        }
    }
}

#[test]
fn every_cut_decodes_a_prefix() {
    for text in corpus() {
        let mut longest = 0;
        for at in 0..text.len() {
            // Nothing of an event is decoded before its blank line, so a cut inside a character is not noticed.
            let decoded = decode(vec![text[..at].to_vec()]).unwrap();
            assert!(expected().starts_with(&decoded), "cut at {at}");
            assert!(decoded.len() >= longest);
            longest = decoded.len();
        }
        assert_eq!(longest, 3);
    }
}

proptest! {
    #[test]
    fn any_split_decodes_the_same(cuts in prop::collection::vec(0usize..180, 0..8)) {
        for text in corpus() {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % text.len()).collect();
            cuts.sort_unstable();
            let mut from = 0;
            let mut chunks = Vec::new();
            for cut in cuts.into_iter().chain([text.len()]) {
                chunks.push(text[from..cut].to_vec());
                from = cut;
            }
            prop_assert_eq!(decode(chunks).unwrap(), expected());
        }
    }

    #[test]
    fn any_bytes_end_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 1usize..50) {
        let _ = decode(bytes.chunks(size).map(<[u8]>::to_vec).collect());
    }
}

#[test]
fn bytes_that_are_not_utf8_are_a_protocol_error_and_the_last_item() {
    let mut events = events_of(vec![b"data: ok\n\ndata: \xff\n\ndata: later\n\n".to_vec()], &HttpOptions::default());
    run(async {
        assert_eq!(&*events.next().await.unwrap().unwrap().data, "ok");
        let error = events.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Protocol);
        assert!(events.next().await.is_none());
    });
}

#[test]
fn an_event_has_a_greatest_size_and_the_stream_has_not() {
    let mut options = HttpOptions::default();
    options.max_event_bytes = 1000;
    let small = vec![b"data: 0123456789\n\n".to_vec(); 1000];
    run(async {
        let mut events = events_of(small, &options);
        let mut count = 0;
        while let Some(event) = events.next().await {
            event.unwrap();
            count += 1;
        }
        assert_eq!(count, 1000);

        for endless in ["data: more\n", "event: x\n", "no line end ", ": comment\n"] {
            let chunks = vec![endless.as_bytes().to_vec(); 1000];
            let mut events = events_of(chunks, &options);
            let error = events.next().await.unwrap().unwrap_err();
            assert_eq!(error.kind(), HttpErrorKind::Protocol, "{endless}");
        }
    });
}

#[test]
fn signs_of_life_are_not_progress() {
    let mut options = HttpOptions::default();
    options.stall_timeout = Duration::ZERO;
    let chunks = || {
        // The clock must move between two chunks.
        stream::iter(0..3).map(|_| {
            let before = Instant::now();
            while before.elapsed().is_zero() {
                std::hint::spin_loop();
            }
            Ok(Bytes::from_static(b"data: ping\n\n"))
        })
    };
    run(async {
        let mut events = Events::new(chunks(), &options);
        assert!(events.next().await.unwrap().is_ok());
        let error = events.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Timeout);

        let mut events = Events::new(chunks(), &options);
        for _ in 0..3 {
            assert!(events.next().await.unwrap().is_ok());
            events.progress();
        }
        assert!(events.next().await.is_none());
    });
}

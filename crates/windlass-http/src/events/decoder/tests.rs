use std::convert::Infallible;

use futures_util::{FutureExt, StreamExt, stream};
use proptest::prelude::*;
use sse_stream::SseByteStream;

use super::*;

type DecodedLines = Vec<Result<(Option<String>, Option<String>), ()>>;

fn ours(chunks: &[Vec<u8>]) -> DecodedLines {
    let (mut decoder, mut read) = (EventDecoder::default(), Vec::new());
    for chunk in chunks {
        decoder.put(Bytes::copy_from_slice(chunk));
        loop {
            match decoder.next() {
                Ok(Some(block)) => {
                    let owned = |text: Option<FieldText>| text.map(|text| decoder.str(&text).to_owned());
                    read.push(Ok((owned(block.name), owned(block.data))))
                }
                Ok(None) => break,
                Err(_) => {
                    read.push(Err(()));
                    return read;
                }
            }
        }
    }
    read
}

/// Reads the chunks with another decoder.
fn theirs(chunks: &[Vec<u8>]) -> DecodedLines {
    let chunks = chunks.iter().map(|chunk| Ok::<_, Infallible>(Bytes::copy_from_slice(chunk))).collect::<Vec<_>>();
    let events = SseByteStream::new(stream::iter(chunks));
    let read = events.map(|event| event.map(|event| (event.event, event.data)).map_err(|_| ()));
    read.collect().now_or_never().expect("nothing is waited for")
}

/// Generates pieces of streams, valid and nearly valid ones.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "data:",
        "data: ",
        "data",
        "event:",
        "event: ",
        "id:",
        "id: 7",
        "retry: 10",
        "retry: x",
        "retry:",
        ":",
        " ",
        "\n",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        "\r\n\r\n",
        "\u{feff}",
        "é",
        "x",
        "{\"a\":1}",
        "dat",
        "a: b",
        "\0",
    ]);
    prop_oneof![
        9 => known.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..3),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn another_decoder_reads_the_same(pieces in prop::collection::vec(piece(), 0..30), size in 1_usize..12) {
        let text = pieces.concat();
        let whole = [text.clone()];
        prop_assert_eq!(ours(&whole), theirs(&whole));
        let chunks: Vec<Vec<u8>> = text.chunks(size).map(<[u8]>::to_vec).collect();
        prop_assert_eq!(ours(&chunks), theirs(&chunks));
        prop_assert_eq!(ours(&chunks), ours(&whole));
    }
}

#[test]
fn many_lines_of_data_are_joined_once() {
    let text = "data: line\n".repeat(200_000) + "\n";
    let read = ours(&[text.into_bytes()]);
    let Ok((None, Some(data))) = &read[0] else { panic!() };
    assert_eq!((read.len(), data.len()), (1, 200_000 * 5 - 1));
}

#[test]
fn lines_are_an_event_each_however_they_are_split() {
    let text = "{\"a\":1}\r\n\n{\"b\":\"é: data: x\"}\nlast\n{\"unfinished\"";
    for at in 0..text.len() {
        let mut decoder = EventDecoder::lines();
        let mut read = Vec::new();
        let (before, after) = text.as_bytes().split_at(at);
        for chunk in [before, after] {
            decoder.put(Bytes::copy_from_slice(chunk));
            while let Some(block) = decoder.next().unwrap() {
                assert!(block.name.is_none());
                read.push(decoder.str(&block.data.unwrap()).to_owned());
            }
        }
        assert_eq!(read, ["{\"a\":1}", "{\"b\":\"é: data: x\"}", "last"], "{at}");
    }
    let mut decoder = EventDecoder::lines();
    decoder.put(Bytes::from_static(b"\xff\n"));
    assert!(decoder.next().is_err());
}

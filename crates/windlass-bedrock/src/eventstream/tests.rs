//! Frames, whole and broken.

use super::frame::FrameHead;
use super::*;
use proptest::prelude::*;

fn header(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(name.len()).unwrap()];
    bytes.extend_from_slice(name.as_bytes());
    bytes.push(7);
    bytes.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(value.as_bytes());
    bytes
}

/// Returns a frame of these headers and this payload.
fn frame(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    let mut bytes = length(FRAMING + headers.len() + payload.len()).to_vec();
    bytes.extend_from_slice(&length(headers.len()));
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend_from_slice(headers);
    bytes.extend_from_slice(payload);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

fn event(name: &str, payload: &str) -> Vec<u8> {
    let headers = [header(":event-type", name), header(":message-type", "event")].concat();
    frame(&headers, payload.as_bytes())
}

/// Returns the payloads of all frames of these chunks, and the error that ends them.
fn read(chunks: &[&[u8]], limit: usize) -> (Vec<String>, Option<FrameError>) {
    let (mut decoder, mut payloads) = (FrameDecoder::new(limit), Vec::new());
    for chunk in chunks {
        decoder.put(Bytes::copy_from_slice(chunk));
        loop {
            match decoder.next() {
                Ok(Some(frame)) => payloads.push(String::from_utf8_lossy(&frame.payload).into_owned()),
                Ok(None) => break,
                Err(error) => return (payloads, Some(error)),
            }
        }
    }
    (payloads, None)
}

#[test]
fn a_frame_of_the_format_s_own_examples_is_read() {
    // `payload_one_str_header` of the test vectors that AWS publishes for its event stream.
    let bytes = [
        0, 0, 0, 61, 0, 0, 0, 32, 7, 253, 131, 150, 12, 99, 111, 110, 116, 101, 110, 116, 45, 116, 121, 112, 101, 7, 0,
        16, 97, 112, 112, 108, 105, 99, 97, 116, 105, 111, 110, 47, 106, 115, 111, 110, 123, 39, 102, 111, 111, 39, 58,
        39, 98, 97, 114, 39, 125, 141, 156, 8, 177,
    ];
    assert_eq!(read(&[&bytes], 61), (vec!["{'foo':'bar'}".to_owned()], None));
    // `empty_message`.
    let empty = [0, 0, 0, 16, 0, 0, 0, 0, 5, 194, 72, 235, 125, 152, 200, 255];
    assert_eq!(read(&[&empty, &empty], 61), (vec![String::new(), String::new()], None));
}

#[test]
fn heads_name_events_and_skip_the_rest() {
    let mut headers = Vec::new();
    for (kind, length) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (5, 8), (8, 8), (9, 16)] {
        headers.extend_from_slice(&[1, b'x', kind]);
        headers.extend(std::iter::repeat_n(255, length));
    }
    headers.extend_from_slice(&[1, b'y', 6, 0, 2, 255, 255]);
    headers.extend(header(":message-type", "exception"));
    headers.extend(header(":exception-type", "throttlingException"));
    headers.extend(header(":content-type", "application/json"));
    let mut decoder = FrameDecoder::new(1_000);
    decoder.put(frame(&headers, b"{}").into());
    let frame = decoder.next().unwrap().unwrap();
    let expected =
        FrameHead { message_type: "exception", exception_type: "throttlingException", ..FrameHead::default() };
    assert_eq!(frame.head(), Ok(expected));
}

#[test]
fn headers_that_cannot_be_read_are_an_error() {
    let good = header(":event-type", "x");
    let mut of_other_type = good.clone();
    of_other_type[12] = 6;
    let mut no_text = good.clone();
    *no_text.last_mut().unwrap() = 0xff;
    for headers in [&good[..good.len() - 1], &[1], &[0], &[1, b'x', 10], &[1, b'x', 5, 0], &of_other_type, &no_text] {
        let mut decoder = FrameDecoder::new(1_000);
        decoder.put(frame(headers, b"").into());
        assert_eq!(decoder.next().unwrap().unwrap().head(), Err(FrameError::Headers), "{headers:?}");
    }
}

#[test]
fn lengths_are_bounded_before_memory_is_taken() {
    let prelude = |total: u32, headers: u32| {
        let mut bytes = [total.to_be_bytes(), headers.to_be_bytes()].concat();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes
    };
    for (total, headers, expected) in [
        (1_001, 0, FrameError::TooLarge(1_000)),
        (u32::MAX, 0, FrameError::TooLarge(1_000)),
        (15, 0, FrameError::Lengths),
        (0, 0, FrameError::Lengths),
        (100, 85, FrameError::Lengths),
        (100, u32::MAX, FrameError::Lengths),
    ] {
        assert_eq!(read(&[&prelude(total, headers)], 1_000).1, Some(expected), "{total} {headers}");
        let split: Vec<Vec<u8>> = prelude(total, headers).into_iter().map(|byte| vec![byte]).collect();
        let split: Vec<&[u8]> = split.iter().map(Vec::as_slice).collect();
        assert_eq!(read(&split, 1_000).1, Some(expected), "{total} {headers}");
    }
    let largest = event("x", &"a".repeat(1_000));
    assert_eq!(read(&[&largest], largest.len()).1, None);
    assert_eq!(read(&[&largest], largest.len() - 1).1, Some(FrameError::TooLarge(largest.len() - 1)));
}

#[test]
fn each_flipped_bit_is_found() {
    let good = [event("a", "first"), event("b", "second")].concat();
    let end_of_first = event("a", "first").len();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            let (payloads, error) = read(&[&bad], 10_000);
            assert!(error.is_some(), "{at} {bit}");
            assert_eq!(payloads.len(), usize::from(at >= end_of_first), "{at} {bit}");
        }
    }
}

proptest! {
    #[test]
    fn frames_do_not_depend_on_how_they_are_split(
        payloads in prop::collection::vec("[a-zé]{0,40}", 0..6),
        cuts in prop::collection::vec(0_usize..600, 0..30),
    ) {
        let bytes: Vec<u8> = payloads.iter().flat_map(|payload| event("x", payload)).collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(read(&chunks, 600), (payloads.clone(), None));
        let each: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(read(&each, 600), (payloads, None));
    }

    #[test]
    fn random_bytes_are_never_more_than_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let (payloads, error) = read(&[first, second], 10_000);
        prop_assert!(payloads.is_empty());
        prop_assert_eq!(error.is_some(), bytes.len() >= PRELUDE);
    }

    #[test]
    fn random_headers_are_read_or_refused(headers in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut decoder = FrameDecoder::new(1_000);
        decoder.put(frame(&headers, b"x").into());
        let frame = decoder.next().unwrap().unwrap();
        let _ = frame.head();
        prop_assert_eq!(&frame.payload[..], b"x");
    }
}

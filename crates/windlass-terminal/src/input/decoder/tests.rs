use super::*;
use proptest::prelude::*;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn key(text: &str) -> TerminalInput {
    TerminalInput::Key(text.parse().unwrap())
}

fn paste(text: &str) -> TerminalInput {
    TerminalInput::Paste(text.to_owned())
}

/// All inputs of some bytes, up to the end of every wait.
fn all(decoder: &mut TerminalDecoder, bytes: &[u8], now: Duration) -> Vec<TerminalInput> {
    let mut inputs = decoder.feed(bytes, now);
    while let Some(deadline) = decoder.deadline() {
        inputs.extend(decoder.tick(deadline));
    }
    inputs
}

#[test]
fn sequences_are_keys() {
    for (bytes, expected) in [
        ("a", "a"),
        ("é", "é"),
        ("日", "日"),
        ("\r", "enter"),
        ("\n", "ctrl+j"),
        ("\t", "tab"),
        ("\x7f", "backspace"),
        ("\x08", "ctrl+h"),
        ("\x01", "ctrl+a"),
        ("\x1f", "ctrl+_"),
        ("\0", "ctrl+space"),
        ("\x1b", "esc"),
        ("\x1bb", "alt+b"),
        ("\x1b\r", "alt+enter"),
        ("\x1b\x7f", "alt+backspace"),
        ("\x1bé", "alt+é"),
        ("\x1b[A", "up"),
        ("\x1bOA", "up"),
        ("\x1b\x1b[D", "alt+left"),
        ("\x1b[1;5C", "ctrl+right"),
        ("\x1b[1;2B", "shift+down"),
        ("\x1b[Z", "shift+tab"),
        ("\x1b[3~", "delete"),
        ("\x1b[3;5~", "ctrl+delete"),
        ("\x1b[5~", "pageup"),
        ("\x1b[H", "home"),
        ("\x1b[4~", "end"),
        ("\x1bOP", "f1"),
        ("\x1b[[A", "f1"),
        ("\x1b[15~", "f5"),
        ("\x1b[24~", "f12"),
        ("\x1b[1;2R", "shift+f3"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[13;5u", "ctrl+enter"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[106;5u", "ctrl+j"),
        ("\x1b[97;2u", "A"),
        ("\x1b[97:65;2u", "A"),
        ("\x1b[97;1;8364u", "€"),
        ("\x1b[45:95;6u", "ctrl+_"),
        ("\x1b[45;6u", "ctrl+shift+-"),
        ("\x1b[97:65;6u", "ctrl+shift+a"),
        ("\x1b[44:60;4u", "alt+<"),
        ("\x1b[99;5:1u", "ctrl+c"),
        ("\x1b[27u", "esc"),
        ("\x1b[9;2u", "shift+tab"),
        ("\x1b[57399u", "0"),
        ("\x1b[", "alt+["),
    ] {
        assert_eq!(all(&mut TerminalDecoder::default(), bytes.as_bytes(), ms(0)), [key(expected)], "{bytes:?}");
    }
}

#[test]
fn sequences_without_a_meaning_type_nothing() {
    for bytes in [
        "\x1b[99;5:3u",
        "\x1b[57441u",
        "\x1b[<0;3;4M",
        "\x1b[M !!",
        "\x1b[201~",
        "\x1b[12345z",
        "\x1b[38;5",
        "\u{85}",
        "\x1b[1;999999999A",
    ] {
        assert_eq!(all(&mut TerminalDecoder::default(), bytes.as_bytes(), ms(0)), [], "{bytes:?}");
    }
}

#[test]
fn answers_of_the_terminal_are_reports() {
    for bytes in
        ["\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", "\x1b]11;rgb:ff/ff/ff\x07", "\x1b[?1u", "\x1b[?62;22c", "\x1b[12;40R"]
    {
        let expected = [TerminalInput::Report(bytes.as_bytes().to_vec()), key("x")];
        assert_eq!(all(&mut TerminalDecoder::default(), format!("{bytes}x").as_bytes(), ms(0)), expected, "{bytes:?}");
    }
    let focus = all(&mut TerminalDecoder::default(), b"\x1b[I\x1b[O", ms(0));
    assert_eq!(focus, [TerminalInput::Focus(true), TerminalInput::Focus(false)]);
}

#[test]
fn an_escape_alone_is_a_key_only_after_a_wait() {
    let mut decoder = TerminalDecoder::default();
    assert_eq!(decoder.feed(b"\x1b", ms(100)), []);
    assert_eq!(decoder.tick(ms(149)), []);
    assert_eq!(decoder.deadline(), Some(ms(150)));
    assert_eq!(decoder.tick(ms(150)), [key("esc")]);
    assert_eq!(decoder.deadline(), None);
    // Two in a row are two keys, at once or apart, also before another key.
    assert_eq!(decoder.feed(b"\x1b\x1b", ms(200)), []);
    assert_eq!(decoder.tick(ms(250)), [key("esc"), key("esc")]);
    assert_eq!(all(&mut decoder, b"\x1b\x1bx", ms(300)), [key("esc"), key("alt+x")]);
    // A key that is typed later does not become one with Alt.
    assert_eq!(decoder.feed(b"\x1b", ms(1000)), []);
    assert_eq!(decoder.feed(b"b", ms(2000)), [key("esc"), key("b")]);
}

#[test]
fn a_sequence_that_is_read_late_is_still_one() {
    let mut decoder = TerminalDecoder::default();
    decoder.feed(b"\x1b", ms(0));
    assert_eq!(decoder.feed(b"[A", ms(5000)), [key("up")]);
    decoder.feed(b"\x1b[1;", ms(6000));
    assert_eq!(decoder.feed(b"5C", ms(60_000)), [key("ctrl+right")]);
}

#[test]
fn every_split_gives_the_same_inputs() {
    let bytes = "é日\x1b[1;5Ca\x1b[200~x\r\ny\x1b[z\x1b[201~\x1b]11;rgb:0/0/0\x1b\\\x1bOBok".as_bytes();
    let whole = all(&mut TerminalDecoder::default(), bytes, ms(0));
    assert_eq!(whole[4], paste("x\ny\x1b[z"));
    for first in 0..bytes.len() {
        for second in first..bytes.len() {
            let mut decoder = TerminalDecoder::default();
            let mut inputs = decoder.feed(&bytes[..first], ms(0));
            inputs.extend(decoder.feed(&bytes[first..second], ms(20)));
            inputs.extend(all(&mut decoder, &bytes[second..], ms(40)));
            assert_eq!(inputs, whole, "split at {first} and {second}");
        }
    }
}

#[test]
fn a_bracketed_paste_is_one_text_whatever_is_in_it() {
    let text = "\x1b[A\x03\x04\r\n\x1b[200~ 日\ty".repeat(3);
    let bytes = format!("\x1b[200~{text}\x1b[201~z");
    let expected = [paste(&text.replace("\r\n", "\n")), key("z")];
    assert_eq!(all(&mut TerminalDecoder::default(), bytes.as_bytes(), ms(0)), expected);
}

#[test]
fn a_paste_whose_end_never_comes_ends_after_a_wait() {
    let mut decoder = TerminalDecoder::default();
    assert_eq!(decoder.feed(b"\x1b[200~two\nlines\x1b[20", ms(0)), []);
    assert_eq!(decoder.tick(ms(999)), []);
    assert_eq!(decoder.tick(ms(1000)), [paste("two\nlines\x1b[20")]);
    // The marker that comes late after all types nothing.
    assert_eq!(all(&mut decoder, b"\x1b[201~k", ms(1500)), [key("k")]);
}

#[test]
fn a_megabyte_is_one_paste_with_and_without_brackets() {
    let line = "let x = \"日本\"; // é\n";
    let text = line.repeat(1024 * 1024 / line.len());
    let mut bracketed = TerminalDecoder::default();
    let bytes = format!("\x1b[200~{text}\x1b[201~");
    let mut inputs = Vec::new();
    for (at, part) in bytes.as_bytes().chunks(4096).enumerate() {
        inputs.extend(bracketed.feed(part, ms(at as u64)));
    }
    assert!(inputs == [paste(&text)], "{} inputs", inputs.len());
    // Terminals without brackets send Enter for a line end.
    let mut plain = TerminalDecoder::default();
    let mut inputs = Vec::new();
    for (at, part) in text.replace('\n', "\r").as_bytes().chunks(1000).enumerate() {
        inputs.extend(plain.feed(part, ms(at as u64)));
    }
    inputs.extend(all(&mut plain, b"", ms(10_000)));
    assert!(inputs == [paste(&text)], "{} inputs", inputs.len());
}

#[test]
fn typed_keys_are_no_paste() {
    let mut decoder = TerminalDecoder::default();
    let mut now = 0;
    for c in "hello\r".chars() {
        now += 60;
        assert_eq!(decoder.feed(c.to_string().as_bytes(), ms(now)).len(), 1, "{c:?}");
    }
    // A line that comes in one read, as over a slow connection: Enter waits a moment, then it sends.
    assert_eq!(decoder.feed(b"ls\r", ms(1000)), [key("l"), key("s")]);
    assert_eq!(decoder.tick(ms(1040)), [key("enter")]);
}

#[test]
fn lines_that_come_at_once_are_a_paste() {
    let mut decoder = TerminalDecoder::default();
    assert_eq!(all(&mut decoder, b"one\rtwo\r", ms(0)), [paste("one\ntwo\n")]);
    assert_eq!(all(&mut decoder, b"one\r\ntwo", ms(5000)), [paste("one\ntwo")]);
    // The second read shows that Enter was a line end.
    let mut inputs = decoder.feed(b"ls\r", ms(10_000));
    inputs.extend(all(&mut decoder, b"pwd\r", ms(10_010)));
    assert_eq!(inputs, [key("l"), key("s"), paste("\npwd\n")]);
    // A key that no paste has ends it.
    let inputs = all(&mut decoder, b"one\rtwo\x1b[A", ms(20_000));
    assert_eq!(inputs, [paste("one\ntwo"), key("up")]);
}

#[test]
fn memory_is_bounded() {
    let mut decoder = TerminalDecoder::default();
    let mut reports = decoder.feed(b"\x1b]", ms(0));
    for _ in 0..1000 {
        reports.extend(decoder.feed(&[b'x'; 1000], ms(0)));
        assert!(decoder.pending.len() < 2 * LONGEST_SEQUENCE, "{}", decoder.pending.len());
    }
    assert_eq!(reports, []);
    assert_eq!(all(&mut decoder, b"\x07k", ms(1)), [key("k")]);
    let mut pasted = 0;
    decoder.feed(b"\x1b[200~", ms(2));
    for _ in 0..20 {
        for input in decoder.feed("é".repeat(512 * 1024).as_bytes(), ms(2)) {
            let TerminalInput::Paste(text) = input else { panic!("no paste") };
            assert!(!text.contains('\u{fffd}'));
            pasted += text.len();
        }
    }
    for input in decoder.feed(b"\x1b[201~", ms(2)) {
        let TerminalInput::Paste(text) = input else { panic!("no paste") };
        pasted += text.len();
    }
    assert_eq!(pasted, 20 * 1024 * 1024);
}

proptest! {
    #[test]
    fn no_bytes_panic_and_none_are_held_for_ever(reads in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), 0_u64..100), 0..20)) {
        let mut decoder = TerminalDecoder::default();
        let mut now = 0;
        for (bytes, wait) in reads {
            now += wait;
            decoder.feed(&bytes, ms(now));
        }
        // Each tick at a deadline makes progress.
        for _ in 0..10 {
            if let Some(deadline) = decoder.deadline() {
                decoder.tick(deadline.max(ms(now)));
            }
        }
        prop_assert_eq!(decoder.deadline(), None);
    }

    #[test]
    fn typed_text_comes_out_whole(text in "[ -~é日\u{301}😀]{0,60}", step in 1_u64..200) {
        let mut decoder = TerminalDecoder::default();
        let mut typed = String::new();
        let mut now = 0;
        let mut take = |inputs: Vec<TerminalInput>| for input in inputs {
            match input {
                TerminalInput::Key(key) => typed.extend(key.typed()),
                TerminalInput::Paste(text) => typed.push_str(&text),
                other => panic!("{other:?}"),
            }
        };
        for byte in text.as_bytes() {
            now += step;
            take(decoder.feed(&[*byte], ms(now)));
        }
        while let Some(deadline) = decoder.deadline() {
            take(decoder.tick(deadline));
        }
        prop_assert_eq!(typed, text);
    }
}

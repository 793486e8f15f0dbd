use proptest::prelude::*;

use super::*;

fn captured(text: &[u8], head: usize, tail: usize) -> Captured {
    Captured {
        head: text[..head].to_vec(),
        tail: text[text.len() - tail..].to_vec(),
        total: text.len() as u64,
        spill: None,
    }
}

proptest! {
    #[test]
    fn no_character_is_cut_in_two(text in "\\PC{8,40}", head in 0usize..12, tail in 0usize..12) {
        let bytes = text.as_bytes();
        prop_assume!(head + tail < bytes.len());
        let output = text_of(captured(bytes, head, tail), None);
        prop_assert!(text.starts_with(&output.head));
        prop_assert!(text.ends_with(&output.tail));
        let kept = output.head.len() + output.tail.len();
        prop_assert_eq!(kept as u64 + output.omitted_bytes, bytes.len() as u64);
        prop_assert!(head - output.head.len() <= 3 && tail - output.tail.len() <= 3);
    }

    #[test]
    fn any_bytes_become_text(bytes in proptest::collection::vec(any::<u8>(), 1..60), head in 0usize..20, tail in 0usize..20) {
        prop_assume!(head + tail < bytes.len());
        let output = text_of(captured(&bytes, head, tail), None);
        prop_assert!(output.omitted_bytes >= (bytes.len() - head - tail) as u64);
        prop_assert!(output.omitted_bytes <= (bytes.len() - head - tail) as u64 + 6);
        let _ = last_lines(&bytes);
    }
}

#[test]
fn whole_output_is_all_head() {
    let output = text_of(captured(b"ab\xffcd", 2, 3), None);
    assert_eq!(output, CapturedOutput::new("ab\u{fffd}cd", "", 0));
}

#[test]
fn progress_shows_the_last_lines() {
    assert_eq!(last_lines("\u{e9}1\n2\n3\n4\n5\n6\n".as_bytes()), "2\n3\n4\n5\n6");
    assert_eq!(last_lines(&"\u{e9}x".as_bytes()[1..]), "x");
}

#[test]
fn output_in_a_code_page_is_read_in_both_parts() {
    let captured = Captured { head: b"\xa1a".to_vec(), tail: b"b\xd2".to_vec(), total: 10, spill: None };
    assert_eq!(text_of(captured, Some(874)), CapturedOutput::new("กa", "bา", 6));
}

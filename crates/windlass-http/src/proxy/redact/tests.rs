use proptest::prelude::*;

use super::*;

const KEY: &str = "abababac";

fn filtered(text: &[u8], cuts: &[usize], needles: &Needles) -> Vec<u8> {
    let mut filter = needles.filter();
    let mut out = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        let cut = cut.clamp(from, text.len());
        out.extend_from_slice(&filter.pass(Bytes::copy_from_slice(&text[from..cut])));
        from = cut;
    }
    out.extend_from_slice(&filter.finish());
    out
}

#[test]
fn masks_and_keeps_the_length() {
    let needles = Needles::new(&[Secret::new("sk-ant-1234"), Secret::new("other-key"), Secret::new("short")]);
    let text = b"a sk-ant-1234sk-ant-1234 short other-key, sk-ant-123";
    let masked = b"a ********************** short *********, sk-ant-123";
    for cut in 0..=text.len() {
        assert_eq!(filtered(text, &[cut], &needles), masked, "cut at {cut}");
    }
}

#[test]
fn holds_back_only_what_can_become_a_needle() {
    let mut filter = Needles::new(&[Secret::new(KEY)]).filter();
    assert_eq!(filter.pass(Bytes::from_static(b"data: {}\n\n")), "data: {}\n\n");
    assert_eq!(filter.pass(Bytes::from_static(b"x abab")), "x ");
    assert_eq!(filter.pass(Bytes::from_static(b"x")), "ababx");
    assert_eq!(filter.finish(), "");
}

proptest! {
    #[test]
    fn chunks_do_not_matter_and_no_needle_passes(
        text in "[abc]{0,60}",
        at in 0_usize..60,
        mut cuts in proptest::collection::vec(0_usize..70, 0..8),
    ) {
        cuts.sort_unstable();
        let mut text = text;
        text.insert_str(at.min(text.len()), KEY);
        let needles = Needles::new(&[Secret::new(KEY)]);
        let whole = filtered(text.as_bytes(), &[], &needles);
        prop_assert_eq!(whole.len(), text.len());
        prop_assert!(!needles.found_in(&whole));
        prop_assert_eq!(filtered(text.as_bytes(), &cuts, &needles), whole);
    }
}

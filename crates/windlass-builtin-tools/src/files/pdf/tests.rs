use super::*;

const PLAIN: &[u8] = include_bytes!("../../../tests/documents/plain.pdf");

/// Changes bytes of a real document, and leaves pieces out: the result is a text or a refusal, and always an end.
#[test]
fn any_damage_is_survived() {
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut readable = 0;
    for _ in 0..400 {
        let mut damaged = PLAIN.to_vec();
        for _ in 0..=random(4) {
            let at = random(damaged.len());
            damaged[at] = [b'0', b'<', b'[', b'/', 0, 0xFF][random(6)];
        }
        if random(3) == 0 {
            let at = random(damaged.len());
            damaged.drain(at..(at + random(200)).min(PLAIN.len()).max(at));
        }
        let mut steps = 0;
        let text = text(&damaged, 1, 3, &mut || {
            steps += 1;
            steps > 10_000
        });
        readable += usize::from(text.is_ok_and(|text| text.contains("Hello from page")));
    }
    assert!((50..400).contains(&readable), "{readable} are readable");
}

#[test]
fn a_text_ends_when_it_is_stopped() {
    let error = text(PLAIN, 1, 3, &mut || true).unwrap_err();
    assert_eq!(error, "reading it takes too long");
}

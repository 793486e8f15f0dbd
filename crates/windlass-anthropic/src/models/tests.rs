use windlass_types::Usage;

use super::*;

#[test]
fn names_become_ids() {
    for (name, id) in [
        ("opus", "claude-opus-5-5"),
        ("Sonnet", "claude-sonnet-5-5"),
        ("haiku", "claude-haiku-5-5"),
        ("opus[1m]", "claude-opus-5-5"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5[1m]"),
        (" my-gateway/model ", "my-gateway/model"),
    ] {
        assert_eq!(resolve(name), id);
        assert_eq!(resolve(id), id, "resolving twice");
    }
}

#[test]
fn a_longer_prefix_is_not_hidden_by_a_shorter_one() {
    for (at, family) in FAMILIES.iter().enumerate() {
        assert_eq!(FAMILIES.iter().position(|other| family.prefix.starts_with(other.prefix)), Some(at));
    }
}

#[test]
fn limits_and_prices() {
    let dated = info("claude-sonnet-4-5-20250929");
    assert_eq!((dated.context_window, dated.max_output_tokens), (200_000, 64_000));
    assert_eq!(info("claude-sonnet-4-5[1m]").context_window, 1_000_000);
    assert_eq!(on_wire("claude-sonnet-4-5[1m]"), ("claude-sonnet-4-5", Some(LONG_BETA)));

    let mut usage = Usage::new(1_000_000, 1_000_000);
    usage.cache_read_input_tokens = 1_000_000;
    usage.cache_creation_input_tokens = 1_000_000;
    let cost = info("claude-opus-5-5").cost(&usage).unwrap();
    assert_eq!(cost, NanoUsd::from_usd(4.0 + 20.0 + 0.2 + 5.0));

    let unknown = info("my-gateway/model");
    assert_eq!(unknown.price, None);
    assert_eq!(unknown.context_window, 200_000);
}

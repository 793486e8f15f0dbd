use super::*;
use proptest::prelude::*;

#[test]
fn ids_that_fit_are_kept() {
    for id in ["call_1", "toolu_01AbC-9", "a", &"x".repeat(64)] {
        assert_eq!(call_id(id), id);
    }
}

#[test]
fn the_hash_is_that_of_the_standard() {
    // Test vectors of the authors of FNV.
    assert_eq!(stable_hash(b""), 0x6c62272e07bb014262b821756295c58d);
    assert_eq!(stable_hash(b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
    assert_eq!(stable_hash(b"foobar"), 0x343e1662793c64bf6f0d3597ba446f18);
}

#[test]
fn aliases_are_pinned() {
    // A changed alias would change the beginning of requests.
    assert_eq!(call_id("a|b"), "call_a68d6259fb8b5822836dbc7977cbafee");
}

#[test]
fn other_ids_become_the_same_alias_every_time() {
    let long = format!("call_1|fc_{}", "x".repeat(450));
    for id in ["", "a b", "é", "a|b", "call:1", &"x".repeat(65), &long] {
        let alias = call_id(id);
        assert!(fits(&alias) && alias.starts_with("call_"), "{id} became {alias}");
        assert_eq!(alias, call_id(id));
        assert_eq!(call_id(&alias), alias, "an alias is an id that fits");
    }
}

proptest! {
    #[test]
    fn ids_that_differ_stay_apart(one in ".{0,80}", two in ".{0,80}") {
        prop_assume!(one != two);
        prop_assert_ne!(call_id(&one), call_id(&two));
    }
}

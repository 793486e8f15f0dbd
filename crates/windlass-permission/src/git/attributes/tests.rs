use super::*;

#[test]
fn line_ends_languages_and_hints_are_inert() {
    for text in [
        "",
        "* text=auto\n*.sh eol=lf\r\n*.png binary\n*.rs diff=rust\n*.md diff=markdown linguist-detectable\n",
        "# *.x filter=x\n  # diff=x\n/docs export-ignore\n*.lock -diff merge=ours\n*.a diff\n*.b !filter -filter\n",
        "filters/* text\n\"a b\" text\n",
    ] {
        assert!(attributes_are_inert(text.as_bytes()), "{text}");
    }
}

#[test]
fn filters_and_drivers_of_others_are_not() {
    for text in [
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
        "*.pdf diff=pdf\n",
        "*.x filter\n",
        "[attr]mine filter=x\n",
        "\t*.x\tfilter=x",
        "\"a b\" filter=x",
        "*.x\u{b}filter=x",
        "\"#a\" diff=x",
    ] {
        assert!(!attributes_are_inert(text.as_bytes()), "{text}");
    }
    assert!(!attributes_are_inert(&vec![b'a'; MAX_ATTRIBUTES + 1]));
}

//! Files that are no logs at all.

#[cfg(unix)]
#[test]
fn what_has_no_end_is_refused_at_once() {
    for path in ["/dev/zero", "/tmp", "/nowhere/at/all.jsonl"] {
        let path = std::path::Path::new(path);
        assert!(windlass_store::check_file(path).is_err(), "{}", path.display());
        assert!(windlass_store::export_file(path).is_err(), "{}", path.display());
    }
}

use super::*;
use proptest::prelude::*;

fn paths() -> impl Strategy<Value = Vec<PathBuf>> {
    prop::collection::vec("(/(--|-|[a-zé ]{1,3}|--write|--)){1,3}".prop_map(PathBuf::from), 0..4)
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        switches in any::<[bool; 4]>(),
        lists in prop::array::uniform5(paths()),
        program in "[a-z-]{1,8}",
        arguments in prop::collection::vec("[-a-z ]{0,8}", 0..4),
    ) {
        let [writable, pins, masks, hidden_directories, hidden_files] = lists;
        let [namespaces, inside, network, unix_sockets] = switches;
        let proxy = namespaces.then(|| PathBuf::from("/run/s"));
        let cwd = PathBuf::from("/w");
        let written = Confinement {
            namespaces, inside, network, unix_sockets, proxy, cwd, writable, pins, masks, hidden_directories, hidden_files,
        };
        let arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
        let all = written.to_arguments(OsStr::new(&program), &arguments);
        prop_assert_eq!(&all[0], HELPER_WORD);
        let (read, rest) = Confinement::from_arguments(all.into_iter().skip(1)).unwrap();
        prop_assert_eq!(read, written);
        prop_assert_eq!(rest, [vec![OsString::from(program)], arguments].concat());
    }
}

#[test]
fn what_is_not_known_is_refused() {
    let read = |words: &[&str]| Confinement::from_arguments(words.iter().map(OsString::from)).unwrap_err();
    assert_eq!(read(&["--writable", "/", "--", "sh"]), "--writable is not known");
    assert_eq!(read(&["--write"]), "--write lacks its value");
    assert_eq!(read(&["--write", "/w"]), "no program is named");
    assert_eq!(read(&["--"]), "no program is named");
}

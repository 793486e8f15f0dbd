use super::*;

#[test]
fn likely_names_come_first() {
    let names = ["main.rs", "lib.rs", "Makefile", "config.yaml", "parser_test.rs", "README.md", "café.txt"];
    for (wanted, expected) in [
        ("Main.rs", &["main.rs"][..]),
        ("mian.rs", &["main.rs"]),
        ("makefile", &["Makefile"]),
        ("config.yml", &["config.yaml"]),
        ("config.toml", &["config.yaml"]),
        ("readme", &["README.md"]),
        ("parser.rs", &["parser_test.rs"]),
        ("cafe\u{301}.txt", &["café.txt"]),
        ("zebra.py", &[]),
    ] {
        let got = similar_names(wanted, names.into_iter());
        assert!(got.starts_with(expected) && got.is_empty() == expected.is_empty(), "{wanted}: {got:?}");
    }
}

#[test]
fn other_places_follow_from_the_current_directory() {
    let cwd = Path::new("/home/me/project");
    for (path, expected) in [
        ("/src/main.rs", &["/home/me/project/src/main.rs"][..]),
        ("/home/me/project/project/src/a.rs", &["/home/me/project/src/a.rs"]),
        ("/home/me/src/a.rs", &["/home/me/project/home/me/src/a.rs", "/home/me/project/src/a.rs"]),
        ("/home/me/project/src/a.rs", &[]),
    ] {
        let got = other_places(Path::new(path), cwd);
        assert!(got.iter().map(|p| p.to_str().unwrap()).eq(expected.iter().copied()), "{path}: {got:?}");
    }
}

#[test]
fn edit_distance_counts_swaps_once() {
    for (a, b, expected) in
        [("", "", 0), ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3)]
    {
        assert_eq!(edit_distance(a, b), expected, "{a} {b}");
        assert_eq!(edit_distance(b, a), expected, "{b} {a}");
    }
}

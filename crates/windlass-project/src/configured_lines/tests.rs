use super::*;

fn world() -> (tempfile::TempDir, Places) {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().canonicalize().unwrap();
    for (file, text) in [
        ("work/tools/key.sh", "echo k"),
        ("work/two words", "k"),
        ("work/data.txt", "d"),
        ("work/package.json", r#"{"name":"x","scripts":{"lint":"a"}}"#),
        ("home/bin/key", "k"),
    ] {
        let path = base.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::create_dir_all(base.join("work/.git")).unwrap();
    let mut places = Places::new(base.join("work"));
    places.user_home = Some(base.join("home"));
    (root, places)
}

fn files(line: &ConfiguredLine, places: &Places) -> Vec<String> {
    let base = places.start().parent().unwrap();
    let all = line.files(places.start(), places);
    all.iter().map(|path| path.strip_prefix(base).unwrap_or(path).display().to_string()).collect()
}

#[test]
fn a_line_is_decided_by_what_it_runs() {
    let (_root, places) = world();
    for (line, expected) in [
        ("tools/key.sh --field x", vec!["work/tools/key.sh"]),
        ("sh ./tools/key.sh|head -1", vec!["work/tools/key.sh"]),
        ("./not-there x", vec!["work/not-there"]),
        ("mytool tools/key.sh data.txt", vec!["work/tools/key.sh"]),
        ("mytool $CLAUDE_PROJECT_DIR/data.txt", vec!["work/data.txt"]),
        ("npm run lint", vec!["work/package.json"]),
        ("cargo fmt", vec![]),
        ("sh tools/*.sh", vec!["work/tools/key.sh"]),
        ("find . -name '*.sh' -exec sh {} +", vec!["work/tools/key.sh"]),
        ("find . -name '*.sh' -exec wc {} +", vec![]),
        ("run-parts tools", vec!["work/tools/key.sh"]),
        ("PATH=tools:$PATH key.sh", vec!["work/tools/key.sh"]),
        ("cat data.txt", vec![]),
        // A directory would be the whole workspace too easily.
        ("cd tools && x .", vec![]),
        ("/usr/bin/env python3 --version", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(files(&ConfiguredLine::new("x", line), &places), expected, "{line}");
    }
}

#[test]
fn all_that_a_line_for_a_credential_names_matters() {
    let (_root, places) = world();
    for (line, expected) in [
        ("cat 'two words'", vec!["work/two words"]),
        ("$HOME/bin/key; ~/bin/key", vec!["home/bin/key"]),
        ("cat data.txt", vec!["work/data.txt"]),
        ("vault read secret/anthropic", vec![]),
    ] {
        assert_eq!(files(&ConfiguredLine::new("x", line).giving_credentials(), &places), expected, "{line}");
    }
}

#[test]
fn an_entry_of_a_server_has_its_lines() {
    let (_root, places) = world();
    let entry = r#"{"command":"node","args":["server/index.js"],"headersHelper":"cat data.txt"}"#;
    let all: Vec<String> = ConfiguredLine::of_server("x", entry).iter().flat_map(|line| files(line, &places)).collect();
    assert_eq!(all, ["work/server/index.js", "work/data.txt"]);
    assert!(
        ConfiguredLine::of_server("x", "no").is_empty() && ConfiguredLine::of_server("x", r#"{"url":"u"}"#).is_empty()
    );
}

#[test]
fn a_content_is_known_by_what_matters_of_it() {
    let (root, places) = world();
    let path = places.start().join("tools/key.sh");
    let before = ProgramContent::read(&path);
    assert_eq!(before.text.as_deref(), Some("echo k"));
    std::fs::write(&path, "echo x").unwrap();
    assert_ne!(ProgramContent::read(&path).digest, before.digest);
    assert_eq!(ProgramContent::read(&places.start().join("none")).digest, MISSING);
    let package = places.start().join("package.json");
    let before = ProgramContent::read(&package).digest;
    std::fs::write(&package, r#"{"dependencies":{"a":"1"},"scripts":{"lint":"a"}}"#).unwrap();
    assert_eq!(ProgramContent::read(&package).digest, before);
    std::fs::write(&package, r#"{"scripts":{"lint":"b"}}"#).unwrap();
    assert_ne!(ProgramContent::read(&package).digest, before);
    let long = root.path().join("long");
    std::fs::write(&long, vec![0; usize::try_from(MAX_HASHED_BYTES).unwrap() + 1]).unwrap();
    assert!(ProgramContent::read(&long).digest.contains("bytes of"));
}

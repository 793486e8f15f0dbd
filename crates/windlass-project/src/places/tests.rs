use super::*;

fn user(home: &str, variables: &[(&str, &str)]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let lookup = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let places = Places::of_system("/w", Some(Path::new(home)), lookup);
    (places.user, places.claude_json)
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
#[cfg(unix)]
fn the_user_is_where_the_environment_says() {
    for (home, variables, directories, claude_json) in [
        ("/u/.windlass", &[("HOME", "/u")][..], &["/u/.windlass", "/u/.claude"][..], "/u/.claude.json"),
        // Started by an SDK: sessions are under `~/.claude`, and the user's denials in `~/.windlass` still apply.
        ("/u/.claude", &[("HOME", "/u")], &["/u/.claude", "/u/.windlass"], "/u/.claude.json"),
        ("/c", &[("HOME", "/u"), ("CLAUDE_CONFIG_DIR", "/c")], &["/c"], "/c/.claude.json"),
        ("/w", &[("HOME", "/u"), ("WINDLASS_HOME", "/w")], &["/w", "/u/.claude"], "/u/.claude.json"),
        (
            "/w",
            &[("HOME", "/u"), ("WINDLASS_HOME", "/w"), ("CLAUDE_CONFIG_DIR", "/c")],
            &["/w", "/c"],
            "/c/.claude.json",
        ),
    ] {
        assert_eq!(user(home, variables), (paths(directories), paths(&[claude_json])), "{variables:?}");
    }
}

#[test]
fn a_project_reaches_up_to_its_repository() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let deep = root.join("repository/a/b");
    std::fs::create_dir_all(&deep).unwrap();
    assert_eq!(Places::new(&deep).project, std::slice::from_ref(&deep));
    std::fs::create_dir(root.join("repository/.git")).unwrap();
    let chain = [root.join("repository"), root.join("repository/a"), deep.clone()];
    assert_eq!(Places::new(&deep).project, chain);
    assert_eq!(Places::new(&deep).start(), deep);
}

#[test]
fn a_file_of_the_user_is_not_one_of_the_project() {
    let mut places = Places::new("/u");
    places.user = paths(&["/u/.claude"]);
    let files: Vec<PathBuf> = places.project_files("settings.json").into_iter().map(|(_, file)| file).collect();
    assert_eq!(files, paths(&["/u/.windlass/settings.json"]));
}

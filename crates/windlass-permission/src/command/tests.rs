use super::*;
use windlass_shell::analyse;

fn found(text: &str) -> Vec<String> {
    let analysis = analyse(text);
    let view = View::new(&analysis, Path::new("/w"), Some(Path::new("/home/u")));
    let mut all: Vec<String> = view
        .specs()
        .map(|spec| {
            let mut text = spec.path.display().to_string();
            if let Some(pattern) = &spec.pattern {
                text = format!("{text} {pattern}");
            }
            format!(
                "{}{}{}{text}",
                if spec.read { "r" } else { "" },
                if spec.write { "w" } else { "" },
                if spec.unknown { "? " } else { " " }
            )
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn nested_commands_name_their_paths() {
    assert!(found("bash -c 'cat .env'").contains(&"r /w/.env".to_owned()));
    assert!(found("echo $(cat ../x)").contains(&"r /x".to_owned()));
    assert!(found("for i in 1; do rm a; done").contains(&"w /w/a".to_owned()));
    assert!(found("(cd sub; cat x)").contains(&"r /w/sub/x".to_owned()));
    assert!(found("(cd a; cd b; cat x > y)").contains(&"w /w/a/b/y".to_owned()));
    assert!(found("(cat ~/x)").contains(&"r /home/u/x".to_owned()));
    assert!(found("(cat $x)").contains(&"r? /w/$x".to_owned()));
    assert!(found("(tar --file=out x)").contains(&"rw /w/out".to_owned()));
}

#[test]
fn patterns_start_in_a_directory() {
    assert!(found("(cat src/*.rs)").contains(&"r /w/src *.rs".to_owned()));
    assert!(found("(cat */../x)").contains(&"r? /w */../x".to_owned()));
}

#[test]
fn paths_to_resolve_are_listed_once() {
    let analysis = analyse("(cat a a; cat $b)");
    let paths = paths(&analysis, Path::new("/w"));
    assert_eq!(paths, [CommandPath { path: "/w/a".into(), write: false }]);
}

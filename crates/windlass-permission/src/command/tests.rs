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
                if spec.usage.read { "r" } else { "" },
                if spec.usage.write { "w" } else { "" },
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
    assert!(found("{ cd sub; cat x; }").contains(&"r /w/sub/x".to_owned()));
    assert!(found("{ cd a; cd b; cat x > y; }").contains(&"w /w/a/b/y".to_owned()));
    assert!(found("{ cat ~/x; }").contains(&"r /home/u/x".to_owned()));
    assert!(found("{ cat $x; }").contains(&"r? /w/$x".to_owned()));
    assert!(found("{ tar --file=out x; }").contains(&"rw /w/out".to_owned()));
}

#[test]
fn patterns_start_in_a_directory() {
    assert!(found("{ cat src/*.rs; }").contains(&"r /w/src *.rs".to_owned()));
    assert!(found("{ cat */../x; }").contains(&"r? /w */../x".to_owned()));
}

#[test]
fn paths_to_resolve_are_listed_once() {
    let analysis = analyse("{ cat a a; cat $b; }");
    let paths = command_paths(&analysis, Path::new("/w"), None);
    let named: Vec<_> = paths.iter().map(|path| (path.path.to_str().unwrap(), path.write, path.tree)).collect();
    assert_eq!(named, [("/w/a", false, false)]);
}

/// The driver looks for git directories where a command writes.
#[test]
fn paths_to_resolve_say_whether_the_command_writes_there() {
    let written = |text: &str| -> Vec<(String, bool)> {
        let paths = command_paths(&analyse(text), Path::new("/w"), None);
        paths.iter().map(|path| (path.path.display().to_string(), path.write)).collect()
    };
    let expect = |of: &[(&str, bool)]| of.iter().map(|(path, write)| ((*path).to_owned(), *write)).collect::<Vec<_>>();
    assert_eq!(written("cat a"), expect(&[("/w/a", false)]));
    assert_eq!(written("touch a"), expect(&[("/w/a", true)]));
    // Paths that are read and written, in any order.
    assert_eq!(written("cat a > a"), expect(&[("/w/a", true)]));
    assert_eq!(written("touch a && cat a b"), expect(&[("/w/a", true), ("/w/b", false)]));
    assert_eq!(written("{ touch a; cat a; }"), expect(&[("/w/a", true)]));
}

/// A path that a line names repeatedly is judged once, because each judgement takes time.
#[test]
fn a_path_that_a_command_names_again_is_judged_once() {
    for text in ["{ cat a a; }", "{ cat a a a; }", "cat a a", "cat a a a a", "{ cat a; cat a; cat a; }"] {
        let analysis = analyse(text);
        let view = View::new(&analysis, Path::new("/w"), None);
        assert_eq!(view.specs().count(), 1, "{text}");
    }
    let analysis = analyse("{ cat a b > a; }");
    assert_eq!(View::new(&analysis, Path::new("/w"), None).specs().count(), 3);
}

#[test]
fn parents_stay_in_what_is_to_be_followed() {
    let named = |text: &str| -> Vec<String> {
        command_paths(&analyse(text), Path::new("/w"), None)
            .iter()
            .map(|path| path.path.display().to_string())
            .collect()
    };
    assert_eq!(named("cat link/../x ./a/./b"), ["/w/link/../x", "/w/a/b"]);
    assert_eq!(named("cat link/../*.rs"), ["/w/link/.."]);
    assert_eq!(named("cd a && cat ../x"), ["/w/a", "/w/a/../x"]);
    // The shell may go to the parent by name or by where the link leads.
    assert_eq!(named("cd a/.. && cat x"), ["/w/a/..", "/w/x", "/w/a/../x"]);
    assert_eq!(named("{ cd a/..; cat x; }"), ["/w/x", "/w/a/../x"]);
}

#[test]
fn trees_are_looked_through_where_they_go_elsewhere_or_are_followed() {
    let trees = |text: &str| -> Vec<String> {
        let paths = command_paths(&analyse(text), Path::new("/w"), None);
        paths.iter().filter(|path| path.tree).map(|path| path.path.display().to_string()).collect()
    };
    assert_eq!(trees("cp -r a b && mv c d"), ["/w/a", "/w/c"]);
    assert_eq!(trees("diff a b"), ["/w/a", "/w/b"]);
    assert_eq!(trees("timeout 5 diff -r a b"), ["/w/a", "/w/b"]);
    for text in ["cp a b", "diff --no-dereference -r a b", "grep -r x a", "cat a", "rm -r a", "find a"] {
        assert_eq!(trees(text), [""; 0], "{text}");
    }
}

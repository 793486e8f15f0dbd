use super::*;

const MARK: &str = "0123456789abcdef0123456789abcdef";

fn printed(variables: &[&str], functions: &[&str]) -> String {
    let part = |fields: &[&str]| fields.iter().map(|field| format!("{field}\0")).collect::<String>();
    format!("Welcome!\n{MARK}\0{}{MARK}\0{}{MARK}\0bye", part(variables), part(functions))
}

fn names(env: &[(OsString, OsString)]) -> Vec<&str> {
    env.iter().map(|(name, _)| name.to_str().unwrap()).collect()
}

fn is_judged(name: &str) -> bool {
    name == "rg"
}

#[test]
fn variables_of_the_list_are_taken_and_no_others() {
    let dump = read(
        &printed(
            &[
                "PATH=/home/u/bin:/bin",
                "JAVA_HOME=/opt/java\nwith a second line",
                "LC_TIME=de_DE.UTF-8",
                "OPENAI_API_KEY=sk-secret",
                "AWS_SECRET_ACCESS_KEY=x",
                "HTTPS_PROXY=http://user:word@proxy",
                "LD_PRELOAD=/tmp/x.so",
                "BASH_ENV=/tmp/x",
                "GIT_DIR=/elsewhere",
                "PROMPT_COMMAND=rm x",
                "BASH_FUNC_ls%%=() { rm x; }",
                "NODE_OPTIONS=--require x",
                "PYTHONSTARTUP=x",
                "SSH_AUTH_SOCK=/tmp/agent",
                "GOPATH=\u{fffd}",
                "FAVOURITE=blue",
                "no variable",
            ],
            &[],
        ),
        MARK,
        None,
    );
    let dump = dump.unwrap();
    assert_eq!(names(&dump.env), ["PATH", "JAVA_HOME", "LC_TIME"]);
    assert_eq!(dump.env[1].1, "/opt/java\nwith a second line");
    assert!(!format!("{dump:?}").contains("java"), "values are not printed");
}

#[test]
fn what_has_no_end_is_not_taken() {
    let whole = printed(&["PATH=/bin"], &["function", "f", "f () \n{ \n :\n}"]);
    assert!(read(&whole, MARK, Some(is_judged)).is_some());
    let end = whole.rfind(MARK).unwrap();
    for cut in 0..end + MARK.len() {
        assert_eq!(read(whole.get(..cut).unwrap(), MARK, Some(is_judged)), None, "{cut}");
    }
    assert_eq!(read(&whole.replace(MARK, "another"), MARK, None), None);
}

#[test]
fn functions_take_no_name_that_is_judged_and_hold_no_secret() {
    let functions = [
        ("function", "greet", "greet () { echo hi; }"),
        ("function", "rg", "rg () { rm x; }"),
        ("function", "call", "call () { curl -H 'key: sk-secret-value'; }"),
        ("function", "a;b", "x"),
        ("function", "-x", "x"),
        ("function", "", "x"),
        ("alias", "ll", "ls -l 'it'"),
        ("alias", "with blank", "x"),
        ("other", "odd", "x"),
    ];
    let fields: Vec<&str> = functions.iter().flat_map(|(kind, name, body)| [*kind, *name, *body]).collect();
    let text = printed(&["MY_TOKEN=sk-secret-value", "SHORT_KEY=echo"], &fields);
    let dump = read(&text, MARK, Some(is_judged)).unwrap();
    let expected = "eval -- 'greet () { echo hi; }' 2>/dev/null\nalias -- 'll=ls -l '\\''it'\\''' 2>/dev/null\nshopt -s expand_aliases\n";
    assert_eq!((String::from_utf8(dump.functions).unwrap().as_str(), dump.count), (expected, 2));
    let without = read(&text, MARK, None).unwrap();
    assert_eq!((without.functions.len(), without.count), (0, 0), "none are wanted");
}

#[test]
fn too_many_functions_are_none() {
    let body = "x".repeat(MAX_FUNCTION_BYTES);
    let dump = read(&printed(&["PATH=/bin"], &["function", "f", &body]), MARK, Some(is_judged)).unwrap();
    assert_eq!((dump.functions.len(), dump.count, names(&dump.env)), (0, 0, vec!["PATH"]));
    assert!(dump.note.unwrap().contains("left out"));
}

#[test]
fn the_session_counts_and_search_paths_are_joined() {
    let env = |pairs: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    };
    let taken = env(&[("PATH", "/home/u/bin:/usr/bin:/bin"), ("LANG", "de"), ("GOPATH", "/go")]);
    let path = |session: &str, began_with: &str| {
        let session = env(&[("PATH", session), ("LANG", "en")]);
        merged(&session, Some(OsStr::new(began_with)), &taken)
    };
    let same = path("/usr/bin:/host/bin", "/usr/bin:/host/bin");
    assert_eq!(same, env(&[("PATH", "/home/u/bin:/usr/bin:/bin:/host/bin"), ("LANG", "en"), ("GOPATH", "/go")]));
    let changed = path("/new/bin:/bin", "/usr/bin:/host/bin");
    assert_eq!(changed[0].1, "/new/bin:/bin:/home/u/bin:/usr/bin");
    assert_eq!(merged(&[], None, &taken), taken);
}

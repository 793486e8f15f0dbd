use super::*;

fn pairs(given: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    given.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
fn only_known_names_are_inherited() {
    let host = pairs(&[
        ("PATH", "/bin"),
        ("HOME", "/home/me"),
        ("LC_ALL", "C.UTF-8"),
        ("ANTHROPIC_API_KEY", "key"),
        ("AWS_SECRET_ACCESS_KEY", "key"),
        ("GITHUB_TOKEN", "token"),
        ("LD_PRELOAD", "/x.so"),
        ("BASH_ENV", "/x.sh"),
        ("https_proxy", "http://me:secret@proxy"),
        ("HTTP_PROXY", "http://proxy"),
    ]);
    let names: Vec<OsString> = host_environment(host).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["PATH", "HOME", "LC_ALL", "HTTP_PROXY"]);
}

#[cfg(unix)]
#[test]
fn a_name_that_is_no_text_is_not_inherited() {
    use std::os::unix::ffi::OsStringExt as _;
    let host = vec![(OsString::from_vec(b"LC_\xff".to_vec()), OsString::from("x"))];
    assert!(host_environment(host).is_empty());
}

#[cfg(unix)]
#[test]
fn the_search_path_does_not_lead_through_the_workspace() {
    let cases = [
        ("/bin:/usr/bin", "/bin:/usr/bin"),
        ("/w/bin:/bin", "/bin"),
        ("/w:/bin", "/bin"),
        ("/www/bin:/bin", "/www/bin:/bin"),
        (".:bin::/bin", "/bin"),
        ("/x/../w/bin:/bin", "/bin"),
        ("/extra/tools:/bin", "/bin"),
    ];
    let roots = [PathBuf::from("/w"), PathBuf::from("/extra")];
    for (given, expected) in cases {
        let expected = pairs(&[("PATH", expected), ("LC_CTYPE", "C.UTF-8")]);
        assert_eq!(child_environment(&pairs(&[("PATH", given)]), &roots), expected, "{given}");
    }
}

#[test]
fn what_changes_the_meaning_of_commands_stays_out_even_if_it_is_set_on_purpose() {
    let given = pairs(&[("BASH_ENV", "x"), ("IFS", "/"), ("BASH_FUNC_ls%%", "() { rm; }"), ("MINE", "1")]);
    assert_eq!(child_environment(&given, &[]), pairs(&[("MINE", "1"), ("LC_CTYPE", "C.UTF-8")]));
}

#[test]
fn what_is_set_on_purpose_reaches_programs_except_secrets_and_loaders() {
    let passed = [
        ("CI", "true"),
        ("KUBECONFIG", "/k"),
        ("PYTHONPATH", "/p"),
        ("DATABASE_URL", "postgres://me:pw@db/x"),
        ("GIT_AUTHOR_NAME", "Me"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("MONKEY", "1"),
        ("KEYBOARD", "us"),
        ("SSH_AUTH_SOCK", "/s"),
        ("PWD", "/w"),
        ("lower_case", "1"),
        ("HTTP_PROXY", "http://proxy"),
    ];
    let kept_back = [
        ("ANTHROPIC_API_KEY", "k"),
        ("ANTHROPIC_AUTH_TOKEN", "k"),
        ("ANTHROPIC_CUSTOM_HEADERS", "x-api-key: k"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "k"),
        ("OPENAI_API_KEY", "k"),
        ("AWS_SECRET_ACCESS_KEY", "k"),
        ("AWS_SESSION_TOKEN", "k"),
        ("GITHUB_TOKEN", "k"),
        ("githubtoken", "k"),
        ("PGPASSWORD", "k"),
        ("MYSQL_PWD", "k"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/f"),
        ("npm_config_//registry/:_authToken", "k"),
        ("LD_PRELOAD", "/x.so"),
        ("DYLD_INSERT_LIBRARIES", "/x"),
        ("BASH_ENV", "/x.sh"),
        ("GIT_DIR", "/g"),
        ("GIT_SSH_COMMAND", "sh -c x"),
        ("TAR_OPTIONS", "--to-command=x"),
        ("https_proxy", "http://me:secret@proxy"),
    ];
    let parted = given_environment(pairs(&passed).into_iter().chain(pairs(&kept_back)));
    assert_eq!(parted.passed, pairs(&passed));
    assert_eq!(parted.kept_back, kept_back.map(|(name, _)| name));
}

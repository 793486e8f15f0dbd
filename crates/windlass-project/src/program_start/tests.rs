use super::*;

const WORK: &str = "/w/project";

fn env() -> Vec<(OsString, OsString)> {
    let all = [("HOME", "/home/me"), ("PATH", "/w/project/bin:/usr/bin:/bin"), ("TERM", "dumb")];
    all.map(|(name, value)| (name.into(), value.into())).into()
}

fn starts(is_trusted: bool) -> ProgramStarts {
    let mut places = Places::new(WORK);
    places.user_home = Some("/home/me".into());
    ProgramStarts::new(&places, is_trusted).with_directories(["/extra"])
}

fn placed(author: &ProgramAuthor, line: ProgramLine<'_>) -> Result<ProgramPlace, StartRefusal> {
    starts(false).place(author, &line, &env(), || Ok("/neutral".into()))
}

fn cause(line: &str) -> Option<StartCause> {
    placed(&ProgramAuthor::User, ProgramLine::Shell(line)).err().map(|refusal| refusal.cause)
}

#[test]
fn lines_that_take_code_from_the_directory_do_not_start() {
    use StartCause::{Directory, Inside, Module, PackageRunner, Relative, Unreadable};
    for (line, expected) in [
        ("npx prettier --write .", PackageRunner),
        ("/usr/bin/npx -y x", PackageRunner),
        ("pnpm dlx x", PackageRunner),
        ("yarn dlx x", PackageRunner),
        ("npm --yes exec x", PackageRunner),
        ("npm --loglevel silent exec x", PackageRunner),
        ("npm -w=a x y", PackageRunner),
        ("bunx x", PackageRunner),
        ("echo a | timeout 5 env B=1 npx x", PackageRunner),
        ("sh -c 'npx x'", PackageRunner),
        ("if true; then npx x; fi", PackageRunner),
        ("find . -exec npx x {} +", PackageRunner),
        ("./guard.sh", Relative),
        ("scripts/guard.sh", Relative),
        ("bash guard.sh", Relative),
        ("sh -e ./guard.sh", Relative),
        ("python3 tools/x.py", Relative),
        ("node server.js", Relative),
        (". ./env.sh", Relative),
        ("uvx ./package", Relative),
        ("python -m mod", Module),
        ("python3.12 -Im mod", Module),
        ("python3 -W ignore -m mod", Module),
        ("/w/project/x", Inside),
        ("/w/project/../project/x", Inside),
        ("/extra/x", Inside),
        ("$CLAUDE_PROJECT_DIR/x", Inside),
        ("\"$CLAUDE_PROJECT_DIR\"/x --flag", Inside),
        ("\"${CLAUDE_PROJECT_DIR}/x\"", Inside),
        ("node \"$WINDLASS_PROJECT_DIR/x.js\"", Inside),
        ("node --require=/w/project/x.js /opt/y.js", Inside),
        ("uv --directory \"$CLAUDE_PROJECT_DIR\" run x", Inside),
        ("make -C $CLAUDE_PROJECT_DIR lint", Inside),
        ("git -C \"$CLAUDE_PROJECT_DIR\" status", Inside),
        ("npm --prefix /w/project run lint", Inside),
        ("cd \"$CLAUDE_PROJECT_DIR\" && prettier --check .", Directory),
        ("cd $PWD; x", Directory),
        ("cd \"$(jq -r .cwd)\" && x", Unreadable),
        ("\"$(npm bin)\"/eslint", Unreadable),
        ("PATH=\"$CLAUDE_PROJECT_DIR/node_modules/.bin:$PATH\" eslint .", Unreadable),
        ("eval \"$(cat)\"", Unreadable),
        ("git -C \"$(jq -r .cwd)\" status", Unreadable),
    ] {
        assert_eq!(cause(line), Some(expected), "{line}");
    }
}

#[test]
fn lines_that_bring_their_own_code_start() {
    for line in [
        "/usr/local/bin/notify done",
        "~/bin/guard.sh --strict",
        "\"$HOME\"/bin/guard.sh",
        "\"${HOME}/bin/my guard\" x ./y",
        "bash ~/.claude/hooks/guard.sh",
        "python3 /opt/guard.py /w/project",
        "/opt/venv/bin/python -m guard",
        "node /opt/fs-server.js \"$CLAUDE_PROJECT_DIR\"",
        "sh -c '/opt/x $CLAUDE_PROJECT_DIR'",
        "python3 -c 'import json,sys; print(json.load(sys.stdin))'",
        "jq -r .tool_input.command >> ~/log.txt",
        "input=$(cat); if echo \"$input\" | grep -q 'rm -rf'; then echo no >&2; exit 2; fi",
        "while read -r line; do echo \"$line\"; done",
        "f() { echo x; }; f",
        "prettier --version",
        "uvx mcp-server-time",
        "docker run -i --rm -v $CLAUDE_PROJECT_DIR:/w image",
        "cd && ls",
        "cd /tmp && ls",
        "cd ~/notes && git pull",
        "grep -q x \"$CLAUDE_PROJECT_DIR/README.md\"",
        "cat < \"$CLAUDE_PROJECT_DIR/package.json\"",
        "git config --global user.name",
        "npm view x version",
        "exit 2",
        "",
    ] {
        assert_eq!(cause(line), None, "{line}");
    }
}

#[test]
fn the_author_and_trust_decide_where_programs_start() {
    let npx = ["-y".to_owned(), "x".to_owned()];
    let line = ProgramLine::Words("npx", &npx);
    let refusal = placed(&ProgramAuthor::Managed, line).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "`npx -y x` prefers programs of the directory in which it starts, and this project is not trusted (`windlass trust`)"
    );
    let in_project = |place: ProgramPlace| (place.directory == Path::new(WORK), place.is_neutral);
    assert_eq!(in_project(placed(&ProgramAuthor::Project, line).unwrap()), (true, false));
    let trusted = starts(true).place(&ProgramAuthor::User, &line, &env(), || Err("no".to_owned()));
    assert_eq!(in_project(trusted.unwrap()), (true, false));
    // A plugin in the project was named, and so trusted.
    let plugin = ProgramAuthor::Plugin("/w/project/plugin".into());
    for line in ["\"${CLAUDE_PLUGIN_ROOT}\"/hook.sh", "bash /w/project/plugin/hook.sh"] {
        assert!(placed(&plugin, ProgramLine::Shell(line)).unwrap().is_neutral, "{line}");
        assert!(placed(&ProgramAuthor::User, ProgramLine::Shell(line)).is_err(), "{line}");
    }
    assert!(placed(&plugin, ProgramLine::Shell("/w/project/x")).is_err());
    assert!(
        placed(&plugin, ProgramLine::LanguageServer("gopls")).unwrap_err().to_string().starts_with("`gopls` builds")
    );
    let nowhere = starts(false).place(&ProgramAuthor::User, &ProgramLine::Shell("x"), &[], || Err("full".to_owned()));
    assert!(nowhere.unwrap_err().to_string().contains("full"));
}

#[test]
fn a_neutral_place_leads_around_the_project() {
    let place = placed(&ProgramAuthor::User, ProgramLine::Shell("/opt/x")).unwrap();
    let given = [env(), vec![("PWD".into(), WORK.into()), ("NODE_PATH".into(), "/w/project/lib".into())]].concat();
    let env = starts(false).environment(&place, &given);
    let value = |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.to_str().unwrap());
    assert_eq!(
        ["PATH", "PWD", "NODE_PATH", "CLAUDE_PROJECT_DIR", "TERM"].map(value),
        [Some("/usr/bin:/bin"), Some("/neutral"), None, Some(WORK), Some("dumb")]
    );
    let trusted = starts(true).place(&ProgramAuthor::User, &ProgramLine::Shell("x"), &[], || unreachable!()).unwrap();
    assert_eq!(starts(true).environment(&trusted, &given)[..given.len()], given[..]);
}

/// A folder of the search path that holds a link to a single file of the project.
#[test]
#[cfg(unix)]
fn a_link_to_a_file_of_the_project_does_not_start() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for folder in ["work/scripts", "home/bin", "usr"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    for file in ["work/x", "work/scripts/y.sh", "work/python3", "usr/own", "usr/other"] {
        std::fs::write(root.join(file), "").unwrap();
    }
    symlink(root.join("work/x"), root.join("home/bin/x")).unwrap();
    symlink("x", root.join("home/bin/twice")).unwrap();
    symlink(root.join("work/python3"), root.join("home/bin/python3")).unwrap();
    symlink(root.join("usr/other"), root.join("home/bin/other")).unwrap();
    symlink(root.join("work/scripts/y.sh"), root.join("home/y.sh")).unwrap();
    symlink(root.join("work/later"), root.join("home/bin/later")).unwrap();
    let mut places = Places::new(root.join("work"));
    places.project = vec![root.join("work")];
    let starts = ProgramStarts::new(&places, false);
    let path = format!("{}:{}", root.join("home/bin").display(), root.join("usr").display());
    let env = [("PATH".into(), path.into()), ("HOME".into(), root.join("home").into())];
    for (line, expected) in [
        ("x", Some(StartCause::Inside)),
        ("twice --flag", Some(StartCause::Inside)),
        ("timeout 5 x", Some(StartCause::Inside)),
        ("sh -c 'echo a | x'", Some(StartCause::Inside)),
        ("python3 /opt/y.py", Some(StartCause::Inside)),
        ("sh \"$HOME\"/y.sh", Some(StartCause::Inside)),
        ("\"$HOME/bin/x\"", Some(StartCause::Inside)),
        ("later", Some(StartCause::Inside)),
        ("PATH=/usr/bin x", Some(StartCause::Inside)),
        ("own", None),
        ("other", None),
    ] {
        let refused = starts.place(&ProgramAuthor::User, &ProgramLine::Shell(line), &env, || Ok("/neutral".into()));
        let cause = refused.err().map(|refusal| refusal.cause);
        assert_eq!(cause, expected, "{line}");
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if let Some((program, args)) = words.split_first().filter(|_| !line.contains(['\'', '"', '='])) {
            let refused =
                starts.place(&ProgramAuthor::User, &ProgramLine::Words(program, args), &env, || Ok("/n".into()));
            assert_eq!(refused.err().map(|refusal| refusal.cause), expected, "{line}, without a shell");
        }
    }
}

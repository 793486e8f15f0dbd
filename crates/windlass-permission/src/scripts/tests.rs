use super::*;

fn files(line: &str, role: FileRole) -> Vec<String> {
    let directories = LineDirectories {
        cwd: Path::new("/w/sub"),
        project: Path::new("/w"),
        plugin: Some(Path::new("/plug in")),
        home: Some(Path::new("/home/me")),
    };
    let found = line_files(line, &directories).into_iter().filter(|file| file.role == role);
    found.map(|file| file.path.display().to_string()).collect()
}

#[test]
fn programs_and_scripts_are_found_behind_wrappers_and_variables() {
    for (line, expected) in [
        ("./scripts/format.sh", vec!["/w/sub/scripts/format.sh"]),
        ("scripts/format.sh --check", vec!["/w/sub/scripts/format.sh"]),
        ("\"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh", vec!["/w/scripts/guard.sh"]),
        ("\"${CLAUDE_PROJECT_DIR}/scripts/guard.sh\" x", vec!["/w/scripts/guard.sh"]),
        ("$WINDLASS_PROJECT_DIR/a/../guard.sh", vec!["/w/guard.sh"]),
        ("bash ${CLAUDE_PROJECT_DIR:-.}/g.sh", vec!["/w/g.sh"]),
        ("$(git rev-parse --show-toplevel)/g.sh", vec!["/w/g.sh"]),
        ("\"${CLAUDE_PLUGIN_ROOT}/run\"", vec!["/plug in/run"]),
        ("~/bin/guard; $HOME/bin/other", vec!["/home/me/bin/guard", "/home/me/bin/other"]),
        ("sh -c './a.sh && exec ./b.sh'", vec!["/w/sub/a.sh", "/w/sub/b.sh"]),
        ("env -i X=1 timeout 5 nice ./a.sh", vec!["/w/sub/a.sh"]),
        ("test -f x && ./a.sh || true", vec!["/w/sub/a.sh"]),
        ("cat | ./a.sh", vec!["/w/sub/a.sh"]),
        ("bash -e scripts/a.sh src/b.rs", vec!["/w/sub/scripts/a.sh", "/w/sub/src/b.rs"]),
        ("bash scripts/a.sh src/b.rs", vec!["/w/sub/scripts/a.sh"]),
        ("python3.12 -u tools/lint.py", vec!["/w/sub/tools/lint.py"]),
        ("node --import=./hook.mjs server/index.js", vec!["/w/sub/hook.mjs", "/w/sub/server/index.js"]),
        ("bun run scripts/a.ts", vec!["/w/sub/scripts/a.ts"]),
        ("npx -y tsx server/index.ts --port 1", vec!["/w/sub/server/index.ts"]),
        ("uv run tools/x.py", vec!["/w/sub/tools/x.py"]),
        ("node server", vec!["/w/sub/server", "/w/sub/server.js", "/w/sub/server/index.js"]),
        ("uv run python tools/x.py", vec!["/w/sub/tools/x.py"]),
        ("source ./env.sh && cargo fmt", vec!["/w/sub/env.sh"]),
        ("bash < ./a.sh", vec!["/w/sub/a.sh"]),
        ("awk -f prog.awk data", vec!["/w/sub/prog.awk"]),
        ("sed -nf x.sed data", vec!["/w/sub/x.sed"]),
        ("psql -f x.sql", vec!["/w/sub/x.sql"]),
        ("vim -es -S x.vim", vec!["/w/sub/x.vim"]),
        ("emacs --batch -l x.el", vec!["/w/sub/x.el"]),
        ("node .", vec!["/w/sub", "/w/sub/index.js"]),
        ("node ./dist", vec!["/w/sub/dist", "/w/sub/dist.js", "/w/sub/dist/index.js"]),
        ("python3 tools", vec!["/w/sub/tools", "/w/sub/tools/__main__.py"]),
        ("zig run x.zig", vec!["/w/sub/x.zig"]),
        ("nim r x.nim", vec!["/w/sub/x.nim"]),
        ("guile x.scm", vec!["/w/sub/x.scm"]),
        ("D=scripts; $D/x.sh", vec!["/w/sub/scripts/x.sh"]),
        ("for f in a.sh b.sh; do sh \"$f\"; done", vec!["/w/sub/a.sh", "/w/sub/b.sh"]),
        ("/usr/bin/python3 x.py", vec!["/usr/bin/python3", "/w/sub/x.py"]),
    ] {
        let found: Vec<String> = [FileRole::Program, FileRole::Named].map(|role| files(line, role)).concat();
        let missing: Vec<_> = expected.iter().filter(|path| !found.iter().any(|known| known == *path)).collect();
        assert!(missing.is_empty(), "{line}: {missing:?} is not among {found:?}");
        assert!(
            found.iter().all(|path| expected.contains(&path.as_str()) || path.ends_with("package.json")),
            "{line}: {found:?}"
        );
    }
}

#[test]
fn a_change_of_directory_is_followed() {
    let found = files("cd \"$CLAUDE_PROJECT_DIR/tools\" && ./run.sh", FileRole::Program);
    assert!(found.contains(&"/w/tools/run.sh".to_owned()), "{found:?}");
    assert!(files("cd .. && make fmt", FileRole::Program).contains(&"/w/Makefile".to_owned()));
}

#[test]
fn files_of_runners_are_those_around_the_line() {
    for (line, expected) in [
        ("npm run lint", vec!["/w/package.json", "/w/sub/package.json"]),
        ("npm --prefix web test", vec!["/w/sub/web/package.json"]),
        ("pnpm -C $CLAUDE_PROJECT_DIR/web lint", vec!["/w/web/package.json"]),
        ("make -C tools fmt", vec!["/w/sub/tools/GNUmakefile", "/w/sub/tools/Makefile", "/w/sub/tools/makefile"]),
        ("make -f my.mk -C.", vec!["/w/sub/GNUmakefile", "/w/sub/Makefile", "/w/sub/makefile", "/w/sub/my.mk"]),
        (
            "python -mtools.lint",
            vec![
                "/w/sub/tools/__init__.py",
                "/w/sub/tools/lint.py",
                "/w/sub/tools/lint/__init__.py",
                "/w/sub/tools/lint/__main__.py",
            ],
        ),
        ("mvn -q test", vec!["/w/pom.xml", "/w/sub/pom.xml"]),
        ("npx turbo lint", vec!["/w/package.json", "/w/sub/package.json"]),
        (
            "python -m tools.lint",
            vec![
                "/w/sub/tools/__init__.py",
                "/w/sub/tools/lint.py",
                "/w/sub/tools/lint/__init__.py",
                "/w/sub/tools/lint/__main__.py",
            ],
        ),
    ] {
        let mut found = files(line, FileRole::Program);
        found.sort();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn lines_of_installed_programs_name_no_program_of_the_project() {
    for line in [
        "cargo fmt",
        "prettier --write src/a.ts",
        "jq -r .tool_input.file_path | xargs rustfmt",
        "npx -y @scope/server --flag",
        "npm exec prettier",
        "node -e 'console.log(1)'",
        "python3 -c 'import sys; sys.exit(0)'",
        "bash -c 'cargo fmt'",
        "sed -i s/a/b/ x.txt",
        "git diff --stat",
        "",
    ] {
        assert_eq!(files(line, FileRole::Program), Vec::<String>::new(), "{line}");
        assert_eq!(files(line, FileRole::Named), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn what_the_project_directory_names_is_named_wherever_it_stands() {
    assert_eq!(files("mytool --rules=$CLAUDE_PROJECT_DIR/rules.txt", FileRole::Named), ["/w/rules.txt"]);
    assert_eq!(files("cat \"$CLAUDE_PROJECT_DIR/notes.md\"", FileRole::Named), ["/w/notes.md"]);
    assert_eq!(files("mytool scripts/x.sh", FileRole::Operand), ["/w/sub/scripts/x.sh"]);
}

#[test]
fn words_without_a_shell_are_quoted() {
    let line = line_of("node", &["it's here/x.js".to_owned(), "${CLAUDE_PROJECT_DIR}/a b".to_owned()]);
    assert_eq!(files(&line, FileRole::Program), ["/w/sub/it's here/x.js"]);
    assert_eq!(files(&line, FileRole::Named), ["/w/a b"]);
}

#[test]
fn files_that_patterns_and_search_paths_lead_to_are_found() {
    for (line, expected) in [
        ("sh scripts/*.sh", vec!["/w/sub/scripts/*.sh"]),
        ("for f in scripts/*.sh; do bash \"$f\"; done", vec!["/w/sub/scripts/*.sh"]),
        ("run-parts \"$CLAUDE_PROJECT_DIR\"/hooks.d", vec!["/w/hooks.d/*"]),
        ("run-parts --regex x hooks.d", vec!["/w/sub/hooks.d/*", "/w/sub/x/*"]),
        ("find scripts -name '*.sh' -exec sh {} \\;", vec!["/w/sub/scripts/**/*.sh"]),
        ("find ./a b -type f -exec {} \\;", vec!["/w/sub/a/**/*", "/w/sub/b/**/*"]),
        ("find -name x.py -exec python3 {} +", vec!["/w/sub/**/x.py"]),
        ("find src -name '*.rs' -exec rustfmt {} +", vec![]),
        ("ls *.sh", vec![]),
        ("PATH=\"$CLAUDE_PROJECT_DIR/bin:$PATH\" lint", vec!["/w/bin/*"]),
        ("export PATH=./tools:$PATH; ./run.sh", vec!["/w/sub/tools/*"]),
    ] {
        assert_eq!(files(line, FileRole::Matching), expected, "{line}");
    }
    for (line, expected) in [
        ("PATH=\"$CLAUDE_PROJECT_DIR/bin:$PATH\" lint", vec!["/w/bin/lint"]),
        ("export PATH=./tools:$PATH; lint --fix", vec!["/w/sub/tools/export", "/w/sub/tools/lint"]),
        ("env PATH=/x lint", vec!["/x/env", "/x/lint"]),
        ("MANPATH=x lint", vec![]),
    ] {
        assert_eq!(files(line, FileRole::Program), expected, "{line}");
    }
}

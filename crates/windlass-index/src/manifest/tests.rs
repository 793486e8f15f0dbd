use super::*;
use proptest::prelude::*;

fn dependencies(read: &Manifest) -> Vec<(&str, Option<&str>)> {
    read.dependencies.iter().map(|one| (one.name.as_str(), one.folder.as_deref())).collect()
}

fn commands(read: &Manifest) -> Vec<(Purpose, &str, bool)> {
    read.commands.iter().map(|one| (one.purpose, one.command.as_str(), one.is_stated)).collect()
}

#[test]
fn cargo() {
    let text = r#"
        [package]
        name = "door" # the name
        [workspace.dependencies]
        not-own = "1"
        [dependencies]
        hinge = { path = "../hinge", features = ["a"] }
        lock.workspace = true
        renamed = { package = "real", version = "1" }
        [target.'cfg(unix)'.dev-dependencies]
        "key" = "1"
        [dependencies.frame]
        path = "frame"
        [[bin]]
        path = "bin/open.rs"
    "#;
    let read = read(ManifestKind::Cargo, "Cargo.toml", text);
    assert_eq!(read.name.as_deref(), Some("door"));
    assert_eq!(
        dependencies(&read),
        [("hinge", Some("../hinge")), ("lock", None), ("real", None), ("key", None), ("frame", Some("frame"))]
    );
    assert_eq!(read.entry_points, ["bin/open.rs"]);
    assert_eq!(commands(&read)[0], (Purpose::Test, "cargo test", false));
}

#[test]
fn npm() {
    let text = r#"{"name": "@a/web", "main": "lib/index.js", "bin": {"web": "bin/web.js"}, "packageManager": "pnpm@9.1.0",
        "scripts": {"test": "vitest", "build": "vite build", "build:docs": "x", "lint": "eslint .", "pre;rm": "x"},
        "dependencies": {"react": "^19", "@a/core": "file:../core"}, "devDependencies": {"vitest": "*"}}"#;
    let read = read(ManifestKind::Npm, "package.json", text);
    assert_eq!(read.name.as_deref(), Some("@a/web"));
    assert_eq!(dependencies(&read), [("@a/core", Some("../core")), ("react", None), ("vitest", None)]);
    assert_eq!(
        commands(&read),
        [
            (Purpose::Build, "pnpm run build", true),
            (Purpose::Lint, "pnpm run lint", true),
            (Purpose::Test, "pnpm test", true),
        ]
    );
    assert_eq!(read.entry_points, ["lib/index.js", "bin/web.js"]);
}

#[test]
fn python() {
    let text = "[project]\nname = 'oven'\ndependencies = [\n  \"FastAPI>=0.1\", # web\n  'numpy ; python_version > \"3\"',\n]\n\
                [project.scripts]\nbake = \"oven.cli:main\"\n[dependency-groups]\ndev = [\"pytest\", \"ruff\"]\n[tool.mypy]\nstrict = true\n";
    let read = read(ManifestKind::Python, "pyproject.toml", text);
    assert_eq!(read.name.as_deref(), Some("oven"));
    assert_eq!(dependencies(&read), [("fastapi", None), ("numpy", None), ("pytest", None), ("ruff", None)]);
    assert_eq!(read.entry_points, ["oven/cli.py"]);
    let expected =
        [(Purpose::Test, "pytest", false), (Purpose::Lint, "ruff check", false), (Purpose::Lint, "mypy .", false)];
    assert_eq!(commands(&read), expected);
    let required = super::read(ManifestKind::Python, "a/requirements.txt", "# x\nflask==3\n-r other.txt\n");
    assert_eq!(dependencies(&required), [("flask", None)]);
}

#[test]
fn go_and_others() {
    let text = "module example.com/a\n\ngo 1.22\n\nrequire (\n\texample.com/b v1 // indirect\n\tgithub.com/spf13/cobra v1\n)\nreplace example.com/b => ../b\n";
    let go = read(ManifestKind::Go, "go.mod", text);
    assert_eq!(go.name.as_deref(), Some("example.com/a"));
    assert_eq!(dependencies(&go), [("github.com/spf13/cobra", None), ("example.com/b", Some("../b"))]);

    let pom = "<project><parent><artifactId>all</artifactId></parent><artifactId>web</artifactId><dependencies><dependency>\
               <artifactId>core</artifactId></dependency></dependencies></project>";
    let maven = read(ManifestKind::Maven, "pom.xml", pom);
    assert_eq!((maven.name.as_deref(), dependencies(&maven)), (Some("web"), vec![("core", None)]));

    let gradle =
        "rootProject.name = 'app'\ndependencies {\n  implementation project(':core:api')\n  api(\"org.a:b:1\")\n}\n";
    let gradle = read(ManifestKind::Gradle, "build.gradle", gradle);
    assert_eq!((gradle.name.as_deref(), dependencies(&gradle)), (Some("app"), vec![("api", None), ("b", None)]));

    let cmake = "project(Mill C)\nenable_testing()\nadd_subdirectory(lib)\nadd_executable(mill main.c other.c)\nfind_package(ZLIB)\n";
    let cmake = read(ManifestKind::CMake, "CMakeLists.txt", cmake);
    assert_eq!(
        (cmake.name.as_deref(), cmake.entry_points.as_slice()),
        (Some("Mill"), ["main.c".to_owned()].as_slice())
    );
    assert_eq!(dependencies(&cmake), [("lib", Some("lib")), ("ZLIB", None)]);
    assert_eq!(commands(&cmake)[0], (Purpose::Test, "ctest", true));

    let project = r#"<Project><ItemGroup><ProjectReference Include="..\Core\Core.csproj" /></ItemGroup></Project>"#;
    let dotnet = read(ManifestKind::Dotnet, "Web/Web.csproj", project);
    assert_eq!((dotnet.name.as_deref(), dependencies(&dotnet)), (Some("Web"), vec![("Core", Some("../Core"))]));

    let make = read(
        ManifestKind::Make,
        "Makefile",
        "X := 1\n.PHONY: test\ntest-;rm: x\ntest check: a.o\n\tcc test: x\nbuild-all:\nbuild:\n",
    );
    assert_eq!(
        commands(&make),
        [(Purpose::Test, "make test", true), (Purpose::Lint, "make check", true), (Purpose::Build, "make build", true)]
    );
    let just = read(ManifestKind::Just, "justfile", "x := \"1\"\ntest *args: build\n  cargo test\n@lint:\n  x\n");
    assert_eq!(commands(&just), [(Purpose::Test, "just test", true), (Purpose::Lint, "just lint", true)]);

    let gems = read(ManifestKind::Ruby, "Gemfile", "source 'x'\ngem 'rails', '~> 8'\n  gem \"rspec-rails\"\n");
    assert_eq!(dependencies(&gems), [("rails", None), ("rspec-rails", None)]);
}

#[test]
fn what_is_too_long_or_no_text_is_left_out() {
    let long = "x".repeat(MAX_TEXT_BYTES + 1);
    let text = format!("[package]\nname = \"{long}\"\n[dependencies]\na\u{1}b = \"1\"\n");
    let read = read(ManifestKind::Cargo, "Cargo.toml", &text);
    assert_eq!((read.name, read.dependencies.len()), (None, 0));
    let many: String = (0..5_000).map(|number| format!("a{number} = \"1\"\n")).collect();
    let read = super::read(ManifestKind::Cargo, "Cargo.toml", &format!("[dependencies]\n{many}"));
    assert_eq!(read.dependencies.len(), MAX_ENTRIES);
}

const KINDS: [(ManifestKind, &str); 12] = [
    (ManifestKind::Cargo, "Cargo.toml"),
    (ManifestKind::Npm, "package.json"),
    (ManifestKind::Python, "pyproject.toml"),
    (ManifestKind::Python, "requirements.txt"),
    (ManifestKind::Go, "go.mod"),
    (ManifestKind::Maven, "pom.xml"),
    (ManifestKind::Gradle, "build.gradle"),
    (ManifestKind::CMake, "CMakeLists.txt"),
    (ManifestKind::Dotnet, "a.csproj"),
    (ManifestKind::Composer, "composer.json"),
    (ManifestKind::Ruby, "Gemfile"),
    (ManifestKind::Make, "Makefile"),
];

proptest! {
    /// The result is short and of one line for any input.
    #[test]
    fn any_text_is_read_within_bounds(text in "([a-z.\\[\\]{}()=:\"'<>,#/ \t\n]|name|project|dependencies|gem |é|\\PC){0,300}") {
        for (kind, file) in KINDS {
            let read = read(kind, file, &text);
            let texts = read.name.iter().chain(read.dependencies.iter().map(|one| &one.name)).chain(&read.entry_points);
            for text in texts.chain(read.commands.iter().map(|one| &one.command)) {
                prop_assert!(!text.is_empty() && text.len() <= MAX_TEXT_BYTES && !text.contains(['\n', '\u{1b}']), "{:?}", text);
            }
        }
    }
}

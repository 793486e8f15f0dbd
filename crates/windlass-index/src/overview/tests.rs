use super::*;
use crate::manifest::read;
use crate::tree::Folder;

fn tree(folders: &[(&str, &[&str])]) -> Tree {
    let folder = |(path, files): &(&str, &[&str])| Folder {
        path: (*path).to_owned(),
        ..Folder::of_names(files.iter().map(|name| (*name).to_owned()).collect())
    };
    Tree { folders: folders.iter().map(folder).collect(), is_complete: true }
}

fn known(path: &str, text: &str) -> Known {
    let kind = ManifestKind::of(path.rsplit('/').next().unwrap()).unwrap();
    Known { path: path.to_owned(), kind, manifest: read(kind, path, text) }
}

#[test]
fn packages_of_the_repository_use_each_other() {
    let all = [
        known("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
        known(
            "a/Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"../b\" }\nserde = \"1\"\nc.workspace = true\n",
        ),
        known("b/Cargo.toml", "[package]\nname = \"renamed\"\n[dependencies]\nout = { path = \"../../../b\" }\n"),
        known("c/Cargo.toml", "[package]\nname = \"c\"\n[dev-dependencies]\nc = { path = \".\" }\n"),
        known("web/package.json", r#"{"name": "c", "dependencies": {"react": "1"}, "scripts": {"test": "jest"}}"#),
    ];
    let tree = tree(&[
        ("", &["README.md", "Cargo.toml", "a.md"]),
        ("a", &["x.rs", "y.rs"]),
        ("a/src", &["main.rs"]),
        ("web", &["a.ts"]),
    ]);
    let overview = Overview::of(&tree, &all.iter().collect::<Vec<_>>());
    let uses: Vec<(&str, Vec<&str>)> = overview
        .packages
        .iter()
        .map(|package| (package.name.as_str(), package.uses.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        uses,
        [("a", vec!["b/Cargo.toml", "c/Cargo.toml"]), ("renamed", vec![]), ("c", vec![]), ("c", vec![])],
        "of the same kind, within the repository, and not themselves"
    );
    let shares: Vec<(&str, usize, u8)> =
        overview.languages.iter().map(|share| (share.language.as_str(), share.files, share.percent)).collect();
    assert_eq!(shares, [("Rust", 3, 75), ("TypeScript", 1, 25)]);
    let commands: Vec<&str> = overview.commands.iter().map(|command| command.command.as_str()).collect();
    assert_eq!(commands, ["cargo test", "cargo build", "cargo clippy", "npm test"]);
    assert_eq!(overview.entry_points, ["a/src/main.rs"]);
    assert_eq!(overview.important, ["README.md", "Cargo.toml"]);
    assert_eq!((overview.frameworks[0].name.as_str(), overview.files), ("React", 7));

    let less = overview.readable(|path| !path.starts_with("web") && path != "b/Cargo.toml" && path != "README.md");
    assert_eq!(less.packages.len(), 2);
    assert_eq!((less.packages[0].uses.as_slice(), less.frameworks.len()), (["c/Cargo.toml".to_owned()].as_slice(), 0));
    assert_eq!((less.commands.len(), less.important.as_slice()), (3, ["Cargo.toml".to_owned()].as_slice()));
}

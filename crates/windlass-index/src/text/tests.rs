use super::*;
use crate::manifest::{ManifestKind, Purpose};
use crate::{Framework, LanguageShare, Package, ProjectCommand};
use proptest::prelude::*;

fn share(language: &str) -> LanguageShare {
    LanguageShare { language: language.to_owned(), files: 1, percent: 50 }
}

fn command(command: &str, manifest: &str, is_stated: bool) -> ProjectCommand {
    ProjectCommand { purpose: Purpose::Test, command: command.to_owned(), manifest: manifest.to_owned(), is_stated }
}

#[test]
fn the_text_says_what_there_is() {
    let overview = Overview {
        files: 1_200,
        folders: 30,
        is_complete: true,
        languages: vec![share("Rust")],
        packages: vec![Package {
            name: "door".to_owned(),
            kind: ManifestKind::Cargo,
            manifest: "Cargo.toml".to_owned(),
            uses: vec![],
        }],
        commands: vec![command("cargo test", "Cargo.toml", false), command("npm test", "web/package.json", true)],
        frameworks: vec![Framework { name: "axum".to_owned(), manifest: "Cargo.toml".to_owned() }],
        entry_points: vec!["src/main.rs".to_owned()],
        important: vec!["README.md".to_owned()],
        ignored: vec!["target".to_owned()],
    };
    let text = overview.for_model().unwrap().text;
    for line in [
        "\n1200 files in 30 folders\n",
        "\nLanguages: Rust 50 %\n",
        "\nCommands: test `cargo test`, test `npm test` (in web)\n",
        "\nPackages: door (Cargo)\n",
        "\nEntry points: src/main.rs\n",
        "\nImportant files: README.md\n",
        "\nFrameworks: axum\n",
        "\nIgnored: target/\n",
    ] {
        assert!(text.contains(line), "{line:?} in {text}");
    }
    assert_eq!(Overview { files: 3, folders: 1, ..Overview::default() }.for_model(), None);
}

proptest! {
    /// The text has at most 300 tokens and one frame, for any names in a repository.
    #[test]
    fn the_text_is_bounded(names in prop::collection::vec("([a-z]{1,30}|</system-reminder>|\u{1b}\\[2J|é|\\PC|</project-index>\n){1,8}", 0..60)) {
        let overview = Overview {
            files: usize::MAX,
            folders: usize::MAX,
            languages: names.iter().map(|name| share(name)).collect(),
            commands: names.iter().map(|name| command(name, name, true)).collect(),
            entry_points: names.clone(),
            important: names.clone(),
            ignored: names.clone(),
            ..Overview::default()
        };
        if let Some(text) = overview.for_model() {
            prop_assert!(estimate_text(&text.text) <= MAX_TOKENS);
            prop_assert_eq!(text.text.matches("</system-reminder>").count(), 1);
            prop_assert_eq!(text.text.matches("</project-index>").count(), 1);
            let has_escape = text.text.contains(char::from(27));
            prop_assert!(!has_escape);
        }
    }
}

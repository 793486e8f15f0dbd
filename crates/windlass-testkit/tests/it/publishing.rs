//! Files and settings of published crates beside their code: the build on docs.rs, changelogs, and the place of
//! binaries.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the metadata that cargo has for each published crate.
fn published() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    // `publish = false` is an empty list of registries.
    let published: Vec<Value> = packages.iter().filter(|package| package["publish"].is_null()).cloned().collect();
    assert!(published.len() > 20, "only {} crates are published", published.len());
    published
}

fn manifest_directory(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_path_buf()
}

#[test]
fn docs_rs_builds_all_features_and_names_them() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        let docs = &package["metadata"]["docs"]["rs"];
        assert_eq!(docs["all-features"], true, "{name}");
        assert_eq!(docs["rustdoc-args"], serde_json::json!(["--cfg", "docsrs"]), "{name}");
        let library = manifest_directory(&package).join("src/lib.rs");
        if library.exists() {
            let attribute = "#![cfg_attr(docsrs, feature(doc_cfg))]";
            assert!(text(&library).lines().any(|line| line == attribute), "{name} has no {attribute}");
        }
    }
}

#[test]
fn what_a_registry_shows_is_there() {
    let mut descriptions = BTreeSet::new();
    for package in published() {
        let name = package["name"].as_str().unwrap();
        for field in ["description", "license", "repository", "homepage", "readme", "rust_version"] {
            assert!(package[field].as_str().is_some_and(|value| !value.is_empty()), "{name} has no {field}");
        }
        assert!(descriptions.insert(package["description"].to_string()), "{name} is described as another is");
        let changes = text(&manifest_directory(&package).join("CHANGELOG.md"));
        assert!(changes.starts_with(&format!("# Changes of {name}\n")), "{name}");
        let version = format!("## [{}]", package["version"].as_str().unwrap());
        assert!(changes.contains("## [Unreleased]") || changes.contains(&version), "{name} has no {version}");
    }
}

/// `cargo binstall` looks for archives under the names that the manifest gives; `packaging/archive` names the archives, and the
/// workflow makes one for each target.
#[test]
fn binaries_are_found_where_the_release_puts_them() {
    let packages = published();
    let command = packages.iter().find(|package| package["name"] == "windlass-cli").unwrap();
    let binstall = &command["metadata"]["binstall"];
    let workflow = text(&root().join(".github/workflows/release.yml"));

    let script = text(&root().join("packaging/archive"));
    let archive = script.lines().find_map(|line| line.strip_prefix("name=")).unwrap();
    let named = archive.replace("$version", "{ version }").replace("$target", "{ target }");
    let address = format!("{{ repo }}/releases/download/v{{ version }}/{named}.{{ archive-format }}");
    assert_eq!(binstall["pkg-url"], address.as_str());
    assert_eq!(binstall["bin-dir"], format!("{named}/{{ bin }}{{ binary-ext }}").as_str());

    let targets: BTreeSet<&str> = workflow
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- { target: "))
        .filter_map(|line| line.split(',').next())
        .collect();
    assert!(targets.len() >= 6, "{targets:?}");
    for target in targets {
        let format = binstall["overrides"][target]["pkg-fmt"].as_str().or(binstall["pkg-fmt"].as_str()).unwrap();
        assert_eq!(format, if target.contains("windows") { "zip" } else { "tgz" }, "{target}");
    }
    for made in ["$out/$name.zip", "$out/$name.tgz"] {
        assert!(script.contains(made), "{made}");
    }
    let binary = command["targets"][0]["name"].as_str().unwrap();
    assert!(workflow.contains(&format!("program=target/$TARGET/release/{binary}\n")), "{binary}");
    assert!(workflow.contains("packaging/archive \"$TARGET\" \"$program\""));
}

/// Workflows that cannot be run here are marked, and the oldest toolchain is the one that the manifests promise.
#[test]
fn workflows_are_marked_and_use_the_toolchain_of_the_manifests() {
    let continuous = text(&root().join(".github/workflows/ci.yml"));
    let release = text(&root().join(".github/workflows/release.yml"));
    assert!(release.contains("None of this is run by .ci/run"));
    let mut before = "";
    let mut marked = 0;
    for line in continuous.split("\njobs:\n").nth(1).unwrap().lines() {
        let is_job = line.starts_with("  ") && !line.starts_with("   ") && !line.trim_start().starts_with('#');
        if is_job && !line.starts_with("  checks:") {
            // The comment may have a second line; its first begins with the mark.
            assert!(before.contains("Not run by .ci/run"), "{line}");
            marked += 1;
        }
        match line.trim_start().strip_prefix("# ") {
            Some(comment) if comment.starts_with("Not run by") => before = line,
            Some(_) => {}
            None => before = "",
        }
    }
    assert!(marked >= 5, "{marked} jobs");
    let oldest = published()[0]["rust_version"].as_str().unwrap().to_owned();
    assert!(continuous.contains(&format!("cargo +{oldest} check")), "{oldest}");
    assert!(continuous.contains(&format!("rustup toolchain install {oldest} ")), "{oldest}");
}

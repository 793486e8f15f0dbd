//! `package.json`, and the similar `composer.json`.

use super::content::{Manifest, Purpose, is_plain};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Raw {
    name: Value,
    main: Value,
    bin: Value,
    scripts: Map<String, Value>,
    dependencies: Map<String, Value>,
    dev_dependencies: Map<String, Value>,
    peer_dependencies: Map<String, Value>,
    package_manager: Value,
    #[serde(rename = "require")]
    require: Map<String, Value>,
    #[serde(rename = "require-dev")]
    require_dev: Map<String, Value>,
}

pub(super) fn read(head: &str) -> Manifest {
    let raw: Raw = serde_json::from_str(head).unwrap_or_default();
    let runner = raw.package_manager.as_str().and_then(|manager| manager.split('@').next()).unwrap_or("npm");
    let runner = ["npm", "pnpm", "yarn", "bun"].into_iter().find(|known| *known == runner).unwrap_or("npm");
    let mut manifest = Manifest::named(raw.name.as_str().map(str::to_owned));
    for (name, version) in [raw.dependencies, raw.dev_dependencies, raw.peer_dependencies].into_iter().flatten() {
        let folder = version.as_str().and_then(|version| {
            ["file:", "link:"].iter().find_map(|prefix| version.strip_prefix(prefix)).map(str::to_owned)
        });
        manifest.add_dependency(name, folder);
    }
    add_scripts(&mut manifest, runner, &raw.scripts);
    manifest.entry_points.extend(raw.main.as_str().map(str::to_owned));
    match &raw.bin {
        Value::String(path) => manifest.entry_points.push(path.clone()),
        Value::Object(binaries) => {
            manifest.entry_points.extend(binaries.values().filter_map(Value::as_str).map(str::to_owned))
        }
        _ => {}
    }
    manifest
}

pub(super) fn read_composer(head: &str) -> Manifest {
    let raw: Raw = serde_json::from_str(head).unwrap_or_default();
    let mut manifest = Manifest::named(raw.name.as_str().map(str::to_owned));
    for (name, _) in raw.require.into_iter().chain(raw.require_dev) {
        manifest.add_dependency(name, None);
    }
    add_scripts(&mut manifest, "composer", &raw.scripts);
    manifest
}

/// Adds scripts, which are run by their names.
fn add_scripts(manifest: &mut Manifest, runner: &str, scripts: &Map<String, Value>) {
    for name in scripts.keys() {
        if let Some(purpose) = Purpose::of(name).filter(|_| name.chars().all(is_plain)) {
            let run_word = if name == "test" && runner != "composer" { "" } else { "run " };
            let run_word = if runner == "composer" { "" } else { run_word };
            manifest.states(purpose, format!("{runner} {run_word}{name}"));
        }
    }
}

//! Python manifests.

use super::content::{Manifest, Purpose};
use super::toml;

pub(super) fn read(file: &str, head: &str) -> Manifest {
    match file.rsplit('/').next() {
        Some("requirements.txt") => read_requirements(head),
        Some("setup.cfg") => read_setup_cfg(head),
        _ => read_pyproject(head),
    }
}

fn read_pyproject(head: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut tools: Vec<String> = Vec::new();
    for entry in toml::entries(head) {
        let table = entry.table.as_str();
        if let Some(tool) = table.strip_prefix("tool.").and_then(|rest| rest.split('.').next()) {
            tools.push(tool.to_owned());
        }
        match (table, entry.key.as_str()) {
            ("project" | "tool.poetry", "name") if manifest.name.is_none() => {
                manifest.name = toml::string(&entry.value)
            }
            ("project", "dependencies") => add_requirements(&mut manifest, toml::strings(&entry.value)),
            ("project.optional-dependencies" | "dependency-groups", _) => {
                add_requirements(&mut manifest, toml::strings(&entry.value))
            }
            ("project.scripts" | "tool.poetry.scripts", _) => {
                let module = toml::string(&entry.value).and_then(|target| target.split(':').next().map(str::to_owned));
                manifest.entry_points.extend(module.map(|module| format!("{}.py", module.replace('.', "/"))));
            }
            ("tool.poetry.dependencies" | "tool.poetry.dev-dependencies", name) => {
                manifest.add_dependency(name, toml::inline(&entry.value, "path"));
            }
            ("tool.uv.sources", name) => {
                let folder = toml::inline(&entry.value, "path");
                if let Some(known) = manifest.dependencies.iter_mut().find(|known| known.name == name) {
                    known.folder = folder;
                }
            }
            _ => {}
        }
    }
    let uses = |manifest: &Manifest, tool: &str| {
        tools.iter().any(|known| known == tool) || manifest.dependencies.iter().any(|known| known.name == tool)
    };
    for (tool, purpose, command) in [
        ("pytest", Purpose::Test, "pytest"),
        ("tox", Purpose::Test, "tox"),
        ("ruff", Purpose::Lint, "ruff check"),
        ("mypy", Purpose::Lint, "mypy ."),
        ("pyright", Purpose::Lint, "pyright"),
        ("black", Purpose::Format, "black ."),
    ] {
        if uses(&manifest, tool) {
            manifest.usually(purpose, command);
        }
    }
    manifest
}

fn read_requirements(head: &str) -> Manifest {
    let mut manifest = Manifest::default();
    add_requirements(&mut manifest, head.lines().map(str::to_owned).collect());
    if manifest.dependencies.iter().any(|known| known.name == "pytest") {
        manifest.usually(Purpose::Test, "pytest");
    }
    manifest
}

fn read_setup_cfg(head: &str) -> Manifest {
    let name = head.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "name").then(|| value.trim().to_owned())
    });
    Manifest::named(name)
}

/// Adds requirements such as `requests>=2 ; python_version > "3"` and `mine @ file:../mine`.
fn add_requirements(manifest: &mut Manifest, requirements: Vec<String>) {
    for requirement in requirements {
        let name: String = requirement
            .trim()
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .collect();
        if name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let folder = requirement.split_once("@ file:").map(|(_, path)| path.trim().to_owned());
            manifest.add_dependency(name.to_lowercase(), folder);
        }
    }
}

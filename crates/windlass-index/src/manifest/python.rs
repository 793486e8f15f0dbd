//! Python manifests.

use super::content::{Manifest, Purpose};
use super::toml;

pub(super) fn read(file: &str, head: &str) -> Manifest {
    match file.rsplit('/').next() {
        Some("requirements.txt") => requirements(head),
        Some("setup.cfg") => setup(head),
        _ => project(head),
    }
}

fn project(head: &str) -> Manifest {
    let mut read = Manifest::default();
    let mut tools: Vec<String> = Vec::new();
    for entry in toml::entries(head) {
        let table = entry.table.as_str();
        if let Some(tool) = table.strip_prefix("tool.").and_then(|rest| rest.split('.').next()) {
            tools.push(tool.to_owned());
        }
        match (table, entry.key.as_str()) {
            ("project" | "tool.poetry", "name") if read.name.is_none() => read.name = toml::string(&entry.value),
            ("project", "dependencies") => add_all(&mut read, toml::strings(&entry.value)),
            ("project.optional-dependencies" | "dependency-groups", _) => {
                add_all(&mut read, toml::strings(&entry.value))
            }
            ("project.scripts" | "tool.poetry.scripts", _) => {
                let module = toml::string(&entry.value).and_then(|at| at.split(':').next().map(str::to_owned));
                read.entry_points.extend(module.map(|module| format!("{}.py", module.replace('.', "/"))));
            }
            ("tool.poetry.dependencies" | "tool.poetry.dev-dependencies", name) => {
                read.add_dependency(name, toml::inline(&entry.value, "path"));
            }
            ("tool.uv.sources", name) => {
                let folder = toml::inline(&entry.value, "path");
                if let Some(known) = read.dependencies.iter_mut().find(|known| known.name == name) {
                    known.folder = folder;
                }
            }
            _ => {}
        }
    }
    let uses = |read: &Manifest, tool: &str| {
        tools.iter().any(|known| known == tool) || read.dependencies.iter().any(|known| known.name == tool)
    };
    for (tool, purpose, command) in [
        ("pytest", Purpose::Test, "pytest"),
        ("tox", Purpose::Test, "tox"),
        ("ruff", Purpose::Lint, "ruff check"),
        ("mypy", Purpose::Lint, "mypy ."),
        ("pyright", Purpose::Lint, "pyright"),
        ("black", Purpose::Format, "black ."),
    ] {
        if uses(&read, tool) {
            read.usually(purpose, command);
        }
    }
    read
}

fn requirements(head: &str) -> Manifest {
    let mut read = Manifest::default();
    add_all(&mut read, head.lines().map(str::to_owned).collect());
    if read.dependencies.iter().any(|known| known.name == "pytest") {
        read.usually(Purpose::Test, "pytest");
    }
    read
}

fn setup(head: &str) -> Manifest {
    let name = head.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "name").then(|| value.trim().to_owned())
    });
    Manifest::named(name)
}

/// Requirements such as `requests>=2 ; python_version > "3"` and `mine @ file:../mine`.
fn add_all(read: &mut Manifest, requirements: Vec<String>) {
    for requirement in requirements {
        let name: String = requirement
            .trim()
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .collect();
        if name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let folder = requirement.split_once("@ file:").map(|(_, path)| path.trim().to_owned());
            read.add_dependency(name.to_lowercase(), folder);
        }
    }
}

//! CMake and .NET.

use super::content::{Manifest, Purpose, between};

pub(super) fn read_cmake(head: &str) -> Manifest {
    let mut manifest = Manifest::default();
    for line in head.lines().map(str::trim) {
        let Some((command, rest)) = line.split_once('(') else { continue };
        let mut words = rest.split([' ', ')', '\t']).filter(|word| !word.is_empty());
        let first_word = words.next();
        match (command.trim().to_lowercase().as_str(), first_word) {
            ("project", Some(name)) if manifest.name.is_none() => {
                manifest.name = Some(name.trim_matches('"').to_owned())
            }
            ("add_subdirectory", Some(folder)) => manifest.add_dependency(folder, Some(folder.to_owned())),
            ("find_package", Some(name)) => manifest.add_dependency(name, None),
            ("enable_testing", _) => manifest.states(Purpose::Test, "ctest"),
            ("add_executable", Some(_)) => {
                let is_source = |word: &&str| !word.contains(['$', '{']) && word.contains('.');
                manifest.entry_points.extend(words.find(is_source).map(str::to_owned));
            }
            _ => {}
        }
    }
    manifest.usually(Purpose::Build, "cmake -B build && cmake --build build");
    manifest
}

pub(super) fn read_dotnet(file: &str, head: &str) -> Manifest {
    let stem = file.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(stem, _)| stem.to_owned());
    let mut manifest = Manifest::named(stem);
    for reference in between(head, "<ProjectReference", ">") {
        if let Some(path) = between(reference, "Include=\"", "\"").next() {
            let path = path.replace('\\', "/");
            let (folder, file) = path.rsplit_once('/').unwrap_or((".", &path));
            let name = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            manifest.add_dependency(name, Some(folder.to_owned()));
        }
    }
    for reference in between(head, "<PackageReference", ">") {
        if let Some(name) = between(reference, "Include=\"", "\"").next() {
            manifest.add_dependency(name, None);
        }
    }
    manifest.usually(Purpose::Test, "dotnet test");
    manifest.usually(Purpose::Build, "dotnet build");
    manifest
}

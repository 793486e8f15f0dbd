//! CMake and .NET.

use super::content::{Manifest, Purpose, between};

pub(super) fn read_cmake(head: &str) -> Manifest {
    let mut read = Manifest::default();
    for line in head.lines().map(str::trim) {
        let Some((command, rest)) = line.split_once('(') else { continue };
        let mut words = rest.split([' ', ')', '\t']).filter(|word| !word.is_empty());
        let first = words.next();
        match (command.trim().to_lowercase().as_str(), first) {
            ("project", Some(name)) if read.name.is_none() => read.name = Some(name.trim_matches('"').to_owned()),
            ("add_subdirectory", Some(folder)) => read.add_dependency(folder, Some(folder.to_owned())),
            ("find_package", Some(name)) => read.add_dependency(name, None),
            ("enable_testing", _) => read.states(Purpose::Test, "ctest"),
            ("add_executable", Some(_)) => {
                let is_source = |word: &&str| !word.contains(['$', '{']) && word.contains('.');
                read.entry_points.extend(words.find(is_source).map(str::to_owned));
            }
            _ => {}
        }
    }
    read.usually(Purpose::Build, "cmake -B build && cmake --build build");
    read
}

pub(super) fn read_dotnet(file: &str, head: &str) -> Manifest {
    let stem = file.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(stem, _)| stem.to_owned());
    let mut read = Manifest::named(stem);
    for reference in between(head, "<ProjectReference", ">") {
        if let Some(path) = between(reference, "Include=\"", "\"").next() {
            let path = path.replace('\\', "/");
            let (folder, file) = path.rsplit_once('/').unwrap_or((".", &path));
            let name = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            read.add_dependency(name, Some(folder.to_owned()));
        }
    }
    for reference in between(head, "<PackageReference", ">") {
        if let Some(name) = between(reference, "Include=\"", "\"").next() {
            read.add_dependency(name, None);
        }
    }
    read.usually(Purpose::Test, "dotnet test");
    read.usually(Purpose::Build, "dotnet build");
    read
}

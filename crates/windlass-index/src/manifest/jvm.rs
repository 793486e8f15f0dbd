//! Maven and Gradle.

use super::content::{Manifest, Purpose, between};

pub(super) fn read_maven(head: &str) -> Manifest {
    // The parent's name comes before the project's own.
    let (before, after) = head.split_once("<parent>").unwrap_or((head, ""));
    let rest = after.split_once("</parent>").map_or(after, |(_, rest)| rest);
    let own_name = |text: &str| {
        let text = text.split("<dependencies>").next().unwrap_or_default();
        let text = text.split("<build>").next().unwrap_or_default();
        between(text, "<artifactId>", "</artifactId>").next().map(str::to_owned)
    };
    let mut manifest = Manifest::named(own_name(before).or_else(|| own_name(rest)));
    for dependency in between(head, "<dependency>", "</dependency>") {
        if let Some(name) = between(dependency, "<artifactId>", "</artifactId>").next() {
            manifest.add_dependency(name, None);
        }
    }
    if head.contains("<project") {
        manifest.usually(Purpose::Test, "mvn test");
        manifest.usually(Purpose::Build, "mvn package");
    }
    manifest
}

pub(super) fn read_gradle(head: &str) -> Manifest {
    let mut manifest = Manifest::default();
    for line in head.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("rootProject.name") {
            manifest.name = quoted(rest);
        }
        if let Some((_, rest)) = line.split_once("project(") {
            // `project(":core:api")` is the folder core/api below the root.
            if let Some(path) = quoted(rest).filter(|path| path.starts_with(':')) {
                let name = path.rsplit(':').next().unwrap_or_default().to_owned();
                manifest.add_dependency(name, None);
            }
        } else if let Some(coordinates) = quoted(line).filter(|_| is_dependency(line)) {
            let name = coordinates.split(':').nth(1).unwrap_or(&coordinates).to_owned();
            manifest.add_dependency(name, None);
        }
        if line.contains("org.springframework.boot") {
            manifest.add_dependency("spring-boot", None);
        }
    }
    manifest.usually(Purpose::Test, "gradle test");
    manifest.usually(Purpose::Build, "gradle build");
    manifest
}

fn is_dependency(line: &str) -> bool {
    ["implementation", "api", "compileOnly", "runtimeOnly", "testImplementation", "kapt"]
        .iter()
        .any(|configuration| line.strip_prefix(configuration).is_some_and(|rest| rest.starts_with(['(', ' '])))
}

/// The first text in quotes.
fn quoted(text: &str) -> Option<String> {
    let start = text.find(['"', '\''])?;
    let quote = if text.get(start..)?.starts_with('"') { '"' } else { '\'' };
    let (inside, _) = text.get(start.saturating_add(1)..)?.split_once(quote)?;
    Some(inside.to_owned())
}

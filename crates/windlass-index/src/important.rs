//! Important files, entry points and frameworks, recognised by names alone.

/// `true` if a path below the root is a file about the whole project: documentation, build, checks and releases.
pub(crate) fn is_important(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    match folder {
        "" => {
            matches!(
                stem.as_str(),
                "README" | "CONTRIBUTING" | "ARCHITECTURE" | "SECURITY" | "MAKEFILE" | "JUSTFILE" | "DOCKERFILE"
            ) || matches!(
                name,
                "AGENTS.md"
                    | "CLAUDE.md"
                    | "Cargo.toml"
                    | "package.json"
                    | "pyproject.toml"
                    | "go.mod"
                    | "pom.xml"
                    | "CMakeLists.txt"
                    | "build.gradle"
                    | "build.gradle.kts"
                    | ".gitlab-ci.yml"
                    | ".travis.yml"
                    | "Jenkinsfile"
                    | "azure-pipelines.yml"
                    | "docker-compose.yml"
                    | "compose.yaml"
                    | "tsconfig.json"
                    | "rust-toolchain.toml"
                    | "flake.nix"
            )
        }
        ".github/workflows" => name.ends_with(".yml") || name.ends_with(".yaml"),
        ".circleci" => name == "config.yml",
        "docs" => matches!(stem.as_str(), "README" | "INDEX" | "ARCHITECTURE"),
        _ => false,
    }
}

/// `true` if programs of a language usually start with a file of this path.
pub(crate) fn is_entry_point(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = folder.rsplit('/').next().unwrap_or_default();
    match name {
        "main.rs" | "lib.rs" => parent == "src",
        "manage.py" | "__main__.py" => true,
        "main.go" => folder.is_empty() || folder == "cmd" || folder.starts_with("cmd/") || folder.contains("/cmd/"),
        "main.py" | "app.py" | "main.c" | "main.cpp" | "index.ts" | "main.ts" | "server.ts" | "index.js"
        | "server.js" => folder.is_empty() || folder == "src",
        "Program.cs" | "Main.java" | "Main.kt" | "Application.java" => true,
        _ => parent == "bin" && name.ends_with(".rs") && folder.ends_with("src/bin"),
    }
}

/// Names of packages, in order, with their frameworks.
const FRAMEWORKS: &[(&str, &str)] = &[
    ("@angular/core", "Angular"),
    ("@nestjs/core", "NestJS"),
    ("@sveltejs/kit", "SvelteKit"),
    ("Microsoft.AspNetCore.App", "ASP.NET"),
    ("actix-web", "actix-web"),
    ("astro", "Astro"),
    ("axum", "axum"),
    ("bevy", "Bevy"),
    ("celery", "Celery"),
    ("clap", "clap"),
    ("django", "Django"),
    ("electron", "Electron"),
    ("express", "Express"),
    ("fastapi", "FastAPI"),
    ("fastify", "Fastify"),
    ("flask", "Flask"),
    ("github.com/gin-gonic/gin", "Gin"),
    ("github.com/spf13/cobra", "Cobra"),
    ("jest", "Jest"),
    ("junit-jupiter", "JUnit"),
    ("ktor-server-core", "Ktor"),
    ("laravel/framework", "Laravel"),
    ("leptos", "Leptos"),
    ("next", "Next.js"),
    ("nuxt", "Nuxt"),
    ("playwright", "Playwright"),
    ("pytest", "pytest"),
    ("rails", "Rails"),
    ("react", "React"),
    ("react-native", "React Native"),
    ("remix", "Remix"),
    ("rocket", "Rocket"),
    ("rspec", "RSpec"),
    ("spring-boot", "Spring Boot"),
    ("spring-boot-starter", "Spring Boot"),
    ("spring-boot-starter-web", "Spring Boot"),
    ("svelte", "Svelte"),
    ("symfony/framework-bundle", "Symfony"),
    ("tauri", "Tauri"),
    ("tensorflow", "TensorFlow"),
    ("tokio", "Tokio"),
    ("torch", "PyTorch"),
    ("vitest", "Vitest"),
    ("vue", "Vue"),
];

/// Framework of a package of this name.
pub(crate) fn framework_of(package: &str) -> Option<&'static str> {
    let index = FRAMEWORKS.binary_search_by(|(known, _)| (*known).cmp(package)).ok()?;
    FRAMEWORKS.get(index).map(|(_, framework)| *framework)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_to_look_at_first() {
        for path in
            ["README.md", "readme", ".github/workflows/ci.yml", "Cargo.toml", "docs/architecture.md", "Makefile"]
        {
            assert!(is_important(path), "{path}");
        }
        for path in ["src/README.md", "a.md", "docs/x.md", ".github/x.yml", "target/Cargo.toml"] {
            assert!(!is_important(path), "{path}");
        }
        for path in ["src/main.rs", "crates/a/src/bin/b.rs", "cmd/x/main.go", "a/manage.py", "src/index.ts", "main.go"]
        {
            assert!(is_entry_point(path), "{path}");
        }
        for path in ["tests/main.rs", "bin/b.rs", "a/index.ts", "pkg/main.go", "lib.rs"] {
            assert!(!is_entry_point(path), "{path}");
        }
    }

    #[test]
    fn packages_name_frameworks() {
        assert!(FRAMEWORKS.is_sorted(), "they are searched by halves");
        assert_eq!(framework_of("react"), Some("React"));
        assert_eq!(framework_of("reac"), None);
    }
}

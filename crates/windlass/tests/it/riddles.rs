//! Compiler errors for a type that a method does not take: the texts that this library gives them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// A program that compiles with the library that this test was built with.
const SOUND: &str = r#"
    #[derive(windlass::ToolInput)]
    struct City { name: String }
    pub fn run(model: windlass::ScriptedModel) -> windlass::Query {
        let tool = windlass::tool_fn("t", "T.", |city: City, _: windlass::ToolCx| async move { Ok(city.name) });
        windlass::query("x").provider(model).tools(tool)
    }
"#;

struct Compiler {
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl Compiler {
    /// With the newest library beside this test that compiles what is sound. `None` without a compiler.
    fn find() -> Option<Self> {
        if !Command::new("rustc").arg("--version").output().is_ok_and(|output| output.status.success()) {
            windlass_testkit::skipped("a `rustc`");
            return None;
        }
        let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
        let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in std::fs::read_dir(&deps).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap_or_default();
            if name.starts_with("libwindlass-") && name.ends_with(".rlib") {
                found.push((entry.metadata().unwrap().modified().unwrap(), entry.path()));
            }
        }
        found.sort();
        let compilers =
            found.into_iter().rev().map(|(_, library)| Self { folder: tempfile::tempdir().unwrap(), library });
        let sound = compilers.into_iter().find(|compiler| compiler.says(SOUND).is_ok());
        Some(sound.expect("one of the libraries beside this test is the one that it was built with"))
    }

    /// Compiles without making code. The `Err` is what the compiler says.
    fn says(&self, program: &str) -> Result<(), String> {
        let source = self.folder.path().join("program.rs");
        std::fs::write(&source, program).unwrap();
        let deps = self.library.parent().unwrap_or(Path::new("."));
        let output = Command::new("rustc")
            .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-A", "warnings"])
            .arg("--out-dir")
            .arg(self.folder.path())
            .arg(format!("--extern=windlass={}", self.library.display()))
            .arg(format!("-Ldependency={}", deps.display()))
            .arg(&source)
            .output()
            .unwrap();
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

#[test]
fn the_compiler_says_what_is_missing_and_what_to_write() {
    let Some(compiler) = Compiler::find() else { return };
    for (program, says) in [
        (
            r#"pub struct Mine; pub fn f() { let _ = windlass::query("x").tools(Mine); }"#,
            ["`Mine` is not a tool", "tool_fn"],
        ),
        (
            r#"pub struct Mine; pub fn f() { let _ = windlass::query("x").hook(Mine); }"#,
            ["`Mine` is not a hook", "hook_fn"],
        ),
        (
            r#"pub fn f() { let _ = windlass::query("x").provider("sonnet"); }"#,
            ["is not a model provider", ".model(..)"],
        ),
        (
            r#"#[derive(windlass::ToolInput)] pub struct City { name: String }
            pub struct Mine;
            pub fn f() { let _ = windlass::tool_fn("t", "T.", |_: City, _: windlass::ToolCx| async { Ok(Mine) }); }"#,
            ["a tool cannot return `Mine`", "Json(value)"],
        ),
        (
            r#"pub struct City;
            pub fn f() { let _ = windlass::tool_fn("t", "T.", |_: City, _: windlass::ToolCx| async { Ok("") }); }"#,
            ["`City` cannot be an input of a tool", "#[derive(windlass::ToolInput)]"],
        ),
        ("#[derive(windlass::ToolInput)] pub union City { a: u8 }", ["a struct or an enum", "union"]),
        ("#[derive(windlass::ToolInput)] pub struct City<T> { a: T }", ["has no parameters", "City<T>"]),
        // The words are the compiler's own; the documentation of the trait names the number.
        (
            "pub struct Mine;
            impl windlass::Hook for Mine {
                fn name(&self) -> &str { \"mine\" }
                fn interests(&self) -> Vec<windlass::hook::Interest> { Vec::new() }
                async fn stop(&self, _: &windlass::HookContext, _: &windlass::hook::Stop)
                    -> Result<windlass::hook::StopAction, windlass::HookError> { loop {} }
            }",
            ["E0195", "stop"],
        ),
    ] {
        let said = compiler.says(program).expect_err(program);
        for part in says {
            assert!(said.contains(part), "{part:?} is not in:\n{said}");
        }
    }
}

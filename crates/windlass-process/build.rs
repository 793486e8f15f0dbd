//! Builds the keeper of programs, a separate program that the crate contains ([`keeper/keeper.rs`](keeper/keeper.rs)).

#![allow(clippy::disallowed_methods, reason = "cargo tells a build script by variables")]

use std::env::var;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "keeper/keeper.rs";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rustc-check-cfg=cfg(has_keeper)");
    let of_target = |name: &str| var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let knows = matches!(of_target("ARCH").as_str(), "x86_64" | "aarch64") && of_target("POINTER_WIDTH") == "64";
    if of_target("OS") != "linux" || of_target("ENDIAN") != "little" || !knows {
        return;
    }
    match make() {
        Ok(()) => println!("cargo::rustc-cfg=has_keeper"),
        Err(why) => println!("cargo::warning=programs are started without a keeper: {why}"),
    }
}

fn make() -> Result<(), String> {
    let variable = |name: &str| var(name).map_err(|_| format!("cargo has not set {name}"));
    let file = Path::new(&variable("OUT_DIR")?).join("keeper");
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc.args([
        "--edition",
        "2024",
        "--crate-type",
        "bin",
        "--crate-name",
        "keeper",
        "--target",
        &variable("TARGET")?,
    ]);
    let codegen = ["opt-level=s", "panic=abort", "strip=symbols", "relocation-model=static", "debuginfo=0"];
    let link = ["-nostartfiles", "-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,-z,norelro"];
    rustc.args(codegen.iter().flat_map(|option| ["-C", option]));
    for option in link {
        rustc.arg("-C").arg(format!("link-arg={option}"));
    }
    if let Ok(linker) = var("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={linker}"));
    }
    let output = rustc.arg("-o").arg(&file).arg(SOURCE).output().map_err(|error| format!("rustc: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(text.lines().find(|line| line.contains("error")).unwrap_or("rustc failed").to_owned())
}

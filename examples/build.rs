//! Turns the Rust listings in README.md and docs into tests. Each listing becomes the body of a program, unless it has
//! a `main`.
//!
//! A page shows only the lines that a reader would write. Lines that only a test needs stand in a comment right above
//! the listing, which no reader sees:
//!
//! ```text
//! <!-- setup
//! let model = ScriptedModel::new(Script::new());
//! -->
//! ```
//!
//! A listing below `<!-- excerpt: REASON -->` is no program of its own. Lines keep their numbers, so a test that fails
//! names the line of the page.

#![expect(clippy::disallowed_methods, reason = "cargo gives a build script its folders in the environment")]

use std::collections::VecDeque;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

const HEAD: &str =
    "#[tokio::main(flavor = \"current_thread\")] async fn main() -> Result<(), Box<dyn std::error::Error>> { ";
const END: &str = " Ok(()) }";

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("..");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let (docs, readme) = (root.join("docs"), root.join("README.md"));
    println!("cargo::rerun-if-changed={}", docs.display());
    println!("cargo::rerun-if-changed={}", readme.display());
    let mut pages = vec![readme];
    add_pages(&docs, &mut pages)?;
    pages.sort();
    let mut modules = String::new();
    for page in pages {
        let text = fs::read_to_string(&page)?;
        if !text.contains("```rust") {
            continue;
        }
        let name = page.strip_prefix(&root)?.to_string_lossy().replace(['/', '\\', '-', '.'], "_").to_lowercase();
        let made = out.join(format!("{name}.md"));
        fs::write(&made, as_tests(&text).map_err(|problem| format!("{}:{problem}", page.display()))?)?;
        // Each page gets a file of its own, so that lines are counted from its beginning.
        let module = out.join(format!("{name}.rs"));
        fs::write(&module, format!("#![doc = include_str!({made:?})]\n"))?;
        modules.push_str(&format!("#[path = {module:?}]\npub mod {name};\n"));
    }
    Ok(fs::write(out.join("listings.rs"), modules)?)
}

fn add_pages(folder: &Path, pages: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_pages(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    Ok(())
}

/// Returns the page with programs in the place of its Rust listings. An error begins with the number of its line.
fn as_tests(page: &str) -> Result<String, String> {
    let mut lines: VecDeque<(usize, &str)> = (1..).zip(page.lines()).collect();
    let mut out = Vec::new();
    while let Some((number, line)) = lines.pop_front() {
        let mut setup = None;
        let mut fence = line;
        if line.trim() == "<!-- setup" {
            setup = Some(lines_until(&mut lines, "-->").ok_or_else(|| format!("{number}: the comment has no end"))?);
            fence = lines.pop_front().map(|(_, line)| line).unwrap_or_default();
            if !fence.trim_start().starts_with("```rust") {
                return Err(format!("{number}: a Rust listing must follow its set-up at once"));
            }
        }
        if !fence.trim_start().starts_with("```rust") {
            out.push(line.to_owned());
            continue;
        }
        let body = lines_until(&mut lines, "```").ok_or_else(|| format!("{number}: the listing has no end"))?;
        if let Some(hidden) = body.iter().find(|line| line.trim() == "#" || line.trim().starts_with("# ")) {
            return Err(format!(
                "{number}: the listing shows {hidden:?}, which only a test needs: put it into a comment above"
            ));
        }
        let is_excerpt = out.last().is_some_and(|line: &String| line.trim().starts_with("*Excerpt: "));
        out.push(if is_excerpt { format!("{}```text", indent(fence)) } else { fence.to_owned() });
        let mut code: Vec<String> = setup.iter().flatten().map(|line| (*line).to_owned()).collect();
        code.extend(setup.iter().flat_map(|_| [String::new(), String::new()]));
        code.extend(body.iter().map(|line| (*line).to_owned()));
        if !is_excerpt && !body.iter().any(|line| line.contains("fn main(")) {
            enclose(&mut code);
        }
        out.append(&mut code);
        out.push(format!("{}```", indent(fence)));
    }
    Ok(out.join("\n"))
}

/// Takes the lines before the one that ends them, and that one too.
fn lines_until<'a>(lines: &mut VecDeque<(usize, &'a str)>, end: &str) -> Option<Vec<&'a str>> {
    let mut taken = Vec::new();
    while let Some((_, line)) = lines.pop_front() {
        if line.trim() == end {
            return Some(taken);
        }
        taken.push(line);
    }
    None
}

/// Wraps lines in a program without changing their number.
fn enclose(code: &mut Vec<String>) {
    if let Some(first) = code.first_mut() {
        first.insert_str(indent(first).len(), HEAD);
    }
    match code.last_mut() {
        Some(last) if !last.contains("//") && !last.trim().is_empty() => last.push_str(END),
        _ => {
            let end = format!("{}{END}", code.last().map(|last| indent(last).to_owned()).unwrap_or_default());
            code.push(end);
        }
    }
}

fn indent(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

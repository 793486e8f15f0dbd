//! Number of third-party packages that a build compiles, and its need for a C compiler. Reads `cargo tree`, which
//! fetches packages that no build here has needed; builds nothing.

use std::collections::BTreeSet;
use std::process::Command;

/// Kinds of programs, and the maximum number of packages that each may compile, including our own.
const LIMITS: &[(&str, &[&str], usize)] = &[
    ("the library without features", &["-p", "windlass", "--no-default-features"], 90),
    (
        "the library without providers",
        &["-p", "windlass", "--no-default-features", "--features", WITHOUT_PROVIDERS],
        // Three of them read YAML. Two of our own are this machine and work that blocks.
        97,
    ),
    // One of them is the index of projects, one runs the hooks of settings, one starts programs.
    ("the library as it is", &["-p", "windlass"], 157),
    // Pages are read as HTML and converted to Markdown: eleven packages, and our own. Five more are the sandbox and the
    // dependencies of hooks. Fifteen decode images, 21 read PDF documents, one is our own adapter of language servers,
    // and four serve and sign for MCP. One of our own reaches containers and other machines, and one is the
    // conversation for hosts. The terminal and the editor protocol are two of our own, with Markdown and widths.
    // Completions and manual pages are three, the TOML of other agents is one.
    ("the command", &["-p", "windlass-cli"], 298),
    // The driver of PostgreSQL and its pool.
    ("a shared store", &["-p", "windlass-postgres"], 95),
    ("the author of a tool", &["-p", "windlass-tool"], 40),
    (
        "a host that only drives other processes",
        &["-p", "windlass-protocol", "--no-default-features", "--features", "client"],
        60,
    ),
];

/// The default without the provider.
const WITHOUT_PROVIDERS: &str = "macros,project,store,tools,validation";

/// The library with all features that need no C compiler.
const WITHOUT_C: &[&str] =
    &["-p", "windlass", "--no-default-features", "--features", "anthropic,project,store,tools,validation"];

/// Packages with which build scripts compile C, or find compiled libraries.
const COMPILERS: &[&str] = &["bindgen", "cc", "clang-sys", "cmake", "nasm-rs", "pkg-config", "vcpkg"];

/// Allowed difference between the figures in the documentation and the real ones.
const DRIFT: usize = 3;

fn tree(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the packages of a build, by name and version. Packages that only build scripts use are not counted.
fn packages(selection: &[&str]) -> BTreeSet<String> {
    let printed = tree(&[&["--edges", "normal", "--prefix", "none", "--format", "{p}"], selection].concat());
    let package = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    printed.lines().filter(|line| !line.trim().is_empty()).map(package).collect()
}

#[test]
fn no_program_compiles_more_than_agreed() {
    for (who, selection, limit) in LIMITS {
        let count = packages(selection).len();
        assert!(count <= *limit, "{who}: {count} packages, of at most {limit}");
        // A tree that was not read would pass, too.
        assert!(count > 10, "{who}: only {count} packages were found");
    }
}

#[test]
fn authors_of_tools_and_providers_compile_no_runtime() {
    let heavy = ["tokio", "reqwest", "jsonschema", "regex", "regex-automata", "windlass-core", "windlass-runtime"];
    for package in ["windlass-tool", "windlass-model", "windlass-hook", "windlass-session"] {
        let packages = packages(&["-p", package, "--no-default-features"]);
        for name in heavy {
            let is_that = |known: &&String| known.split(' ').next() == Some(name);
            assert_eq!(packages.iter().find(is_that), None, "{package}");
        }
    }
    let client = packages(&["-p", "windlass-protocol", "--no-default-features", "--features", "client"]);
    for engine in ["windlass-core", "windlass-runtime", "windlass-session", "windlass-model"] {
        assert!(!client.iter().any(|known| known.starts_with(&format!("{engine} "))), "{engine}");
    }
}

/// A program that chooses one stack compiles no other, whatever the crates in between enable by themselves.
#[test]
fn each_choice_of_tls_compiles_that_one_alone() {
    let stacks = ["aws-lc-rs", "native-tls", "ring", "rustls"];
    for (choice, expected) in [
        ("", vec![]),
        ("rustls-no-provider", vec!["rustls"]),
        ("rustls-ring", vec!["ring", "rustls"]),
        ("rustls-aws-lc", vec!["aws-lc-rs", "rustls"]),
        ("native-tls", vec!["native-tls"]),
    ] {
        let features = format!("anthropic,gzip,macros,mcp,project,proxy,schema,store,tools,{choice}");
        let packages = packages(&["-p", "windlass", "--no-default-features", "--features", &features]);
        let is_there = |stack: &&str| packages.iter().any(|known| known.split(' ').next() == Some(stack));
        assert_eq!(stacks.into_iter().filter(is_there).collect::<Vec<_>>(), expected, "{choice}");
    }
    for (package, features) in [("windlass", "default"), ("windlass-cli", "default")] {
        let packages = packages(&["-p", package, "--no-default-features", "--features", features]);
        assert!(packages.iter().any(|known| known.starts_with("ring ")), "{package}");
        assert!(!packages.iter().any(|known| known.starts_with("aws-lc")), "{package}");
    }
}

#[test]
fn the_figures_in_the_documentation_are_true() {
    let documentation = include_str!("../../../windlass/src/lib.rs");
    let rows = documentation.lines().filter_map(|line| line.strip_prefix("//! | `"));
    let mut read = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (features, stated) = (cells.first().unwrap().trim_end_matches('`'), cells.get(1).unwrap());
        let features = if features == "none" { "" } else { features };
        let stated: usize = stated.parse().unwrap_or_else(|_| panic!("{row}"));
        let count = packages(&["-p", "windlass", "--no-default-features", "--features", features]).len();
        assert!(count.abs_diff(stated) <= DRIFT, "`{features}`: the page has {stated}, {count} are true");
        read += 1;
    }
    assert!(read >= 8, "{read} rows were read");
}

/// The content digest has a build script that names a C compiler whatever its features are. With the feature `pure` it
/// compiles nothing with it.
#[test]
fn a_build_without_c_is_possible() {
    let edges = ["--edges", "normal,build", "--no-dedupe", "--prefix", "depth", "--format", " {p} {f}"];
    let printed = tree(&[&edges, WITHOUT_C].concat());
    let mut above: Vec<&str> = Vec::new();
    let mut found = BTreeSet::new();
    for line in printed.lines() {
        let Some((depth, package)) = line.split_once(' ') else { continue };
        let Ok(depth) = depth.parse::<usize>() else { continue };
        above.truncate(depth);
        above.push(package);
        let name = package.split(' ').next().unwrap_or_default();
        if COMPILERS.contains(&name) {
            let user = depth.checked_sub(1).and_then(|depth| above.get(depth)).copied().unwrap_or_default();
            found.insert((name, user));
        }
    }
    let named: Vec<_> = found.iter().map(|(name, user)| (*name, user.split(' ').next().unwrap_or_default())).collect();
    assert_eq!(named, [("cc", "blake3")], "{found:?}");
    for (_, user) in &found {
        assert!(user.rsplit(' ').next().unwrap_or_default().split(',').any(|feature| feature == "pure"), "{user}");
    }
    // The same check with TLS finds compilers, so it would also find others here.
    for (features, compiler) in [("anthropic,rustls-ring", " ring v"), ("anthropic,rustls-aws-lc", " cmake v")] {
        let selection = ["-p", "windlass", "--no-default-features", "--features", features];
        assert!(tree(&[&edges[..], &selection].concat()).contains(compiler), "{features}");
    }
}

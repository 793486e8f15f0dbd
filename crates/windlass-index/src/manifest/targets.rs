//! Programs that run targets by name: make and just. And Ruby's Gemfile.

use super::content::{Manifest, Purpose, is_plain};

/// Reads the targets of a Makefile or justfile with the usual names.
pub(super) fn read(program: &str, head: &str) -> Manifest {
    let mut manifest = Manifest::default();
    for line in head.lines().filter(|line| !line.starts_with([' ', '\t', '#', '.'])) {
        let Some((names, rest)) = line.split_once(':') else { continue };
        if rest.starts_with('=') || names.contains(['=', '"', '$', '%', '(']) {
            continue;
        }
        // A recipe of just may have parameters after its name; a rule of make may have several targets.
        let max_names = if program == "make" { 8 } else { 1 };
        for name in names.split_whitespace().take(max_names) {
            let name = name.trim_start_matches('@');
            if let Some(purpose) = Purpose::of(name).filter(|_| name.chars().all(is_plain)) {
                manifest.states(purpose, format!("{program} {name}"));
            }
        }
    }
    manifest
}

pub(super) fn read_gemfile(head: &str) -> Manifest {
    let mut manifest = Manifest::default();
    for line in head.lines().map(str::trim) {
        let Some(rest) = line.strip_prefix("gem ") else { continue };
        let rest = rest.trim_start();
        if let Some(quote) = rest.chars().next().filter(|first| matches!(first, '"' | '\''))
            && let Some((name, _)) = rest.get(1..).and_then(|rest| rest.split_once(quote))
        {
            manifest.add_dependency(name, None);
        }
    }
    for (gem, command) in [("rspec", "bundle exec rspec"), ("rails", "bin/rails test")] {
        if manifest.dependencies.iter().any(|known| known.name.starts_with(gem)) {
            manifest.usually(Purpose::Test, command);
        }
    }
    manifest
}

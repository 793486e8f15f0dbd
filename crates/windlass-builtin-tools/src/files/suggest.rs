//! Suggestions for a path that does not exist.

use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

const MAX_SUGGESTIONS: usize = 3;
/// Maximum number of names of a folder that are compared.
const MAX_SIBLINGS: usize = 10_000;

/// Names of `siblings` that are most similar to `wanted`, best first.
pub(crate) fn similar_names<'a>(wanted: &str, siblings: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(usize, &str)> =
        siblings.take(MAX_SIBLINGS).filter_map(|name| Some((distance(wanted, name)?, name))).collect();
    scored.sort_unstable();
    scored.dedup();
    let names = scored.into_iter().map(|(_, name)| name);
    names.take(MAX_SUGGESTIONS).collect()
}

/// Other paths at which a missing file may be: relative to `cwd`, and with a doubled or a missing folder of `cwd`. The
/// caller checks which ones exist.
pub(crate) fn other_places(path: &Path, cwd: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    let relative: PathBuf = path.components().filter(|c| matches!(c, Component::Normal(_))).collect();
    if let Ok(below) = path.strip_prefix(cwd) {
        // cwd/project/src where cwd already ends in project.
        let mut parts = below.components();
        if parts.next().map(Component::as_os_str) == cwd.file_name() {
            places.push(cwd.join(parts.as_path()));
        }
    } else {
        // /src/main.rs meant from cwd.
        places.push(cwd.join(&relative));
        // /home/me/src/main.rs where cwd is /home/me/project.
        if let Some(parent) = cwd.parent()
            && parent.parent().is_some()
            && let Ok(below) = path.strip_prefix(parent)
        {
            places.push(cwd.join(below));
        }
    }
    places.retain(|place| place != path);
    places.dedup();
    places
}

/// Distance between names, smaller is nearer; `None` when they have too little in common.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    if wanted == name {
        return None;
    }
    let fold = |s: &str| s.nfc().flat_map(char::to_lowercase).collect::<String>();
    let (a, b) = (fold(wanted), fold(name));
    if a == b {
        return Some(0);
    }
    let (a_stem, b_stem) = (stem(&a), stem(&b));
    if a_stem == b_stem && !a_stem.is_empty() {
        return Some(1);
    }
    let edits = edit_distance(&a, &b);
    if edits <= (a.chars().count() / 3).max(1) {
        return Some(1 + edits);
    }
    let is_contained = a_stem.len() >= 3 && b_stem.contains(a_stem) || b_stem.len() >= 3 && a_stem.contains(b_stem);
    is_contained.then_some(20 + a_stem.len().abs_diff(b_stem.len()))
}

fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Number of insertions, deletions, replacements and swaps of neighbours.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(128).collect();
    let b: Vec<char> = b.chars().take(128).collect();
    let mut row_before_last: Vec<usize> = Vec::new();
    let mut last_row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let cell = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut best = cell(&last_row, j) + usize::from(ca != cb);
            best = best.min(cell(&last_row, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(cb) && b.get(j - 1) == Some(ca);
            if swapped {
                best = best.min(cell(&row_before_last, j - 1) + 1);
            }
            row.push(best);
        }
        row_before_last = std::mem::replace(&mut last_row, row);
    }
    last_row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;

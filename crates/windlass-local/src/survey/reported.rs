//! Surveys that rely on change reports of the system: only folders with changes are surveyed.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_tool::TreeSurvey;
use windlass_tool::ignore_rules::IgnoreRules;

use crate::walk::{Scope, fingerprint, texts};

use super::{News, PendingFolder, RuledFolder, SurveyedTree, Watch};

/// State that a survey leaves for the next one.
#[derive(Debug)]
pub(super) struct Memo {
    /// Source of change reports. `None` after a failure, which is not retried.
    watch: Option<Arc<Watch>>,
    /// Number of the last report that this survey includes.
    upto: u64,
    /// Digest of the rules above the root.
    above: u64,
    linked: HashSet<PathBuf>,
    ruled: BTreeMap<PathBuf, RuledFolder>,
}

/// Watch of the tree, and its reports since the last survey. A new watch begins if the tree has `min_entries` entries.
pub(super) fn watch(
    before: Option<&TreeSurvey>,
    memo: Option<&Memo>,
    min_entries: usize,
) -> (Option<Arc<Watch>>, Option<News>) {
    let begin = || Watch::begin().map(Arc::new);
    match memo {
        Some(Memo { watch: Some(watch), .. }) => match watch.news() {
            Some(news) => (Some(Arc::clone(watch)), Some(news)),
            None => (begin(), None),
        },
        Some(_) => (None, None),
        None => {
            let entries = |before: &TreeSurvey| before.folders.values().map(|folder| folder.entries.len()).sum();
            let is_large = before.is_some_and(|before| {
                let entries: usize = entries(before);
                entries >= min_entries
            });
            (if is_large { begin() } else { None }, None)
        }
    }
}

/// Part of the tree that is taken over from the last survey, and the folders to survey again. `None` if the whole tree
/// must be surveyed.
pub(super) fn plan(
    before: &TreeSurvey,
    memo: &Memo,
    news: &News,
    above: &IgnoreRules,
    scope: &Scope<'_>,
) -> Option<(SurveyedTree, Vec<PendingFolder>)> {
    let is_unchanged =
        |(folder, ruled): (&PathBuf, &RuledFolder)| fingerprint(&texts(folder, scope)) == ruled.fingerprint;
    if news.from != memo.upto || news.has_rules || memo.above != above.digest() {
        return None;
    }
    let mut tree =
        SurveyedTree { folders: before.folders.clone(), linked: memo.linked.clone(), ruled: memo.ruled.clone() };
    tree.remove(&news.moved);
    // Some rules are in unwatched places: in git's own data, or behind a link.
    if !tree.ruled.iter().all(is_unchanged) {
        return None;
    }
    let folders: HashSet<&PathBuf> = news.touched.iter().chain(&tree.linked).collect();
    let ahead = folders.into_iter().filter(|folder| tree.folders.contains_key(*folder));
    let ahead = ahead.map(|folder| PendingFolder { folder: folder.clone(), rules: rules_above(folder, &tree, above) });
    let ahead = ahead.collect();
    Some((tree, ahead))
}

/// Rules of the folders above a folder.
fn rules_above(folder: &Path, tree: &SurveyedTree, above: &IgnoreRules) -> IgnoreRules {
    let ruled = folder.ancestors().skip(1).find_map(|folder| tree.ruled.get(folder));
    ruled.map_or(above, |ruled| &ruled.rules).clone()
}

/// State for the next survey.
pub(super) fn memo(
    watch: Option<Arc<Watch>>,
    before: Option<&Memo>,
    news: Option<&News>,
    (above, tree): (u64, &mut SurveyedTree),
) -> Option<Memo> {
    let Some(watch) = watch else {
        // A failed watch is not tried again.
        return before.map(|_| Memo { watch: None, upto: 0, above, linked: HashSet::new(), ruled: BTreeMap::new() });
    };
    let (linked, ruled) = (std::mem::take(&mut tree.linked), std::mem::take(&mut tree.ruled));
    let watch = watch.is_whole().then_some(watch);
    Some(Memo { watch, upto: news.map_or(0, |news| news.upto), above, linked, ruled })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

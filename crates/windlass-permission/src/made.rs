//! What the parts of a command make of the paths of other parts.
//!
//! Paths are followed before the command runs. A part that puts links somewhere, by copying, moving or making
//! them, changes what a path of a later part means: there it is not known.

use crate::command::Part;
use crate::facts::TreeFact;
use crate::found::Found;
use crate::path::{Links, normalize};
use crate::pattern::ShellPattern;
use crate::protected;
use crate::touch::Touch;
use crate::transfer::{Copy, program_behind};
use std::path::{Component, Path, PathBuf};
use windlass_shell::Effect;

/// A path whose meaning another part may have changed.
pub(crate) const MADE: &str = "another part of it may make a link of a path that it uses";
/// A tree that is copied or moved and was not looked through.
const NOT_KNOWN: &str = "it is not known whether the tree that it copies or moves has protected files in it";
/// A tree that is copied or moved and has protected files in it.
const PROTECTED: &str = "the tree that it copies or moves has protected files in it";

/// Places where a part may have put links.
struct Made {
    pipeline: usize,
    part: usize,
    places: Vec<PathBuf>,
}

/// Marks the paths that another part may change, and the trees that cannot be copied without a question. Returns
/// what the copies bring along to protected places.
pub(crate) fn settle(parts: &mut [(Part<'_>, Vec<Touch>)], found: &Found<'_>, links: &Links) -> Vec<Touch> {
    let mut made: Vec<Made> = Vec::new();
    let mut brought = Vec::new();
    for (index, (part, touches)) in parts.iter_mut().enumerate() {
        let earlier: Vec<&Path> = made.iter().flat_map(|made| &made.places).map(PathBuf::as_path).collect();
        let mut places = Vec::new();
        for copy in &part.copies {
            let tree = found.tree(&copy.source);
            places.extend(linked(copy, tree, touches, &earlier));
            let guarded: Vec<PathBuf> = copy.targets.iter().flat_map(|target| guarded(target, tree)).collect();
            if !tree.is_some_and(|tree| tree.is_whole) {
                part.unclear_copy = Some(NOT_KNOWN);
            } else if !guarded.is_empty() {
                part.unclear_copy = Some(PROTECTED);
            }
            if !copy.moves {
                brought.extend(guarded.iter().map(|path| Touch::brought(path, links)));
            }
        }
        // Of `ln`, and of what is not understood, every operand may have become a link.
        if makes_links(part) {
            let written = touches.iter().filter(|touch| touch.usage.write && !touch.usage.redirect);
            places.extend(written.flat_map(|touch| touch.subjects().map(|subject| subject.path.clone())));
        }
        if !places.is_empty() {
            made.push(Made { pipeline: part.pipeline, part: index, places });
        }
    }
    mark(parts, &made);
    brought
}

/// Where a copy may put links: at its targets, unless the source was seen to have none and no earlier part may have
/// put one there.
fn linked(copy: &Copy, tree: Option<&TreeFact>, touches: &[Touch], earlier: &[&Path]) -> Vec<PathBuf> {
    let sources = forms(&copy.source, touches);
    let meets = |place: &Path| sources.iter().any(|way| place.starts_with(way) || way.starts_with(place));
    let has_links = tree.filter(|tree| tree.is_whole).is_none_or(|tree| !tree.links.is_empty());
    if has_links || earlier.iter().any(|place| meets(place)) {
        return copy.targets.iter().flat_map(|target| forms(target, touches)).collect();
    }
    Vec::new()
}

/// The protected paths that a copy of a tree would make below a target.
fn guarded(target: &Path, tree: Option<&TreeFact>) -> Vec<PathBuf> {
    // What the names of its ancestors protect is found without looking below.
    if protected::protected_name(&normalize(Path::new("/"), target)).is_some() {
        return Vec::new();
    }
    let entries = tree.into_iter().flat_map(|tree| &tree.entries);
    let paths = entries.map(|below| normalize(Path::new("/"), &target.join(below)));
    paths.filter(|path| protected::protected_name(path).is_some()).collect()
}

/// Marks the paths that may lead through what an earlier part made, or one beside it in its pipeline.
fn mark(parts: &mut [(Part<'_>, Vec<Touch>)], made: &[Made]) {
    for (index, (part, touches)) in parts.iter_mut().enumerate() {
        let before = |made: &&Made| made.part < index || (made.pipeline == part.pipeline && made.part != index);
        for place in made.iter().filter(before).flat_map(|made| &made.places) {
            for touch in touches.iter_mut().filter(|touch| touch.may_meet(place)) {
                touch.unclear = touch.unclear.or(Some(MADE));
            }
        }
    }
}

/// A path by its text, and in every form that was found for it.
fn forms(written: &Path, touches: &[Touch]) -> Vec<PathBuf> {
    let path = normalize(Path::new("/"), written);
    let same = touches.iter().filter(|touch| touch.requested_path() == path);
    let mut forms: Vec<PathBuf> = same.flat_map(|touch| touch.subjects().map(|subject| subject.path.clone())).collect();
    forms.push(path);
    forms
}

fn makes_links(part: &Part<'_>) -> bool {
    matches!(part.class.effect, Effect::Unknown | Effect::Network)
        && matches!(program_behind(part.command.words()), "cp" | "ln" | "mv" | "rename" | "rsync")
}

impl Touch {
    /// Whether the path, or a path that it stands for, may be at or below a place.
    fn may_meet(&self, place: &Path) -> bool {
        let reaches = |path: &Path| {
            path.starts_with(place) || place.strip_prefix(path).is_ok_and(|rest| self.usage.follows || self.names(rest))
        };
        self.subjects().any(|subject| reaches(&subject.path)) || self.leaves(place)
    }

    /// Whether it goes to a place, or below it, and leaves it again by `..`.
    fn leaves(&self, place: &Path) -> bool {
        let mut way = PathBuf::new();
        self.written.components().any(|part| {
            let left = part == Component::ParentDir && normalize(Path::new("/"), &way).starts_with(place);
            way.push(part);
            left
        })
    }

    /// Whether its pattern may stand for the way to what lies below it.
    fn names(&self, below: &Path) -> bool {
        let Some(pattern) = self.pattern.as_deref().map(ShellPattern::new) else { return false };
        let mut ways = below.iter().zip(pattern.names());
        ways.all(|(name, own)| own.literal().map_or_else(|| own.may_match(name), |own| own == name))
    }
}

//! Effects of a command's parts on the paths of other parts.
//!
//! Paths are followed before the command runs. A part that puts links somewhere, by copying, moving or making them,
//! changes the meaning of a later part's path: that path is unknown then.

use crate::command::Part;
use crate::facts::TreeFact;
use crate::found::{Found, OPTION, is_option};
use crate::path::{Links, Subject, normalize, text};
use crate::pattern::ShellPattern;
use crate::protected;
use crate::touch::Touch;
use crate::transfer::{Copy, program_behind};
use crate::usage::Usage;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::iter;
use std::path::{Component, Path, PathBuf};
use windlass_shell::Effect;

/// A path whose meaning another part may have changed.
pub(crate) const MADE: &str = "another part of it may make a link of a path that it uses";
/// A tree that is copied or moved and was not looked through.
const NOT_KNOWN: &str = "it is not known whether the tree that it copies or moves has protected files in it";
/// A tree that is copied or moved and has protected files in it.
const PROTECTED: &str = "the tree that it copies or moves has protected files in it";

/// The places where parts may have put links, with the number of each part and of its pipeline.
#[derive(Default)]
struct Made {
    /// By their texts, which takes less time than to compare them name by name.
    places: HashMap<OsString, Vec<(usize, usize)>>,
    /// Length of the shortest of these texts.
    shortest: usize,
    /// The parts that made any of them.
    parts: Vec<(usize, usize)>,
}

impl Made {
    fn add(&mut self, place: PathBuf, part: usize, pipeline: usize) {
        let other = match text(&place) {
            Cow::Owned(text) => Some(text),
            Cow::Borrowed(_) => None,
        };
        let names = other.unwrap_or_else(|| place.into_os_string());
        self.shortest = if self.places.is_empty() { names.len() } else { self.shortest.min(names.len()) };
        if self.parts.last() != Some(&(part, pipeline)) {
            self.parts.push((part, pipeline));
        }
        let by = self.places.entry(names).or_default();
        // The places of one part come one after the other.
        if by.last() != Some(&(part, pipeline)) {
            by.push((part, pipeline));
        }
    }

    fn places(&self) -> impl Iterator<Item = &Path> {
        self.places.keys().map(Path::new)
    }

    /// Returns `true` if a path is, or lies below, a place that such parts have made.
    fn holds(&self, path: &Path, by: impl Fn(&[(usize, usize)]) -> bool) -> bool {
        let names = text(path);
        let mut ways = Path::new(&names).ancestors().map(Path::as_os_str).take_while(|way| way.len() >= self.shortest);
        ways.any(|way| self.places.get(way).is_some_and(|parts| by(parts)))
    }
}

/// Changes that a part may find: its own number and that of its pipeline, and the paths made.
struct Changed<'a> {
    made: &'a Made,
    part: usize,
    pipeline: usize,
    /// The places of such parts, in the order of their texts, once they are asked for.
    places: OnceCell<Vec<&'a OsStr>>,
}

impl<'a> Changed<'a> {
    /// Returns `true` if one of these parts stands before it, or beside it in its pipeline.
    fn by(&self, parts: &[(usize, usize)]) -> bool {
        parts.iter().any(|(part, pipeline)| *part < self.part || (*pipeline == self.pipeline && *part != self.part))
    }

    /// Returns `true` if a path is, or lies below, a place where such a part may have put links.
    fn holds(&self, path: &Path) -> bool {
        self.made.holds(path, |parts| self.by(parts))
    }

    /// Returns such places below a path.
    fn below(&self, path: &Path) -> impl Iterator<Item = &'a Path> {
        let places = self.places.get_or_init(|| {
            let changed = self.made.places.iter().filter(|(_, parts)| self.by(parts));
            let mut places: Vec<&OsStr> = changed.map(|(place, _)| place.as_os_str()).collect();
            places.sort_unstable();
            places
        });
        let mut start = text(path).into_owned();
        if path.parent().is_some() {
            start.push(std::path::MAIN_SEPARATOR_STR);
        }
        let first = places.partition_point(|place| place.as_encoded_bytes() < start.as_encoded_bytes());
        let is_below = move |place: &&&OsStr| place.as_encoded_bytes().starts_with(start.as_encoded_bytes());
        places.get(first..).unwrap_or_default().iter().take_while(is_below).map(|place| Path::new(*place))
    }
}

/// The touches of a part by the path that they request: the first, and the others.
type Requested<'a> = HashMap<&'a OsStr, (&'a Touch, Vec<&'a Touch>)>;

/// Marks the paths that another part may change, and the trees that cannot be copied without a permission request.
/// Returns the touches of protected places by the copies.
pub(crate) fn settle(parts: &mut [(Part<'_>, Vec<Touch>)], found: &Found<'_>, links: &Links) -> Vec<Touch> {
    let mut made = Made::default();
    let mut brought = Vec::new();
    // Paths made by a part matter to other parts only.
    let others = parts.len() > 1;
    for (index, (part, touches)) in parts.iter_mut().enumerate() {
        let mut places = Vec::new();
        let mut seen = HashSet::new();
        let requested = if others && !part.copies.is_empty() { by_request(touches) } else { Requested::new() };
        for copy in &part.copies {
            let tree = tree_of(copy, found);
            if others && puts_links(copy, tree, &requested, &made) {
                let targets = copy.targets().filter(|target| seen.insert(*target));
                places.extend(targets.flat_map(|target| forms(target, &requested)));
            }
            let guarded = guarded_by(copy, tree);
            if !tree.is_some_and(|tree| tree.is_whole) {
                part.unclear_copy = Some(NOT_KNOWN);
            } else if !guarded.is_empty() {
                part.unclear_copy = Some(PROTECTED);
            }
            if !copy.moves {
                brought.extend(guarded.iter().map(|path| Touch::brought(path, links)));
            }
        }
        touches.extend(written_through(&part.copies, found));
        // Every operand of `ln`, and of a part that is not understood, may have become a link.
        if others && makes_links(part) {
            let written = touches.iter().filter(|touch| touch.usage.write && !touch.usage.redirect);
            places.extend(written.flat_map(|touch| touch.subjects().map(|subject| subject.path.clone())));
        }
        made.places.reserve(places.len());
        for place in places {
            made.add(place, index, part.pipeline);
        }
    }
    mark(parts, &made);
    mark_options(parts, found);
    brought
}

/// Returns the touches of protected places by copied entries.
pub(crate) fn brought(copies: &[Copy], found: &Found<'_>, links: &Links) -> Vec<Touch> {
    let listed = |copy: &Copy| found.pattern(&copy.source, copy.pattern.as_deref()?);
    let matches = |copy| listed(copy).into_iter().flat_map(|fact| &fact.matches);
    let matches: Vec<Copy> =
        copies.iter().flat_map(|copy| matches(copy).map(|fact| copy.of_match(&fact.requested))).collect();
    let guarded = copies.iter().chain(&matches).flat_map(|copy| guarded_by(copy, tree_of(copy, found)));
    guarded.map(|path| Touch::brought(&path, links)).collect()
}

/// Returns the touches of links at the places to which these copies go.
fn written_through(copies: &[Copy], found: &Found<'_>) -> Vec<Touch> {
    if found.overwritten.is_empty() {
        return Vec::new();
    }
    let targets: HashSet<&Path> = copies.iter().flat_map(Copy::targets).collect();
    let written = Usage { write: true, ..Usage::default() };
    let links = found.overwritten.iter().filter(|link| link.requested.ancestors().any(|way| targets.contains(way)));
    links.map(|link| found.followed(link, written)).collect()
}

fn by_request(touches: &[Touch]) -> Requested<'_> {
    let mut requested = Requested::with_capacity(touches.len());
    for touch in touches {
        match requested.entry(touch.requested_path().as_os_str()) {
            Entry::Vacant(entry) => _ = entry.insert((touch, Vec::new())),
            Entry::Occupied(mut entry) => entry.get_mut().1.push(touch),
        }
    }
    requested
}

/// Returns `true` if a copy may put links at its targets: unless the source was seen to have none and no earlier part
/// may have put one there.
fn puts_links(copy: &Copy, tree: Option<&TreeFact>, touches: &Requested<'_>, earlier: &Made) -> bool {
    let has_links = tree.filter(|tree| tree.is_whole).is_none_or(|tree| !tree.links.is_empty());
    has_links || {
        let sources = forms(&copy.source, touches);
        let is_below = |way: &PathBuf| earlier.holds(way, |_| true);
        sources.iter().any(is_below) || earlier.places().any(|place| sources.iter().any(|way| place.starts_with(way)))
    }
}

/// Returns the entries found below the source of a copy. For a pattern they are known only for each of its matches.
fn tree_of<'a>(copy: &Copy, found: &Found<'a>) -> Option<&'a TreeFact> {
    found.tree(&copy.source).filter(|_| copy.pattern.is_none())
}

/// Returns the protected paths that a copy would make.
fn guarded_by(copy: &Copy, tree: Option<&TreeFact>) -> Vec<PathBuf> {
    copy.targets().flat_map(|target| guarded(target, tree)).collect()
}

/// Returns the protected paths that a copy of a tree would make below a target.
fn guarded(target: &Path, tree: Option<&TreeFact>) -> Vec<PathBuf> {
    if tree.is_none_or(|tree| tree.entries.is_empty()) {
        return Vec::new();
    }
    // Places protected by the names of their ancestors are found without looking below.
    if protected::protected_name(&normalize(Path::new("/"), target)).is_some() {
        return Vec::new();
    }
    let entries = tree.into_iter().flat_map(|tree| &tree.entries);
    let paths = entries.map(|below| normalize(Path::new("/"), &target.join(below)));
    paths.filter(|path| protected::protected_name(path).is_some()).collect()
}

/// Marks the paths that may pass through places made by an earlier part, or by one beside it in its pipeline.
fn mark(parts: &mut [(Part<'_>, Vec<Touch>)], made: &Made) {
    if made.places.is_empty() {
        return;
    }
    for (index, (part, touches)) in parts.iter_mut().enumerate() {
        let changed = Changed { made, part: index, pipeline: part.pipeline, places: OnceCell::new() };
        if !changed.by(&made.parts) {
            continue;
        }
        for touch in touches.iter_mut().filter(|touch| touch.may_meet(&changed)) {
            touch.unclear = touch.unclear.or(Some(MADE));
        }
    }
}

/// Marks the patterns that may match options: names that another part makes.
fn mark_options(parts: &mut [(Part<'_>, Vec<Touch>)], found: &Found<'_>) {
    if parts.len() < 2 {
        return;
    }
    let makes = |(part, touches): &(Part<'_>, Vec<Touch>)| {
        let written = touches.iter().filter(|touch| touch.usage.write);
        let mut paths = written.flat_map(|touch| touch.requested_path().components());
        let is_new = |tree: &TreeFact| {
            !tree.is_whole || tree.entries.iter().any(|entry| entry.components().any(|name| is_option(name.as_ref())))
        };
        let copied = |copy: &Copy| tree_of(copy, found).is_none_or(is_new);
        paths.any(|name| is_option(name.as_ref())) || part.copies.iter().any(copied)
    };
    let makers: Vec<(usize, usize)> =
        parts.iter().enumerate().filter(|(_, part)| makes(part)).map(|(at, (part, _))| (at, part.pipeline)).collect();
    for (index, (part, touches)) in parts.iter_mut().enumerate() {
        let finds = makers.iter().any(|(at, pipeline)| *at < index || (*pipeline == part.pipeline && *at != index));
        for touch in touches.iter_mut().filter(|touch| finds && touch.option) {
            touch.unclear = touch.unclear.or(Some(OPTION));
        }
    }
}

/// Returns a path by its text, and in every form that was found for it.
fn forms(written: &Path, touches: &Requested<'_>) -> Vec<PathBuf> {
    let path = normalize(Path::new("/"), written);
    let same = touches.get(path.as_os_str()).into_iter().flat_map(|(first, others)| iter::once(first).chain(others));
    let found = same.flat_map(|touch| touch.subjects().map(|subject| &subject.path)).filter(|form| **form != path);
    let mut forms: Vec<PathBuf> = found.cloned().collect();
    forms.push(path);
    forms
}

fn makes_links(part: &Part<'_>) -> bool {
    matches!(part.class.effect, Effect::Unknown | Effect::Network)
        && matches!(program_behind(part.command.words()), "cp" | "ln" | "mv" | "rename" | "rsync")
}

impl Touch {
    /// Returns `true` if the path, or one of its matches, may be at or below a place that others changed.
    fn may_meet(&self, changed: &Changed<'_>) -> bool {
        if self.subjects().any(|subject| changed.holds(&subject.path)) || self.leaves(changed) {
            return true;
        }
        // A copy into a tree may write through the links in it.
        let goes_below = self.usage.follows || (self.usage.write && self.usage.tree && !self.usage.handles);
        let pattern = self.pattern.as_deref().map(ShellPattern::new);
        if !goes_below && pattern.is_none() {
            return false;
        }
        let reaches = |below: &Path| goes_below || pattern.as_ref().is_some_and(|own| names(own, below));
        let below = |subject: &Subject| {
            let mut places = changed.below(&subject.path);
            places.any(|place| place.strip_prefix(&subject.path).is_ok_and(reaches))
        };
        self.subjects().any(below)
    }

    /// Returns `true` if the path enters such a place, or goes below it, and leaves it again by `..`.
    fn leaves(&self, changed: &Changed<'_>) -> bool {
        let mut way = PathBuf::new();
        self.walked.iter().flat_map(|walked| walked.components()).any(|part| {
            let left = part == Component::ParentDir && changed.holds(&normalize(Path::new("/"), &way));
            way.push(part);
            left
        })
    }
}

/// Returns `true` if a pattern may match the way to an entry below its start directory.
fn names(pattern: &ShellPattern, below: &Path) -> bool {
    let mut ways = below.iter().zip(pattern.names());
    ways.all(|(name, own)| own.literal().map_or_else(|| own.may_match(name), |own| own == name))
}

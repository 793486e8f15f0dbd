//! What is known of the checkpoints of a session.

use super::record::{Kind, Record, State};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use windlass_session::Checkpoint;
use windlass_types::{EntryId, Timestamp};

/// What is said of contents that had to make room.
const DROPPED: &str = "its earlier content was dropped to make room for later ones";

/// The checkpoints of a session, in order, and what they need. A fold over [`Record`]s.
#[derive(Debug, Default)]
pub(crate) struct History {
    points: Vec<Point>,
    by_id: HashMap<EntryId, usize>,
    /// What tools and rewinds have left of files since they were kept last.
    left: HashMap<PathBuf, State>,
    objects: HashMap<blake3::Hash, Object>,
    bytes: u64,
    /// Checkpoints before this one cannot be used: lines behind them are lost.
    usable_from: usize,
    is_damaged: bool,
}

#[derive(Debug)]
struct Point {
    id: EntryId,
    kind: Kind,
    at: Timestamp,
    kept: BTreeMap<PathBuf, State>,
    is_dropped: bool,
}

#[derive(Debug)]
struct Object {
    size: u64,
    /// How many files of how many checkpoints had it.
    uses: usize,
}

/// Why a checkpoint cannot be rewound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unusable {
    Unknown,
    Damaged,
}

impl History {
    pub(crate) fn apply(&mut self, record: Record) {
        match record {
            Record::Begin { id, kind, at } => self.begin(id, kind, at),
            Record::Kept { id, path, state, .. } => {
                if !self.by_id.contains_key(&id) {
                    // Its beginning is lost.
                    self.begin(id, Kind::Prompt, Timestamp::from_millis(0));
                }
                self.keep(path, state);
            }
            // What cannot be compared says nothing.
            Record::Left { path, state: State::Unkept { .. } } => {
                self.left.remove(&path);
            }
            Record::Left { path, state } => {
                self.left.insert(path, state);
            }
            Record::Dropped { through } => {
                let end = self.by_id.get(&through).map_or(0, |at| at + 1);
                for at in 0..end {
                    self.drop_point(at);
                }
            }
        }
    }

    fn begin(&mut self, id: EntryId, kind: Kind, at: Timestamp) {
        if self.by_id.contains_key(&id) {
            return;
        }
        self.by_id.insert(id.clone(), self.points.len());
        self.points.push(Point { id, kind, at, kept: BTreeMap::new(), is_dropped: false });
    }

    /// Takes a file in, into the last checkpoint: what is kept now is what was
    /// there before everything later, whichever prompt is answered.
    fn keep(&mut self, path: PathBuf, state: State) {
        let Some(last) = self.points.last_mut() else { return };
        self.left.remove(&path);
        if last.kept.contains_key(&path) {
            return;
        }
        if let State::File { hash, size, .. } = &state {
            let object = self.objects.entry(*hash).or_insert(Object { size: *size, uses: 0 });
            if object.uses == 0 {
                self.bytes = self.bytes.saturating_add(object.size);
            }
            object.uses += 1;
        }
        last.kept.insert(path, state);
    }

    /// Lines that could not be read stood here: what they said of earlier checkpoints is not known.
    pub(crate) fn damaged(&mut self) {
        self.usable_from = self.points.len();
        self.is_damaged = true;
    }

    /// Whether lines were lost.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    pub(crate) fn has(&self, id: &EntryId) -> bool {
        self.by_id.contains_key(id)
    }

    /// Whether a file was kept since the last checkpoint began.
    pub(crate) fn is_kept(&self, path: &Path) -> bool {
        self.points.last().is_some_and(|point| point.kept.contains_key(path))
    }

    pub(crate) fn has_object(&self, hash: &blake3::Hash) -> bool {
        self.objects.contains_key(hash)
    }

    /// What tools and rewinds have left of a file, if that is known.
    pub(crate) fn left(&self, path: &Path) -> Option<&State> {
        self.left.get(path)
    }

    pub(crate) fn list(&self) -> Vec<Checkpoint> {
        let usable = self.points.iter().skip(self.usable_from);
        usable.map(|point| Checkpoint::new(point.id.clone(), point.kind.into(), point.at, point.kept.len())).collect()
    }

    /// The states that files had at a checkpoint: all that were kept since.
    pub(crate) fn targets(&self, to: &EntryId) -> Result<BTreeMap<PathBuf, State>, Unusable> {
        let at = *self.by_id.get(to).ok_or(Unusable::Unknown)?;
        if at < self.usable_from {
            return Err(Unusable::Damaged);
        }
        let mut targets = BTreeMap::new();
        for (path, state) in self.points.iter().skip(at).flat_map(|point| &point.kept) {
            targets.entry(path.clone()).or_insert_with(|| state.clone());
        }
        Ok(targets)
    }

    /// Whether so many bytes more are below a limit.
    pub(crate) fn fits(&self, size: u64, limit: u64) -> bool {
        self.bytes.saturating_add(size) <= limit
    }

    /// Makes room for so many bytes below a limit, by dropping the contents of
    /// the oldest checkpoints, but never of `needed` and later ones, nor of the
    /// last one. Returns what must be written and what can be removed, or
    /// nothing if there is no room.
    pub(crate) fn make_room(&mut self, size: u64, limit: u64, needed: Option<&EntryId>) -> Option<Room> {
        let mut room = Room::default();
        let last = self.points.len().saturating_sub(1);
        let end = needed.and_then(|id| self.by_id.get(id)).map_or(last, |at| last.min(*at));
        let mut at = 0;
        while self.bytes.saturating_add(size) > limit {
            if at >= end {
                return None;
            }
            room.removed.extend(self.drop_point(at));
            room.through = self.points.get(at).map(|point| point.id.clone());
            at += 1;
        }
        Some(room)
    }

    /// Drops what a checkpoint kept. Returns the contents that nobody needs any more.
    fn drop_point(&mut self, at: usize) -> Vec<blake3::Hash> {
        let Some(point) = self.points.get_mut(at).filter(|point| !point.is_dropped) else { return Vec::new() };
        point.is_dropped = true;
        let mut removed = Vec::new();
        for state in point.kept.values_mut() {
            let State::File { hash, .. } = &*state else { continue };
            let hash = *hash;
            *state = State::Unkept { why: DROPPED.to_owned() };
            let Some(object) = self.objects.get_mut(&hash) else { continue };
            object.uses = object.uses.saturating_sub(1);
            if object.uses == 0 {
                self.bytes = self.bytes.saturating_sub(object.size);
                self.objects.remove(&hash);
                removed.push(hash);
            }
        }
        removed
    }

    /// The same in as few records as possible, without the oldest checkpoints
    /// where they keep more than `most` files in all.
    pub(crate) fn records(&self, most: usize) -> Vec<Record> {
        let mut files = 0;
        let recent = self.points.iter().skip(self.usable_from).rev();
        let number = recent
            .take_while(|point| {
                files += point.kept.len() + 1;
                files <= most
            })
            .count();
        let mut records = Vec::new();
        for point in self.points.iter().skip(self.points.len() - number) {
            records.push(Record::Begin { id: point.id.clone(), kind: point.kind, at: point.at });
            records.extend(point.kept.iter().map(|(path, state)| Record::Kept {
                id: point.id.clone(),
                tool: None,
                path: path.clone(),
                state: state.clone(),
            }));
        }
        let left = self.left.iter().take(most);
        records.extend(left.map(|(path, state)| Record::Left { path: path.clone(), state: state.clone() }));
        records
    }
}

/// What dropping contents asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    /// The last checkpoint whose contents are dropped.
    pub(crate) through: Option<EntryId>,
    /// The contents that can be removed.
    pub(crate) removed: Vec<blake3::Hash>,
}

#[cfg(test)]
mod tests;

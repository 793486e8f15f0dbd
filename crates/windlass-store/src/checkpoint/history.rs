//! History of the checkpoints of a session.

use super::record::{Kind, Record, State};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use windlass_session::{Checkpoint, LeftOut};
use windlass_types::{EntryId, Timestamp};

/// Message for contents that were dropped to free space.
const DROPPED: &str = "its earlier content was dropped to make room for later ones";

/// Checkpoints of a session, in order, and the contents they need. A fold over [`Record`]s.
#[derive(Debug, Default)]
pub(crate) struct History {
    points: Vec<Point>,
    by_id: HashMap<EntryId, usize>,
    /// States of files as tools and rewinds left them, since they were kept last.
    left: HashMap<PathBuf, LeftState>,
    /// Files that others have changed between tools, each with the number of checkpoints before the last such change.
    others: HashMap<PathBuf, usize>,
    objects: HashMap<blake3::Hash, Object>,
    bytes: u64,
    /// First usable checkpoint: lines after the earlier ones are lost.
    usable_from: usize,
    is_damaged: bool,
}

#[derive(Debug)]
struct Point {
    id: EntryId,
    kind: Kind,
    at: Timestamp,
    kept: BTreeMap<PathBuf, State>,
    left_out: Vec<LeftOut>,
    is_dropped: bool,
}

/// State of a file as a tool or a rewind left it.
#[derive(Debug)]
struct LeftState {
    state: State,
    /// Index of the checkpoint after which that was.
    at: usize,
}

#[derive(Debug)]
struct Object {
    size: u64,
    /// Number of uses in checkpoints, and of pins.
    uses: usize,
    /// `true` if the content is on the shelf.
    is_stored: bool,
}

/// Reason why a checkpoint cannot be rewound to.
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
                    // The record of its beginning is lost.
                    self.begin(id, Kind::Prompt, Timestamp::from_millis(0));
                }
                self.keep(path, state);
            }
            // After a state that cannot be compared, the recorded state of the file is invalid.
            Record::Left { path, state: State::Unkept { .. } } => {
                self.left.remove(&path);
            }
            Record::Left { path, state } => {
                self.left.insert(path, LeftState { state, at: self.points.len().saturating_sub(1) });
            }
            Record::Others { path } => {
                let before = self.left.get(&path).map_or(self.points.len(), |left| left.at + 1);
                self.others.insert(path, before);
            }
            Record::LeftOut { id, path, why } => {
                let point = self.by_id.get(&id).and_then(|at| self.points.get_mut(*at));
                if let Some(point) = point {
                    point.left_out.push(LeftOut::new(path, why));
                }
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
        self.points.push(Point { id, kind, at, kept: BTreeMap::new(), left_out: Vec::new(), is_dropped: false });
    }

    /// Adds a file to the last checkpoint. Its present content precedes all later changes, whichever prompt's run is in
    /// progress.
    fn keep(&mut self, path: PathBuf, state: State) {
        let Some(last) = self.points.last() else { return };
        let left = self.left.remove(&path);
        let is_others = |left: &LeftState| !matches!(state, State::Unkept { .. }) && !left.state.is_same(&state);
        if let Some(left) = left.filter(is_others) {
            // Changes by others are kept with later checkpoints, and lost with those after which tools changed the
            // file.
            self.others.insert(path.clone(), left.at + 1);
        }
        if last.kept.contains_key(&path) {
            return;
        }
        if let State::File { hash, size, .. } = &state {
            // A content is on the shelf before a record names it.
            self.use_object(*hash, *size).is_stored = true;
        }
        if let Some(last) = self.points.last_mut() {
            last.kept.insert(path, state);
        }
    }

    fn use_object(&mut self, hash: blake3::Hash, size: u64) -> &mut Object {
        let object = self.objects.entry(hash).or_insert(Object { size, uses: 0, is_stored: false });
        if object.uses == 0 {
            self.bytes = self.bytes.saturating_add(object.size);
        }
        object.uses += 1;
        object
    }

    /// Releases one use of a content. Returns `true` if that was the last one.
    fn release(&mut self, hash: &blake3::Hash) -> bool {
        let Some(object) = self.objects.get_mut(hash) else { return false };
        object.uses = object.uses.saturating_sub(1);
        if object.uses > 0 {
            return false;
        }
        self.bytes = self.bytes.saturating_sub(object.size);
        self.objects.remove(hash);
        true
    }

    /// Reserves space for a content that a record is going to name, if there is some: until it is unpinned, it is not
    /// dropped. Returns `true` if it is on the shelf already, `None` without space.
    pub(crate) fn pin(&mut self, hash: blake3::Hash, size: u64, limit: u64) -> Option<bool> {
        if !self.has_object(&hash) && !self.fits(size, limit) {
            return None;
        }
        Some(self.use_object(hash, size).is_stored)
    }

    /// Records that a content is on the shelf.
    pub(crate) fn stored(&mut self, hash: &blake3::Hash) {
        if let Some(object) = self.objects.get_mut(hash) {
            object.is_stored = true;
        }
    }

    /// Releases a pin. A content that no record names by now is not counted any more; the next sweep removes it.
    pub(crate) fn unpin(&mut self, hash: &blake3::Hash) {
        self.release(hash);
    }

    /// Records that unreadable lines were found here: their facts about earlier checkpoints are unknown.
    pub(crate) fn damaged(&mut self) {
        self.usable_from = self.points.len();
        self.is_damaged = true;
    }

    /// `true` if lines were lost.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    pub(crate) fn has(&self, id: &EntryId) -> bool {
        self.by_id.contains_key(id)
    }

    /// `true` if the file was kept since the last checkpoint began.
    pub(crate) fn is_kept(&self, path: &Path) -> bool {
        self.points.last().is_some_and(|point| point.kept.contains_key(path))
    }

    pub(crate) fn has_object(&self, hash: &blake3::Hash) -> bool {
        self.objects.contains_key(hash)
    }

    /// Returns the state of a file as tools and rewinds left it, if known.
    pub(crate) fn left(&self, path: &Path) -> Option<&State> {
        self.left.get(path).map(|left| &left.state)
    }

    /// `true` if others have changed the file between tools, since a checkpoint.
    pub(crate) fn others_since(&self, to: &EntryId, path: &Path) -> bool {
        let at = self.by_id.get(to);
        at.zip(self.others.get(path)).is_some_and(|(at, before)| at < before)
    }

    /// `true` if others have changed the file to this state, and that is not recorded yet.
    pub(crate) fn is_new_to_others(&self, path: &Path, now: &State) -> bool {
        let is_recorded = |left: &LeftState| self.others.get(path).is_some_and(|before| *before > left.at);
        self.left.get(path).is_some_and(|left| !left.state.is_same(now) && !is_recorded(left))
    }

    /// Returns the files that tools and programs of the session have changed, as far as their resulting state is known.
    pub(crate) fn tracked(&self) -> Vec<PathBuf> {
        self.left.keys().cloned().collect()
    }

    /// Returns the tracked files that were kept since the last checkpoint began.
    pub(crate) fn tracked_and_kept(&self) -> Vec<PathBuf> {
        self.left.keys().filter(|path| self.is_kept(path)).cloned().collect()
    }

    pub(crate) fn list(&self) -> Vec<Checkpoint> {
        let usable = self.points.iter().skip(self.usable_from);
        let listed = |point: &Point| {
            let listed = Checkpoint::new(point.id.clone(), point.kind.into(), point.at, point.kept.len());
            listed.without(point.left_out.clone())
        };
        usable.map(listed).collect()
    }

    /// Returns the states of files at a checkpoint: of all that were kept since.
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

    /// `true` if `size` more bytes are within the limit.
    pub(crate) fn fits(&self, size: u64, limit: u64) -> bool {
        self.bytes.saturating_add(size) <= limit
    }

    /// Frees space for `size` bytes below a limit, by dropping the contents of the oldest checkpoints, but never of
    /// `needed` and later ones, nor of the last one. Returns the record to write and the contents to remove. If the
    /// space would still not suffice, returns `None` and drops no content.
    pub(crate) fn make_room(&mut self, size: u64, limit: u64, needed: Option<&EntryId>) -> Option<Room> {
        let last = self.points.len().saturating_sub(1);
        let end = needed.and_then(|id| self.by_id.get(id)).map_or(last, |at| last.min(*at));
        let drop_count = self.drop_count(size, limit, end)?;
        let mut room = Room::default();
        for at in 0..drop_count {
            room.removed.extend(self.drop_point(at));
        }
        room.through = drop_count.checked_sub(1).and_then(|at| self.points.get(at)).map(|point| point.id.clone());
        Some(room)
    }

    /// Returns the number of the first `end` checkpoints that must be dropped until `size` bytes are within the limit.
    fn drop_count(&self, size: u64, limit: u64, end: usize) -> Option<usize> {
        let mut bytes = self.bytes;
        let mut uses: HashMap<&blake3::Hash, usize> = HashMap::new();
        for (at, point) in self.points.iter().enumerate() {
            if bytes.saturating_add(size) <= limit {
                return Some(at);
            }
            if at >= end {
                return None;
            }
            let kept = if point.is_dropped { None } else { Some(point.kept.values()) };
            for state in kept.into_iter().flatten() {
                let State::File { hash, .. } = state else { continue };
                let Some(object) = self.objects.get(hash) else { continue };
                let dropped = uses.entry(hash).or_default();
                *dropped += 1;
                if *dropped == object.uses {
                    bytes = bytes.saturating_sub(object.size);
                }
            }
        }
        (bytes.saturating_add(size) <= limit).then_some(self.points.len())
    }

    /// Drops the contents of a checkpoint. Returns those that neither another checkpoint nor a pin needs.
    fn drop_point(&mut self, at: usize) -> Vec<blake3::Hash> {
        let Some(point) = self.points.get_mut(at).filter(|point| !point.is_dropped) else { return Vec::new() };
        point.is_dropped = true;
        let mut dropped = Vec::new();
        for state in point.kept.values_mut() {
            let State::File { hash, .. } = &*state else { continue };
            dropped.push(*hash);
            *state = State::Unkept { why: DROPPED.to_owned() };
        }
        dropped.retain(|hash| self.release(hash));
        dropped
    }

    /// Returns the history in as few records as possible, without the oldest checkpoints if these contain more than
    /// `most` files in all.
    pub(crate) fn records(&self, most: usize) -> Vec<Record> {
        let mut files = 0;
        let recent = self.points.iter().skip(self.usable_from).rev();
        let number = recent
            .take_while(|point| {
                files += point.kept.len() + 1;
                files <= most
            })
            .count();
        let first = self.points.len() - number;
        let mut records = Vec::new();
        let mut left = self.left.iter().take(most).collect::<Vec<_>>();
        left.sort_by_key(|(_, left)| left.at);
        let mut left = left.into_iter().peekable();
        let mut push_left_until = |at: usize, records: &mut Vec<Record>| {
            while let Some((path, left)) = left.next_if(|(_, left)| left.at < at) {
                records.push(Record::Left { path: path.clone(), state: left.state.clone() });
            }
        };
        push_left_until(first, &mut records);
        for (at, point) in self.points.iter().enumerate().skip(first) {
            records.push(Record::Begin { id: point.id.clone(), kind: point.kind, at: point.at });
            records.extend(point.kept.iter().map(|(path, state)| Record::Kept {
                id: point.id.clone(),
                tool: None,
                path: path.clone(),
                state: state.clone(),
            }));
            records.extend(point.left_out.iter().map(|left| Record::LeftOut {
                id: point.id.clone(),
                path: left.path.clone(),
                why: left.reason.clone(),
            }));
            let others = self.others.iter().filter(|(_, before)| **before == at + 1);
            records.extend(others.map(|(path, _)| Record::Others { path: path.clone() }));
            push_left_until(at + 1, &mut records);
        }
        records
    }
}

/// Result of dropping contents.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    /// Last checkpoint whose contents are dropped.
    pub(crate) through: Option<EntryId>,
    /// Contents that can be removed.
    pub(crate) removed: Vec<blake3::Hash>,
}

#[cfg(test)]
mod tests;

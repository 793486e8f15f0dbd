//! Assignment of pieces to calls.

use std::collections::HashMap;
use windlass_types::JsonText;

/// Maximum number of calls of one message.
const MAX_CALLS: usize = 1_000;

/// Piece of a call in a delta.
#[derive(Debug, Default)]
pub(super) struct CallPiece<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'a str>,
    pub(super) name: Option<String>,
    pub(super) arguments: Option<String>,
    pub(super) extra: Option<JsonText>,
}

/// Call, as far as it has arrived.
#[derive(Debug, Default)]
pub(super) struct PartialCall {
    /// Id that the server gave the call.
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    /// Arguments that are not passed on yet.
    pub(super) arguments: String,
    /// Extra content that is sent back with the call.
    pub(super) extra: Option<JsonText>,
    has_arguments: bool,
}

impl PartialCall {
    /// `true` if nothing of the call has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.name.is_none() && !self.has_arguments
    }
}

/// Calls of one message.
///
/// Servers write indexes from zero, from one, always zero or not at all, and ids once, in each piece, late, empty or
/// not at all. A known id decides. A new id is a new call, even at a used index. Without an id the index decides, and
/// without both the piece belongs to the latest call. Valid JSON in the arguments never ends a call: a beginning can be
/// valid already.
#[derive(Debug, Default)]
pub(super) struct PartialCalls {
    list: Vec<PartialCall>,
    by_id: HashMap<String, usize>,
    by_index: HashMap<u64, usize>,
    current: Option<usize>,
}

impl PartialCalls {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn first(&mut self) -> Option<&mut PartialCall> {
        self.list.first_mut()
    }

    pub(super) fn take(&mut self) -> Vec<PartialCall> {
        std::mem::take(&mut self.list)
    }

    /// Adds a piece. `false` if there are too many calls.
    pub(super) fn add(&mut self, piece: CallPiece<'_>) -> bool {
        let id = piece.id.filter(|id| !id.is_empty());
        let name = piece.name.filter(|name| !name.is_empty());
        let at = self.find(piece.index, id, name.as_deref()).unwrap_or(self.list.len());
        if at == self.list.len() {
            if at == MAX_CALLS {
                return false;
            }
            self.list.push(PartialCall::default());
        }
        self.current = Some(at);
        if let Some(index) = piece.index {
            self.by_index.insert(index, at);
        }
        let Some(call) = self.list.get_mut(at) else { return false };
        if let Some(id) = id
            && call.id.is_none()
        {
            call.id = Some(id.to_owned());
            self.by_id.insert(id.to_owned(), at);
        }
        if call.name.is_none() {
            call.name = name;
        }
        if let Some(arguments) = piece.arguments.filter(|arguments| !arguments.is_empty()) {
            call.has_arguments = true;
            if call.arguments.is_empty() {
                call.arguments = arguments;
            } else {
                call.arguments.push_str(&arguments);
            }
        }
        if piece.extra.is_some() {
            call.extra = piece.extra;
        }
        true
    }

    /// Returns the call of a piece; `None` if the piece begins a new one.
    fn find(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        if let Some(at) = id.and_then(|id| self.by_id.get(id)) {
            return Some(*at);
        }
        let at = match index {
            Some(index) => *self.by_index.get(&index)?,
            None => self.current?,
        };
        let call = self.list.get(at)?;
        let is_new = match (id, name, call.name.as_deref()) {
            // An id may come late, but only once.
            (Some(_), name, before) => call.id.is_some() || (name.is_some() && before.is_some()),
            // A name comes once, except from servers that repeat all of it in each piece of an index.
            (None, Some(name), Some(before)) => index.is_none() || name != before,
            _ => false,
        };
        (!is_new).then_some(at)
    }
}

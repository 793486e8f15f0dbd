//! Shortens instructions that exceed the size limit.

use super::Instruction;
use crate::note::Notes;
use windlass_context::InstructionSource;

/// Maximum number of characters of one file.
const MOST_OF_ONE: usize = 40_000;

/// Cuts instructions to the remaining room, which is reduced. They keep their order; the least important is cut first.
pub(super) fn fit(found: Vec<Instruction>, room: &mut usize, notes: &mut Notes) -> Vec<Instruction> {
    let mut order: Vec<usize> = (0..found.len()).collect();
    // Among files of one source, those read last are nearest to the start, and are the most important.
    order.sort_by_key(|at| (found.get(*at).map(rank), std::cmp::Reverse(*at)));
    let mut granted = vec![0_usize; found.len()];
    for at in order {
        if let (Some(instruction), Some(granted)) = (found.get(at), granted.get_mut(at)) {
            *granted = instruction.content.trim().chars().count().min(MOST_OF_ONE).min(*room);
            *room = room.saturating_sub(*granted);
        }
    }
    let cut = found.into_iter().zip(granted).map(|(instruction, granted)| instruction.cut_to(granted));
    let kept: Vec<Instruction> = cut.inspect(|instruction| note(instruction, notes)).collect();
    kept.into_iter().filter(|instruction| !instruction.content.is_empty()).collect()
}

/// Returns the rank of an instruction: the smaller, the later it is cut.
fn rank(instruction: &Instruction) -> u8 {
    let of_source = match instruction.source {
        InstructionSource::Managed => 0,
        InstructionSource::Local => 1,
        InstructionSource::Project => 2,
        _ => 3,
    };
    of_source + if instruction.imported_by.is_some() { 4 } else { 0 }
}

fn note(instruction: &Instruction, notes: &mut Notes) {
    if instruction.left_out > 0 {
        let text = format!("the last {} characters are left out: the instructions are too long", instruction.left_out);
        notes.add(&instruction.path, text);
    }
}

impl Instruction {
    /// Returns the instruction with at most so many characters, cut behind a line, and a note at its end on the missing
    /// part.
    fn cut_to(mut self, most: usize) -> Self {
        let all = self.content.trim();
        let Some((end, _)) = all.char_indices().nth(most) else {
            self.content = all.to_owned();
            return self;
        };
        let kept = all.get(..end).unwrap_or_default();
        let kept = kept.rfind('\n').and_then(|line| kept.get(..line)).unwrap_or(kept).trim_end();
        self.left_out = all.chars().count().saturating_sub(kept.chars().count());
        self.content = match kept {
            "" => String::new(),
            kept => format!("{kept}\n[The rest is left out: it is too long. Read the file for it.]"),
        };
        self
    }
}

//! Shortens instructions that exceed the size limit.

use super::Instruction;
use crate::note::Notes;
use windlass_context::InstructionSource;

/// Maximum number of characters of one file.
const MAX_FILE_CHARS: usize = 40_000;

/// Cuts instructions to the remaining `room`, and reduces it. The order is kept; the least important are cut first.
pub(super) fn fit(found: Vec<Instruction>, room: &mut usize, notes: &mut Notes) -> Vec<Instruction> {
    let mut order: Vec<usize> = (0..found.len()).collect();
    // Among files of one source, those read last are nearest to the start, and are the most important.
    order.sort_by_key(|index| (found.get(*index).map(rank), std::cmp::Reverse(*index)));
    let mut granted = vec![0_usize; found.len()];
    for index in order {
        if let (Some(instruction), Some(granted)) = (found.get(index), granted.get_mut(index)) {
            *granted = instruction.content.trim().chars().count().min(MAX_FILE_CHARS).min(*room);
            *room = room.saturating_sub(*granted);
        }
    }
    let shortened = found.into_iter().zip(granted).map(|(instruction, granted)| instruction.cut_to(granted));
    let fitted: Vec<Instruction> = shortened.inspect(|instruction| note(instruction, notes)).collect();
    fitted.into_iter().filter(|instruction| !instruction.content.is_empty()).collect()
}

/// Returns the rank of an instruction: the smaller, the later it is cut.
fn rank(instruction: &Instruction) -> u8 {
    let source_rank = match instruction.source {
        InstructionSource::Managed => 0,
        InstructionSource::Local => 1,
        InstructionSource::Project => 2,
        _ => 3,
    };
    source_rank + if instruction.imported_by.is_some() { 4 } else { 0 }
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
    fn cut_to(mut self, max_chars: usize) -> Self {
        let text = self.content.trim();
        let Some((end, _)) = text.char_indices().nth(max_chars) else {
            self.content = text.to_owned();
            return self;
        };
        let beginning = text.get(..end).unwrap_or_default();
        let beginning = beginning.rfind('\n').and_then(|line| beginning.get(..line)).unwrap_or(beginning).trim_end();
        self.left_out = text.chars().count().saturating_sub(beginning.chars().count());
        self.content = match beginning {
            "" => String::new(),
            beginning => format!("{beginning}\n[The rest is left out: it is too long. Read the file for it.]"),
        };
        self
    }
}

//! A program in the language of the kernel's filters (classic BPF, `linux/filter.h`).

use seccompiler::{BpfProgram, sock_filter};

/// Program that is written from its end: jumps lead forward only, so their targets already exist.
#[derive(Default)]
pub(super) struct Program {
    backwards: BpfProgram,
}

/// Instruction, by its distance from the end of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(usize);

/// Test of the value that was loaded last.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    Equal,
    AtLeast,
    AnyBit,
}

/// A jump would be longer than the language can express.
#[derive(Debug, thiserror::Error)]
#[error("the filter is too long")]
pub(super) struct TooFar;

impl Program {
    /// Ends the program with an answer.
    pub(super) fn answer(&mut self, answer: u32) -> Label {
        self.push(0x06, 0, 0, answer)
    }

    /// Loads four bytes of the description of the call, and continues at `next`.
    pub(super) fn load(&mut self, offset: u32, next: Label) -> Label {
        let distance = self.distance(next);
        if distance > 0 {
            self.push(0x05, 0, 0, u32::try_from(distance).unwrap_or(u32::MAX));
        }
        self.push(0x20, 0, 0, offset)
    }

    /// Continues at `yes` or `no`, depending on the loaded value.
    pub(super) fn branch(&mut self, test: Test, value: u32, yes: Label, no: Label) -> Result<Label, TooFar> {
        let code = match test {
            Test::Equal => 0x15,
            Test::AtLeast => 0x35,
            Test::AnyBit => 0x45,
        };
        let short = |distance: usize| u8::try_from(distance).map_err(|_| TooFar);
        let (yes, no) = (short(self.distance(yes))?, short(self.distance(no))?);
        Ok(self.push(code, yes, no, value))
    }

    /// Returns the program, which begins with the instruction that was written last.
    pub(super) fn finish(mut self) -> BpfProgram {
        self.backwards.reverse();
        self.backwards
    }

    /// Returns the number of instructions that a jump written now skips.
    fn distance(&self, label: Label) -> usize {
        self.backwards.len().saturating_sub(label.0).saturating_sub(1)
    }

    fn push(&mut self, code: u16, jt: u8, jf: u8, k: u32) -> Label {
        self.backwards.push(sock_filter { code, jt, jf, k });
        Label(self.backwards.len().saturating_sub(1))
    }
}

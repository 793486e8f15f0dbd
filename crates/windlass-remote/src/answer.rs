//! Answers of a remote shell: bytes, and the line that ends them.

use crate::connection::position;

/// Answer of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Zero, or the reason of a failure: see `far/files.sh`.
    pub(crate) code: i32,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Parts of the body, each terminated by a NUL, except the last.
    pub(crate) fn parts(&self) -> Vec<&[u8]> {
        self.body.split(|byte| *byte == 0).collect()
    }
}

/// Detector of an answer's end: a line with a secret mark, and a code.
#[derive(Debug)]
pub(crate) struct Ending {
    mark: Vec<u8>,
    looked: usize,
}

impl Ending {
    pub(crate) fn new(mark: &str) -> Self {
        Self { mark: format!("{mark} ").into_bytes(), looked: 0 }
    }

    /// Takes the answer from the bytes, if it is complete.
    pub(crate) fn find(&mut self, bytes: &mut Vec<u8>) -> Option<Answer> {
        let from = self.looked.saturating_sub(self.mark.len());
        let Some(at) = position(bytes.get(from..)?, &self.mark).map(|at| at.saturating_add(from)) else {
            self.looked = bytes.len();
            return None;
        };
        let line = bytes.get(at.saturating_add(self.mark.len())..)?;
        let line = line.get(..line.iter().position(|byte| *byte == b'\n')?)?;
        let code = std::str::from_utf8(line).ok()?.parse().ok()?;
        // The line end before the mark belongs to it.
        bytes.truncate(at.saturating_sub(1));
        Some(Answer { code, body: std::mem::take(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_however_it_comes() {
        let whole = b"some\0bytes\n\nabcd 17\n";
        for cut in 0..whole.len() {
            let (mut ending, mut bytes) = (Ending::new("abcd"), whole[..cut].to_vec());
            assert_eq!(ending.find(&mut bytes), None, "{cut}");
            bytes.extend(&whole[cut..]);
            let answer = ending.find(&mut bytes).unwrap();
            assert_eq!((answer.code, answer.body.as_slice()), (17, b"some\0bytes\n".as_slice()), "{cut}");
            assert_eq!(answer.parts(), [b"some".as_slice(), b"bytes\n"]);
        }
    }

    #[test]
    fn an_empty_answer_has_no_bytes() {
        for whole in [b"\nabcd 0\n".as_slice(), b"abcd 0\n"] {
            let answer = Ending::new("abcd").find(&mut whole.to_vec()).unwrap();
            assert_eq!((answer.code, answer.body.len()), (0, 0));
        }
    }
}

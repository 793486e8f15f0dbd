//! Reports of the remote script among the errors of a program: after a mark that the program does not know.

use crate::connection::position;

/// Splits an error stream: noise of the connecting program, output of the remote program, and reports of the script.
#[derive(Debug)]
pub(crate) struct Said {
    mark: Vec<u8>,
    held: Vec<u8>,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// No report yet: all is noise.
    Before,
    /// The program runs.
    Begun,
    /// The rest of the stream is the end report.
    Over,
}

/// End of a remote program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) code: i32,
    /// Number of processes that it left, which were stopped.
    pub(crate) stopped: usize,
    /// Reported final directory.
    pub(crate) rest: Vec<u8>,
}

/// Maximum number of bytes of noise kept for an error.
const NOISE: usize = 4 * 1024;

impl Said {
    pub(crate) fn new(mark: &str) -> Self {
        Self { mark: format!("{mark} ").into_bytes(), held: Vec::new(), state: State::Before }
    }

    /// Takes the next bytes, and returns those of the program's output.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        if self.state == State::Before {
            match self.word(b"begun\n") {
                Some(after) => {
                    self.held.drain(..after);
                    self.state = State::Begun;
                }
                None => {
                    let excess = self.held.len().saturating_sub(NOISE);
                    if position(&self.held, &self.mark).is_none() {
                        self.held.drain(..excess);
                    }
                    return Vec::new();
                }
            }
        }
        if self.state == State::Over {
            return Vec::new();
        }
        let passed = match position(&self.held, &self.mark) {
            Some(at) => {
                self.state = State::Over;
                at
            }
            // The mark may be cut in two.
            None => self.held.len().saturating_sub(self.mark.len()),
        };
        self.held.drain(..passed).collect()
    }

    /// `true` if the program runs, or has.
    pub(crate) fn has_begun(&self) -> bool {
        self.state != State::Before
    }

    /// Reason why the program did not begin, as reported by the script; else the noise.
    pub(crate) fn why_not(&self) -> Result<&str, &[u8]> {
        let said = position(&self.held, &self.mark).and_then(|at| {
            let rest = self.held.get(at.checked_add(self.mark.len())?..)?;
            std::str::from_utf8(rest.get(..rest.iter().position(|byte| *byte == b'\n')?)?).ok()
        });
        said.ok_or(&self.held)
    }

    /// Rest of an ended stream: the last bytes of a program without an end report, and the end report.
    pub(crate) fn finish(self) -> (Vec<u8>, Option<End>) {
        match self.state {
            State::Over => (Vec::new(), self.end()),
            State::Begun => (self.held, None),
            State::Before => (Vec::new(), None),
        }
    }

    fn end(&self) -> Option<End> {
        let rest = self.held.strip_prefix(self.mark.as_slice())?;
        let at = rest.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = rest.split_at_checked(at)?;
        let mut words = std::str::from_utf8(line).ok()?.strip_prefix("end ")?.split(' ');
        let (code, stopped) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(End { code, stopped, rest: rest.get(1..)?.to_vec() })
    }

    /// Position after a word.
    fn word(&self, word: &[u8]) -> Option<usize> {
        let whole = [self.mark.as_slice(), word].concat();
        Some(position(&self.held, &whole)?.saturating_add(whole.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_parted_however_it_comes() {
        let whole = b"Warning: noise\nm4rk begun\nerr m4r m4rk\nor\nm4rk end 3 1\n/some/where\n";
        for cut in 0..whole.len() {
            let mut said = Said::new("m4rk");
            let mut written = said.take(&whole[..cut]);
            written.extend(said.take(&whole[cut..]));
            let (rest, end) = said.finish();
            written.extend(rest);
            // Nobody knows the mark with a blank after it: without one it is not meant.
            assert_eq!(String::from_utf8(written).unwrap(), "err m4r m4rk\nor\n", "{cut}");
            assert_eq!(end, Some(End { code: 3, stopped: 1, rest: b"/some/where\n".to_vec() }), "{cut}");
        }
    }

    #[test]
    fn what_did_not_begin_says_why() {
        let mut said = Said::new("m4rk");
        assert!(said.take(b"ssh: no route\n").is_empty() && !said.has_begun());
        assert_eq!(said.why_not(), Err(b"ssh: no route\n".as_slice()));
        said.take(b"m4rk folder\n");
        assert_eq!(said.why_not(), Ok("folder"));
    }

    #[test]
    fn a_stream_that_breaks_off_has_no_end() {
        for cut in ["m4rk begun\nsome", "m4rk begun\nsomem4rk end", "m4rk begun\nsomem4rk end 3 1"] {
            let mut said = Said::new("m4rk");
            let mut written = said.take(cut.as_bytes());
            let (rest, end) = said.finish();
            written.extend(rest);
            assert_eq!((written.as_slice(), end), (b"some".as_slice(), None), "{cut}");
        }
    }
}

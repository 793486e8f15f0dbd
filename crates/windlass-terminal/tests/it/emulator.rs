//! A strict emulator behind a writer.

use std::cell::RefCell;
use std::io::{self, Write};
use std::num::NonZeroU16;
use std::rc::Rc;
use windlass_terminal::screen::Size;

/// A terminal of `vt100`, shared between the screen that writes and the test that looks.
#[derive(Clone)]
pub(crate) struct Emulator {
    parser: Rc<RefCell<vt100::Parser>>,
    written: Rc<RefCell<Vec<u8>>>,
}

fn part(size: usize) -> NonZeroU16 {
    NonZeroU16::new(u16::try_from(size).unwrap()).unwrap()
}

impl Emulator {
    pub(crate) fn new(size: Size) -> Self {
        let parser = vt100::Parser::new(part(size.rows()), part(size.columns()), 100_000);
        Self { parser: Rc::new(RefCell::new(parser)), written: Rc::default() }
    }

    /// Keeps no further rows that leave the screen.
    pub(crate) fn forget_scrollback(&self) {
        let (rows, columns) = self.parser.borrow().screen().size();
        *self.parser.borrow_mut() = vt100::Parser::new(rows, columns, 0);
    }

    pub(crate) fn resize(&self, size: Size) {
        self.parser.borrow_mut().screen_mut().set_size(part(size.rows()), part(size.columns()));
    }

    /// Bytes written since the last call.
    pub(crate) fn take_written(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.written.borrow_mut())).unwrap()
    }

    /// Rows that are on the screen, without blanks at their ends.
    pub(crate) fn rows(&self) -> Vec<String> {
        let parser = self.parser.borrow();
        let (_, columns) = parser.screen().size();
        parser.screen().rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    /// All rows of scrollback and screen, without empty rows at the end.
    pub(crate) fn all_rows(&self) -> Vec<String> {
        let length = self.parser.borrow().screen().scrollback_len();
        let mut all = Vec::new();
        for offset in (1..=length).rev() {
            self.parser.borrow_mut().screen_mut().set_scrollback(offset);
            all.push(self.rows().swap_remove(0));
        }
        self.parser.borrow_mut().screen_mut().set_scrollback(0);
        all.extend(self.rows());
        while all.last().is_some_and(String::is_empty) {
            all.pop();
        }
        all
    }

    pub(crate) fn cursor(&self) -> (usize, usize) {
        let (row, column) = self.parser.borrow().screen().cursor_position();
        (row.into(), column.into())
    }

    pub(crate) fn with<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.parser.borrow().screen())
    }
}

impl Write for Emulator {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.parser.borrow_mut().process(bytes);
        self.written.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

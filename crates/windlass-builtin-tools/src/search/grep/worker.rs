//! Search of one file after the other.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink};
use ignore::DirEntry;

use super::filter::Filter;
use super::query::{GrepMode, GrepQuery};
use super::sink::{Count, FirstMatch, Lines};
use super::window::Window;
use crate::search::newest::Newest;
use crate::search::walk::{Interrupt, Scope, Worker};
use crate::workspace::dir;

/// Maximum size in bytes of files that are read in one go.
const WHOLE: u64 = 1024 * 1024;

/// Maximum size in bytes of a line, and of a file that is searched across lines.
const MAX_BUFFER: usize = 32 * 1024 * 1024;

/// Shared counts of the workers.
#[derive(Debug, Default)]
pub(super) struct Tally {
    files: AtomicUsize,
    lines: AtomicU64,
    too_large: AtomicUsize,
    unreadable: AtomicUsize,
}

impl Tally {
    pub(super) fn totals(&self) -> (usize, u64) {
        (self.files.load(Ordering::Relaxed), self.lines.load(Ordering::Relaxed))
    }

    pub(super) fn unreadable(&self) -> usize {
        self.unreadable.load(Ordering::Relaxed)
    }

    pub(super) fn too_large(&self) -> usize {
        self.too_large.load(Ordering::Relaxed)
    }
}

/// Shared results of all workers.
#[derive(Clone, Copy)]
pub(super) struct Shared<'s> {
    pub(super) query: &'s GrepQuery,
    pub(super) scope: Scope<'s>,
    pub(super) filter: &'s Filter,
    pub(super) window: &'s Window,
    pub(super) newest: &'s Mutex<Newest>,
    pub(super) tally: &'s Tally,
}

pub(super) struct FileWorker<'s> {
    shared: Shared<'s>,
    // Each worker has its own, so that none waits for another's scratch space.
    matcher: RegexMatcher,
    reader: Reader<'s>,
    newest: Newest,
}

impl<'s> FileWorker<'s> {
    pub(super) fn new(shared: Shared<'s>, matcher: &RegexMatcher, wanted: usize) -> Self {
        let query = shared.query;
        let with_context = query.mode == GrepMode::Content && !query.only_matching;
        let line_end = matcher.line_terminator().unwrap_or_default();
        let searcher = SearcherBuilder::new()
            .line_terminator(line_end)
            .line_number(query.mode == GrepMode::Content)
            .multi_line(query.multiline)
            .before_context(if with_context { query.before } else { 0 })
            .after_context(if with_context { query.after } else { 0 })
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MAX_BUFFER))
            .build();
        Self {
            shared,
            matcher: matcher.clone(),
            reader: Reader { searcher, content: Vec::new(), interrupt: shared.scope.interrupt },
            newest: Newest::new(wanted),
        }
    }

    /// `true` if a file or folder can still add to the result. Counts need all of them.
    fn is_wanted(&self, path: &Path) -> bool {
        self.shared.query.mode != GrepMode::Content || self.shared.window.wants(path)
    }

    /// `true` if a file is to be searched; one that was `named` itself always is.
    pub(super) fn wants(&self, path: &Path, named: bool) -> bool {
        (named || self.shared.filter.accepts(path)) && (self.shared.scope.allowed)(path) && self.is_wanted(path)
    }

    /// Searches the given content of a file.
    pub(super) fn search_content(&mut self, path: &Path, modified: SystemTime, content: &[u8]) {
        if self.search(path, &Content::Here(content), modified).is_err() {
            self.shared.tally.too_large.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn search(&mut self, path: &Path, content: &Content<'_>, modified: SystemTime) -> io::Result<()> {
        let Self { shared, matcher, reader, newest } = self;
        let query = shared.query;
        match query.mode {
            GrepMode::Files => {
                let mut sink = FirstMatch::default();
                reader.run(matcher, content, &mut sink)?;
                if sink.found {
                    newest.offer(modified, path);
                }
            }
            GrepMode::Counts => {
                let mut sink = Count::new(matcher, query.multiline);
                reader.run(matcher, content, &mut sink)?;
                if sink.count > 0 {
                    shared.tally.files.fetch_add(1, Ordering::Relaxed);
                    shared.tally.lines.fetch_add(sink.count, Ordering::Relaxed);
                    shared.window.add_count(path.to_owned(), sink.count);
                }
            }
            GrepMode::Content => {
                let grouped = !query.only_matching && (query.before > 0 || query.after > 0);
                let mut sink = Lines::new(matcher, query.only_matching, grouped, shared.window.need());
                reader.run(matcher, content, &mut sink)?;
                let cut = sink.is_full();
                if !sink.lines.is_empty() {
                    shared.window.add_lines(path.to_owned(), sink.lines, sink.weight, cut);
                }
            }
        }
        Ok(())
    }
}

/// Content to search.
enum Content<'c> {
    /// An open file, and its size according to the system.
    File(&'c File, u64),
    Here(&'c [u8]),
}

/// Reads the content of one file after the other for the searcher.
struct Reader<'s> {
    searcher: Searcher,
    content: Vec<u8>,
    interrupt: &'s (dyn Fn() -> Option<Interrupt> + Sync),
}

impl Reader<'_> {
    fn run<S: Sink<Error = io::Error>>(
        &mut self,
        matcher: &RegexMatcher,
        content: &Content<'_>,
        sink: S,
    ) -> io::Result<()> {
        let (mut file, size) = match *content {
            Content::Here(content) => return self.searcher.search_slice(matcher, content, sink),
            Content::File(file, size) => (file, size),
        };
        // Some files of the system report zero bytes and are not empty.
        if size == 0 || size > WHOLE {
            let checked = Checked { inner: file, interrupt: self.interrupt };
            return self.searcher.search_reader(matcher, checked, sink);
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if self.content.len() < size {
            self.content.resize(size, 0);
        }
        let mut read = 0;
        while let Some(room) = self.content.get_mut(read..size)
            && !room.is_empty()
        {
            match file.read(room) {
                Ok(0) => break,
                Ok(n) => read += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let content = self.content.get(..read).unwrap_or_default();
        self.searcher.search_slice(matcher, content, sink)
    }
}

impl Worker for FileWorker<'_> {
    fn enter(&mut self, directory: &Path) -> bool {
        self.shared.filter.enters(directory) && self.is_wanted(directory)
    }

    fn wants(&self, file: &Path) -> bool {
        Self::wants(self, file, false)
    }

    fn visit(&mut self, entry: &DirEntry, kind: FileType) -> Result<(), Interrupt> {
        let path = entry.path();
        let scope = self.shared.scope;
        // A file that was named itself is always searched.
        let named = entry.depth() == 0;
        if kind.is_symlink() || !Self::wants(self, path, named) {
            return Ok(());
        }
        // Opened without following any link, so that the judged file is the one that is read.
        let file = match dir::open_file(path) {
            Ok(file) => file,
            Err(error) => {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    self.shared.tally.unreadable.fetch_add(1, Ordering::Relaxed);
                }
                return Ok(());
            }
        };
        let Ok(meta) = file.metadata() else {
            return Ok(());
        };
        if !meta.is_file() {
            return Ok(());
        }
        let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        match self.search(path, &Content::File(&file, meta.len()), modified) {
            Ok(()) => Ok(()),
            Err(error) => match (scope.interrupt)() {
                Some(why) => Err(why),
                None => {
                    if error.raw_os_error().is_none() {
                        self.shared.tally.too_large.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                }
            },
        }
    }
}

impl Drop for FileWorker<'_> {
    fn drop(&mut self) {
        let mine = std::mem::take(&mut self.newest);
        self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner).absorb(mine);
    }
}

/// Ends the reading of a large file when the search is to end.
struct Checked<'s, R> {
    inner: R,
    interrupt: &'s (dyn Fn() -> Option<Interrupt> + Sync),
}

impl<R: Read> Read for Checked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.interrupt)().is_some() {
            return Err(io::Error::other("interrupted"));
        }
        self.inner.read(buffer)
    }
}

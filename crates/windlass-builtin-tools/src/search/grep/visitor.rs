//! Search of one file after the other.

use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink};
use windlass_tool::{FileVisitor, InterruptCheck, VisitedFile, WalkInterrupt};

use super::GrepJob;
use super::query::GrepMode;
use super::sink::{Count, FirstMatch, Lines};
use crate::search::newest::Newest;

/// Maximum size in bytes of files that are read in one go.
const MAX_WHOLE_READ: u64 = 1024 * 1024;

/// Maximum size in bytes of a line, and of a file that is searched across lines.
const MAX_BUFFER: usize = 32 * 1024 * 1024;

/// Counters that all visitors of a search share.
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

/// Visitor that searches the content of files.
pub(crate) struct ContentVisitor {
    job: Arc<GrepJob>,
    // Each visitor has its own, so that none waits for another's scratch space.
    matcher: RegexMatcher,
    reader: ContentReader,
    newest: Newest,
}

impl ContentVisitor {
    pub(crate) fn new(job: &Arc<GrepJob>) -> Self {
        let (query, matcher) = (&job.query, &job.matcher);
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
            job: Arc::clone(job),
            matcher: matcher.clone(),
            reader: ContentReader { searcher, content: Vec::new(), interrupt: Arc::clone(&job.interrupt) },
            newest: Newest::new(job.wanted),
        }
    }

    /// Searches the given content of a file.
    pub(crate) fn search_content(&mut self, path: &Path, modified: SystemTime, content: &[u8]) {
        if self.search(path, Content::Memory(content), modified).is_err() {
            self.job.tally.too_large.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn search(&mut self, path: &Path, content: Content<'_>, modified: SystemTime) -> io::Result<()> {
        let Self { job, matcher, reader, newest } = self;
        let query = &job.query;
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
                    job.tally.files.fetch_add(1, Ordering::Relaxed);
                    job.tally.lines.fetch_add(sink.count, Ordering::Relaxed);
                    job.window.add_count(path.to_owned(), sink.count);
                }
            }
            GrepMode::Content => {
                let grouped = !query.only_matching && (query.before > 0 || query.after > 0);
                let mut sink = Lines::new(matcher, query.only_matching, grouped, job.window.need());
                reader.run(matcher, content, &mut sink)?;
                let cut = sink.is_full();
                if !sink.lines.is_empty() {
                    job.window.add_lines(path.to_owned(), sink.lines, sink.weight, cut);
                }
            }
        }
        Ok(())
    }
}

/// Content to search.
enum Content<'c> {
    /// An open file, and its size in bytes according to the system.
    File(Box<dyn Read>, u64),
    Memory(&'c [u8]),
}

/// Reads the content of one file after the other for the searcher.
struct ContentReader {
    searcher: Searcher,
    content: Vec<u8>,
    interrupt: InterruptCheck,
}

impl ContentReader {
    fn run<S: Sink<Error = io::Error>>(
        &mut self,
        matcher: &RegexMatcher,
        content: Content<'_>,
        sink: S,
    ) -> io::Result<()> {
        let (mut file, size) = match content {
            Content::Memory(content) => return self.searcher.search_slice(matcher, content, sink),
            Content::File(file, size) => (file, size),
        };
        // Some files of the system report zero bytes and are not empty.
        if size == 0 || size > MAX_WHOLE_READ {
            let interruptible = InterruptedReader { inner: file, interrupt: &self.interrupt };
            return self.searcher.search_reader(matcher, interruptible, sink);
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

impl FileVisitor for ContentVisitor {
    fn enter(&mut self, directory: &Path) -> bool {
        self.job.enters(directory) && self.job.is_wanted(directory)
    }

    fn wants(&self, file: &Path) -> bool {
        self.job.wants(file, false)
    }

    fn visit(&mut self, file: &mut dyn VisitedFile) -> Result<(), WalkInterrupt> {
        // A file that was named itself is always searched.
        if file.is_link() || !self.job.wants(file.path(), file.is_root()) {
            return Ok(());
        }
        let opened = match file.open() {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(()),
            Err(error) => {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    self.job.tally.unreadable.fetch_add(1, Ordering::Relaxed);
                }
                return Ok(());
            }
        };
        match self.search(file.path(), Content::File(opened.reader, opened.size), opened.modified) {
            Ok(()) => Ok(()),
            Err(error) => match (self.job.interrupt)() {
                Some(reason) => Err(reason),
                None => {
                    if error.raw_os_error().is_none() {
                        self.job.tally.too_large.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                }
            },
        }
    }
}

impl Drop for ContentVisitor {
    fn drop(&mut self) {
        let newest = std::mem::take(&mut self.newest);
        self.job.newest.lock().unwrap_or_else(PoisonError::into_inner).absorb(newest);
    }
}

/// Ends the reading of a large file when the search is to end.
struct InterruptedReader<'s> {
    inner: Box<dyn Read>,
    interrupt: &'s InterruptCheck,
}

impl Read for InterruptedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.interrupt)().is_some() {
            return Err(io::Error::other("interrupted"));
        }
        self.inner.read(buffer)
    }
}

//! The debug log: diagnostics of the program in a private file, where the user asks for one.

use crate::host::Flags;
use crate::notes::note_to_stderr;
use crate::terminal::masks;
use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use windlass::Home;
use windlass::session::Masks;
use windlass::store::{create_private_dir, create_private_file};
use windlass::text::clean_line;
use windlass::tool::{Clock, SystemClock};

/// The variable that names the folder of debug logs.
const FOLDER: &str = "CLAUDE_CODE_DEBUG_LOGS_DIR";
/// Maximum bytes of a log.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum bytes of a line, its end included.
const MAX_LINE: usize = 16 * 1024;
/// The beginning of each log. A file that begins otherwise is not replaced.
const HEADER: &str = "windlass debug log";
/// The last line of a log that has reached its limit.
const FULL: &str = "the log is full: later events are left out\n";

/// The place of the debug log that the user asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DebugLogPlace {
    /// This file.
    File(PathBuf),
    /// A new file in this folder.
    Folder(PathBuf),
}

impl DebugLogPlace {
    /// Returns the place that the flags or the environment name. `None`, the usual case, means no log.
    pub(crate) fn of(file: Option<&Path>, debug: bool, folder: Option<OsString>) -> Option<Self> {
        let folder = folder.filter(|folder| !folder.is_empty()).map(PathBuf::from);
        match (file.filter(|file| !file.as_os_str().is_empty()), folder) {
            (Some(file), _) => Some(Self::File(file.to_owned())),
            (None, Some(folder)) => Some(Self::Folder(folder)),
            (None, None) if debug => Home::from_env().ok().map(|home| Self::Folder(home.root().join("debug"))),
            (None, None) => None,
        }
    }

    /// The place that the flags of a host or the environment name.
    pub(crate) fn of_flags(flags: &Flags) -> Option<Self> {
        Self::of(flags.text("debug-file").map(Path::new), flags.has("debug"), folder())
    }

    fn open(&self, clock: &dyn Clock) -> io::Result<(PathBuf, File)> {
        match self {
            Self::File(file) => {
                remove_earlier(file)?;
                Ok((file.clone(), create_private_file(file)?))
            }
            Self::Folder(folder) => {
                create_private_dir(folder)?;
                let time = clock.now().to_string().replace(':', "-");
                let file = folder.join(format!("windlass-{time}-{}.log", std::process::id()));
                let opened = create_private_file(&file)?;
                Ok((file, opened))
            }
        }
    }
}

/// The folder of debug logs that the environment names.
pub(crate) fn folder() -> Option<OsString> {
    std::env::var_os(FOLDER)
}

/// Removes the log of an earlier run.
///
/// # Errors
/// The file is something else than a debug log.
fn remove_earlier(file: &Path) -> io::Result<()> {
    let found = match file.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let mut first = Vec::new();
    if found.is_file() {
        let beginning = io::Read::take(File::open(file)?, HEADER.len() as u64);
        BufReader::new(beginning).read_until(b'\n', &mut first)?;
    }
    if first != HEADER.as_bytes() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is there already and is no debug log"));
    }
    std::fs::remove_file(file)
}

/// Writes diagnostics to the log from now on. If the log cannot be written, that is reported on standard error, and the
/// program continues.
pub(crate) fn start(place: Option<DebugLogPlace>) {
    let Some(place) = place else { return };
    let clock = SystemClock::default();
    let (path, file) = match place.open(&clock) {
        Ok(opened) => opened,
        Err(error) => {
            let (DebugLogPlace::File(path) | DebugLogPlace::Folder(path)) = &place;
            return note_to_stderr(&format!("there is no debug log: {} cannot be written: {error}", path.display()));
        }
    };
    let log = DebugLog::new(file, Box::new(clock), masks(), MAX_BYTES);
    log.line(&format!("{HEADER}: version {}, process {}", env!("CARGO_PKG_VERSION"), std::process::id()));
    // No other subscriber is set in this program.
    if tracing::subscriber::set_global_default(log).is_ok() {
        tracing::debug!(file = %path.display(), "the debug log begins");
    }
}

/// A subscriber that writes each event as a line. Spans have no lines.
struct DebugLog {
    output: Mutex<Output>,
    clock: Box<dyn Clock>,
    masks: Masks,
    spans: AtomicU64,
}

struct Output {
    file: File,
    left: u64,
}

impl DebugLog {
    fn new(file: File, clock: Box<dyn Clock>, masks: Masks, limit: u64) -> Self {
        let output = Mutex::new(Output { file, left: limit });
        Self { output, clock, masks, spans: AtomicU64::new(1) }
    }

    /// Writes a line, without secrets and control characters.
    fn line(&self, text: &str) {
        let mut line = clean_line(&self.masks.mask(text));
        let end = (0..MAX_LINE.min(line.len() + 1)).rev().find(|at| line.is_char_boundary(*at));
        line.truncate(end.unwrap_or_default());
        line.push('\n');
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write(&line);
    }
}

impl Output {
    fn write(&mut self, line: &str) {
        if self.left == 0 {
            return;
        }
        let (len, last) = (line.len() as u64, FULL.len() as u64);
        let (text, left) = match self.left.checked_sub(len) {
            Some(left) if left >= last => (line, left),
            _ => (FULL, 0),
        };
        self.left = left;
        // No output is left for a report.
        let _ = self.file.write_all(text.as_bytes());
    }
}

impl Subscriber for DebugLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed).max(1))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = EventText::default();
        event.record(&mut fields);
        let (time, about) = (self.clock.now(), event.metadata());
        let EventText { message, others } = fields;
        self.line(&format!("{time} {} {}: {message}{others}", about.level(), about.target()));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The fields of an event as text.
#[derive(Default)]
struct EventText {
    message: String,
    others: String,
}

impl Visit for EventText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.others, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 100_000;

    fn log(at: &Path) -> DebugLog {
        let masks = Masks::new().with_value("sekret-value-1234");
        DebugLog::new(create_private_file(at).unwrap(), Box::new(SystemClock::default()), masks, LIMIT)
    }

    #[test]
    fn events_are_lines_without_secrets_and_control_characters() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        tracing::subscriber::with_default(log(&file), || {
            tracing::warn!(path = "/a\nb", key = "sekret-value-1234", "went \u{1b}[31mwrong");
            tracing::trace!("left out");
            let _span = tracing::info_span!("span", key = "sekret-value-1234").entered();
            tracing::debug!("inside");
        });
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains(" WARN windlass::debug_log::tests: went ") && lines[1].ends_with("inside"), "{text}");
        assert!(!text.contains("sekret") && !text.contains('\u{1b}') && lines[0].contains("path="), "{text}");
    }

    #[test]
    fn a_log_is_bounded_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        let log = log(&file);
        for _ in 0..20 {
            log.line(&"é".repeat(MAX_LINE));
        }
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.len() as u64 <= LIMIT && text.len() as u64 > LIMIT - 2 * MAX_LINE as u64);
        assert!(text.ends_with(FULL) && text.lines().all(|line| line.len() < MAX_LINE));
    }

    #[test]
    fn only_logs_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        let place = DebugLogPlace::File(file.clone());
        for (before, replaced) in [(None, true), (Some(HEADER), true), (Some("windlass"), false), (Some(""), false)] {
            if let Some(before) = before {
                std::fs::write(&file, before).unwrap();
            }
            assert_eq!(place.open(&SystemClock::default()).is_ok(), replaced, "{before:?}");
            let _ = std::fs::remove_file(&file);
        }
        #[cfg(unix)]
        {
            std::fs::write(folder.path().join("other"), HEADER).unwrap();
            std::os::unix::fs::symlink("other", &file).unwrap();
            assert!(place.open(&SystemClock::default()).is_err());
        }
    }

    #[test]
    fn there_is_no_log_unless_it_is_asked_for() {
        let named = |text: &str| Some(OsString::from(text));
        assert_eq!(DebugLogPlace::of(None, false, None), None);
        assert_eq!(DebugLogPlace::of(Some(Path::new("")), false, named("")), None);
        assert_eq!(DebugLogPlace::of(None, true, named("d")), Some(DebugLogPlace::Folder("d".into())));
        assert_eq!(DebugLogPlace::of(Some(Path::new("f")), true, named("d")), Some(DebugLogPlace::File("f".into())));
    }
}

//! `windlass login` and `windlass logout`: the keys of vendors that are stored for this user.

use crate::failure::Usage;
use crate::jsonl;
use crate::terminal::{Terminal, clean_line};
use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use std::io::{Read as _, Write, stderr, stdin, stdout};
use windlass::provider::StoredKeys;

/// Vendor without one on the command line.
pub(crate) const USUAL: &str = "anthropic";
/// Maximum number of bytes that are read of standard input.
const MAX_INPUT_BYTES: u64 = 64 * 1024;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct LoginArgs {
    /// The vendor: the prefix of its models
    #[arg(value_name = "VENDOR", default_value = USUAL)]
    vendor: String,
    /// Print the vendors whose keys are stored, and store none
    #[arg(long, conflicts_with = "vendor")]
    list: bool,
    /// With --list: one JSON object
    #[arg(long, requires = "list")]
    json: bool,
}

impl LoginArgs {
    /// A login for this vendor.
    pub(crate) fn of(vendor: &str) -> Self {
        Self { vendor: vendor.to_owned(), list: false, json: false }
    }
}

const AFTER_HELP: &str = "\
The key is typed without being shown, or comes from standard input. It is kept in a file that only you can read. A key of
the program, of settings (`env`, `apiKeyHelper`) or of the environment counts before it. No command prints it.

Examples:
  windlass login
  windlass login openai < key.txt
  windlass login --list";

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// The vendor [default: the only one whose key is stored]
    #[arg(value_name = "VENDOR")]
    vendor: Option<String>,
}

/// Stores a key, and returns the exit code.
pub(crate) fn login(args: &LoginArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let keys = keys()?;
    if args.list {
        return list(&keys, args.json);
    }
    if StoredKeys::variables_of(&args.vendor).is_empty() {
        let known = StoredKeys::known_vendors().collect::<Vec<_>>().join(", ");
        return Err(Usage(format!("no vendor is named {:?}: there are {known}", args.vendor)).into());
    }
    let key = if terminal.stdin { typed(&args.vendor)? } else { piped()? };
    keys.store(&args.vendor, &key)?;
    let text = format!("the key of {} is stored in {}", args.vendor, keys.file().display());
    writeln!(stdout(), "{}", clean_line(&text))?;
    let is_set = |name: &&&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    if let Some(name) = StoredKeys::variables_of(&args.vendor).iter().find(is_set) {
        writeln!(stderr(), "windlass: {name} is set in the environment, and counts before the stored key")?;
    }
    Ok(0)
}

/// Removes a key, and returns the exit code: 1 if there was none.
pub(crate) fn logout(args: &LogoutArgs) -> anyhow::Result<i32> {
    let keys = keys()?;
    let vendor = match &args.vendor {
        Some(vendor) => vendor.clone(),
        None => only(keys.vendors()?)?,
    };
    let removed = keys.remove(&vendor).map_err(|error| Usage(error.to_string()))?;
    let text = match removed {
        true => format!("the key of {vendor} is no longer stored"),
        false => format!("no key of {vendor} is stored in {}", keys.file().display()),
    };
    writeln!(stdout(), "{}", clean_line(&text))?;
    Ok(i32::from(!removed))
}

/// Returns the only vendor whose key is stored.
fn only(mut vendors: Vec<String>) -> Result<String, Usage> {
    match (vendors.pop(), vendors.is_empty()) {
        (Some(vendor), true) => Ok(vendor),
        (Some(last), false) => {
            let text = format!("keys of several vendors are stored: add {} or {last}", vendors.join(", "));
            Err(Usage(text))
        }
        (None, _) => Err(Usage("no key is stored".to_owned())),
    }
}

fn list(keys: &StoredKeys, as_json: bool) -> anyhow::Result<i32> {
    let vendors = keys.vendors()?;
    let mut out = stdout().lock();
    if as_json {
        jsonl::write(&mut out, &json!({"file": keys.file(), "vendors": vendors}))?;
        return Ok(0);
    }
    for vendor in &vendors {
        writeln!(out, "{}", clean_line(vendor))?;
    }
    if vendors.is_empty() {
        writeln!(stderr(), "windlass: no key is stored; `windlass login` stores one")?;
    }
    Ok(0)
}

fn keys() -> Result<StoredKeys, Usage> {
    let keys = StoredKeys::from_lookup(|name| std::env::var(name).ok());
    keys.ok_or_else(|| Usage("there is no place for a key: set WINDLASS_HOME or HOME to an absolute path".to_owned()))
}

/// Reads the key from standard input.
fn piped() -> anyhow::Result<String> {
    let mut text = String::new();
    stdin()
        .lock()
        .take(MAX_INPUT_BYTES)
        .read_to_string(&mut text)
        .context("the key cannot be read from standard input")?;
    if text.trim().is_empty() {
        return Err(
            Usage("standard input has no key: pipe one, or run `windlass login` at a terminal".to_owned()).into()
        );
    }
    Ok(text)
}

/// Asks for the key at the terminal, without showing it.
#[cfg(unix)]
fn typed(vendor: &str) -> anyhow::Result<String> {
    write!(stderr(), "Key of {vendor} (is not shown): ")?;
    stderr().flush()?;
    let read = hidden::read_line();
    writeln!(stderr())?;
    match read.context("the key cannot be read from the terminal")? {
        Some(key) if !key.trim().is_empty() => Ok(key),
        _ => anyhow::bail!("no key was entered, and nothing was changed"),
    }
}

#[cfg(not(unix))]
fn typed(vendor: &str) -> anyhow::Result<String> {
    let text = format!("this terminal would show the key: pipe it, as in `windlass login {vendor} < key.txt`");
    Err(Usage(text).into())
}

/// Input that the terminal does not show.
#[cfg(unix)]
mod hidden {
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::io::{self, Stdin, stdin};

    const INTERRUPT: u8 = 0x03;
    const END: u8 = 0x04;
    const DELETE_LINE: u8 = 0x15;

    /// Modes of a terminal, restored when this is dropped.
    struct SavedModes {
        terminal: Stdin,
        modes: Termios,
    }

    impl SavedModes {
        /// Switches off echo, line editing and signal keys: Ctrl-C must not leave a terminal without echo.
        fn hide() -> io::Result<Self> {
            let terminal = stdin();
            let modes = tcgetattr(&terminal)?;
            let mut hidden = modes.clone();
            hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
            tcsetattr(&terminal, OptionalActions::Flush, &hidden)?;
            Ok(Self { terminal, modes })
        }
    }

    impl Drop for SavedModes {
        fn drop(&mut self) {
            // The terminal may be gone.
            let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.modes);
        }
    }

    /// Reads a line that is not shown. `None` if it is given up with Ctrl-C or Ctrl-D.
    pub(super) fn read_line() -> io::Result<Option<String>> {
        let saved = SavedModes::hide()?;
        line(saved.terminal.lock())
    }

    fn line(input: impl io::Read) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        // One byte at a time: a buffer would take what is meant for the next reader.
        #[expect(clippy::unbuffered_bytes, reason = "reads a line and nothing behind it")]
        for byte in input.bytes() {
            match byte? {
                b'\r' | b'\n' => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
                INTERRUPT => return Ok(None),
                END if line.is_empty() => return Ok(None),
                0x08 | 0x7f => drop(line.pop()),
                DELETE_LINE => line.clear(),
                byte => line.push(byte),
            }
        }
        Ok(None)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_line_ends_with_enter_and_can_be_given_up() {
            for (typed, expected) in [
                (&b"sk-1\r"[..], Some("sk-1")),
                (b"sx\x7fk\n", Some("sk")),
                (b"wrong\x15sk\n", Some("sk")),
                (b"\n", Some("")),
                (b"sk\x03", None),
                (b"\x04", None),
                (b"sk", None),
            ] {
                assert_eq!(line(typed).unwrap().as_deref(), expected, "{typed:?}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendor_may_be_left_out_where_there_is_one() {
        let only = |names: &[&str]| only(names.iter().map(|name| (*name).to_owned()).collect()).ok();
        assert_eq!(only(&["openai"]).as_deref(), Some("openai"));
        assert_eq!((only(&[]), only(&["a", "b"])), (None, None));
    }
}

//! Edits on real files beside an oracle that only cuts bytes and joins them: every byte outside of an edit stays.
//!
//! `WINDLASS_EDITS` sets the number of edits; default: 300. `WINDLASS_EDITS_FROM` is the number of the first edit, to
//! repeat one that failed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use windlass_local::LocalWorkspace;

use crate::files::session::Session;

/// Numbers that are the same in each run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// Encoding of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf8WithMark,
    Utf16Le,
    Utf16Be,
    /// UTF-8 with damaged places.
    Damaged,
    /// Any bytes: such a file may be refused, for being binary or in an encoding that is not known.
    Anything,
}

const ENCODINGS: [&Encoding; 6] = [
    &Encoding::Utf8,
    &Encoding::Utf8WithMark,
    &Encoding::Utf16Le,
    &Encoding::Utf16Be,
    &Encoding::Damaged,
    &Encoding::Anything,
];

impl Encoding {
    fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8WithMark => b"\xEF\xBB\xBF",
            Self::Utf16Le => b"\xFF\xFE",
            Self::Utf16Be => b"\xFE\xFF",
            _ => b"",
        }
    }

    fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            _ => text.as_bytes().to_vec(),
        }
    }

    fn is_clean(self) -> bool {
        !matches!(self, Self::Damaged | Self::Anything)
    }
}

const WORDS: [&str; 14] =
    ["let x = 1;", " ", "\t", "  ", "fn", "ä", "e\u{301}", "日本", "😀", "$1", "\\0", "*", "a", "\u{200B}"];

/// Text without the letter that marks places, on lines that end like this.
fn text(chance: &mut Chance, breaks: &str, most: usize, is_ascii: bool) -> String {
    let mut text = String::new();
    for _ in 0..chance.below(most) {
        let word = chance.one(&WORDS);
        text += match chance.below(6) {
            0 => breaks,
            _ if is_ascii && !word.is_ascii() => "b",
            _ => word,
        };
    }
    text
}

/// Bytes around a place that is edited.
fn around(chance: &mut Chance, encoding: Encoding, breaks: &str) -> Vec<u8> {
    let most = chance.one(&[&8, &80, &800]);
    match encoding {
        Encoding::Anything => {
            let any = (0..chance.below(*most)).map(|_| chance.next() as u8).filter(|byte| *byte != b'Q');
            // In many encodings a byte and the letter behind it can be one character: a blank is none of them.
            any.chain([b' ']).collect()
        }
        Encoding::Damaged => {
            let mut bytes = Vec::new();
            for _ in 0..=chance.below(3) {
                bytes.extend(text(chance, breaks, *most, false).into_bytes());
                bytes.extend_from_slice(chance.one(&[&b"\xE9"[..], b"\xC3", b"\xFF", b"\xF0\x9F"]));
                bytes.push(b' ');
            }
            bytes
        }
        _ => encoding.bytes(&text(chance, breaks, *most, false)),
    }
}

/// A file, an edit of it, and the bytes that it shall have then.
struct Case {
    encoding: Encoding,
    before: Vec<u8>,
    after: Vec<u8>,
    tool: &'static str,
    input: Value,
    mode: u32,
}

fn case(number: u64, path: &str) -> Case {
    let mut chance = Chance(number);
    let encoding = *chance.one(&ENCODINGS);
    let is_mixed = chance.below(4) == 0;
    let breaks = if is_mixed { "\n" } else { chance.one(&["\n", "\r\n", "\r"]) };
    let line = |chance: &mut Chance| if is_mixed { chance.one(&["\n", "\r\n", "\r"]) } else { breaks };
    let tool = *chance.one(&[&"Edit", &"EditAll", &"MultiEdit"]);
    let places = if tool == "Edit" { 1 } else { 1 + chance.below(4) };
    // With several kinds of line ends, and with bytes that are no text, the edit itself has no line break and no odd
    // character.
    let in_edit = |chance: &mut Chance, most| {
        let text = text(chance, "\n", most, !encoding.is_clean());
        if is_mixed || encoding == Encoding::Anything { text.replace('\n', " ") } else { text }
    };
    let (common, mut edits) = (format!("Q{}", in_edit(&mut chance, 6)), Vec::new());
    let replacement = in_edit(&mut chance, 8);
    let (mut before, mut after) = (encoding.mark().to_vec(), encoding.mark().to_vec());
    let (mut has_break, mut pieces) = (false, Vec::new());
    for place in 0..places {
        let own_line = line(&mut chance);
        pieces.push(around(&mut chance, encoding, own_line));
        if tool == "MultiEdit" {
            edits.push((format!("Q{place}{}", in_edit(&mut chance, 6)), in_edit(&mut chance, 8)));
        } else {
            edits.push((common.clone(), replacement.clone()));
        }
    }
    let last_line = line(&mut chance);
    let last = around(&mut chance, encoding, last_line);
    for (old, _) in &edits {
        has_break |= old.contains('\n');
    }
    let broken = encoding.bytes(breaks);
    has_break |= pieces.iter().chain([&last]).any(|piece| piece.windows(broken.len()).any(|bytes| bytes == broken));
    // A file without any line break gets those of the model.
    let own = |text: &str| encoding.bytes(&if has_break { text.replace('\n', breaks) } else { text.to_owned() });
    for (piece, (old, new)) in pieces.iter().zip(&edits) {
        before.extend_from_slice(piece);
        after.extend_from_slice(piece);
        before.extend(own(old));
        // The following text must not create a second match.
        let end = encoding.bytes(";");
        after.extend(own(new));
        before.extend_from_slice(&end);
        after.extend_from_slice(&end);
    }
    before.extend_from_slice(&last);
    after.extend_from_slice(&last);
    let with_end = |text: &str| format!("{text};");
    let input = match tool {
        "MultiEdit" => {
            let edit =
                |(old, new): &(String, String)| json!({"old_string": with_end(old), "new_string": with_end(new)});
            json!({"file_path": path, "edits": edits.iter().map(edit).collect::<Vec<_>>()})
        }
        _ => json!({
            "file_path": path, "old_string": with_end(&common), "new_string": with_end(&replacement),
            "replace_all": tool == "EditAll",
        }),
    };
    let mode = *chance.one(&[&0o644, &0o600, &0o755, &0o640, &0o664, &0o700, &0o1644, &0o4755, &0o2750]);
    let tool = if tool == "EditAll" { "Edit" } else { tool };
    Case { encoding, before, after, tool, input, mode }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |number| number.parse().unwrap())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn every_byte_outside_of_an_edit_stays() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let session = Session::over(LocalWorkspace::new(), &dir);
    let (from, count) = (number("WINDLASS_EDITS_FROM", 0), number("WINDLASS_EDITS", 300));
    let (mut made, mut refused, mut clean_refused) = (0_u64, 0_u64, 0_u64);
    for at in from..from + count {
        let path = dir.join(format!("{}", at % 16));
        let case = case(at, path.to_str().unwrap());
        fs::write(&path, &case.before).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(case.mode)).unwrap();
        let read = session.call("Read", json!({"file_path": path})).await;
        let edited = match read {
            Ok(_) => session.call(case.tool, case.input.clone()).await,
            Err(error) => Err(error),
        };
        let found = fs::read(&path).unwrap();
        match &edited {
            Ok(_) => {
                made += 1;
                assert!(
                    found == case.after,
                    "edit {at}: {:?} {}\n{:?}\n{found:?}\n{:?}",
                    case.encoding,
                    case.input,
                    case.before,
                    case.after
                );
            }
            Err(error) => {
                refused += 1;
                let is_same = case.before == case.after || error.contains("identical");
                clean_refused += u64::from(case.encoding.is_clean() && !is_same);
                assert!(!case.encoding.is_clean() || is_same, "edit {at}: {error}\n{}\n{:?}", case.input, case.before);
                assert!(found == case.before, "edit {at} was refused ({error}), and the file changed");
            }
        }
        assert_eq!(mode(&path), case.mode, "edit {at}");
    }
    println!("{made} edits made, {refused} refused, 0 bytes changed outside of them");
    assert_eq!(clean_refused, 0);
    assert!(made * 3 >= count, "of {count} edits only {made} were made");
    let litter = fs::read_dir(&dir).unwrap().filter(|entry| entry.as_ref().unwrap().file_name().len() > 2).count();
    assert_eq!(litter, 0);
}

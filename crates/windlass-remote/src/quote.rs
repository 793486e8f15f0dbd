//! Words of a shell.

/// Quotes a word so that every POSIX shell reads back exactly these bytes. A shell cannot represent NUL: the reader
/// cuts a word with one, so callers refuse it before.
///
/// The result has no line end, so a request is one line: a line end in the word becomes `"$NL"`, a variable that the
/// remote scripts set.
///
/// ```
/// assert_eq!(windlass_remote::quote(b"it's $HOME"), br"'it'\''s $HOME'");
/// ```
pub fn quote(word: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(word.len().saturating_add(2));
    quoted.push(b'\'');
    for byte in word {
        match byte {
            b'\'' => quoted.extend_from_slice(br"'\''"),
            b'\n' => quoted.extend_from_slice(b"'\"$NL\"'"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// Call of a remote shell function with its words, as one line.
pub(crate) fn call<'a>(function: &str, words: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut line = function.as_bytes().to_vec();
    for word in words {
        line.push(b' ');
        line.extend(quote(word));
    }
    line
}

/// Call in a subshell, which leaves nothing behind in the answering shell.
pub(crate) fn apart<'a>(function: &str, words: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut line = b"( ".to_vec();
    line.extend(call(function, words));
    line.extend_from_slice(b" )");
    line
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Command;

    fn read_back(words: &[Vec<u8>]) -> Vec<u8> {
        let mut script = b"NL='\n'\n".to_vec();
        script.extend(call("printf '<%s>'", words.iter().map(Vec::as_slice)));
        let output = Command::new("/bin/sh").arg("-c").arg(OsStr::from_bytes(&script)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, fork: false, ..ProptestConfig::default() })]

        #[test]
        fn a_shell_reads_back_what_was_quoted(words in prop::collection::vec(
            prop::collection::vec(prop_oneof![Just(b'\''), Just(b'\n'), Just(b'$'), Just(b'\\'), Just(b'"'), 1_u8..=255], 0..40),
            1..4,
        )) {
            let expected: Vec<u8> = words.iter().flat_map(|word| [b"<", word.as_slice(), b">"].concat()).collect();
            prop_assert_eq!(read_back(&words), expected);
            for word in &words {
                prop_assert!(!quote(word).contains(&b'\n'), "a request is one line");
            }
        }
    }

    #[test]
    fn words_that_look_like_something_else_stay_words() {
        let words: Vec<Vec<u8>> =
            ["", "-n", "$(id)", "`id`", "a;b", "*", "~", "!!", "\\", "'; exit", "\n\n"].map(|word| word.into()).into();
        let expected: String = words.iter().map(|word| format!("<{}>", String::from_utf8_lossy(word))).collect();
        assert_eq!(String::from_utf8(read_back(&words)).unwrap(), expected);
    }
}

//! Output of programs that write in a code page of Windows.

use std::borrow::Cow;

use encoding_rs::Encoding;

/// Encoding of a Windows code page. DOS code pages, such as 437 and 850, are unknown.
fn encoding(code_page: u32) -> Option<&'static Encoding> {
    Some(match code_page {
        866 => encoding_rs::IBM866,
        874 => encoding_rs::WINDOWS_874,
        932 => encoding_rs::SHIFT_JIS,
        936 | 54936 => encoding_rs::GB18030,
        949 => encoding_rs::EUC_KR,
        950 => encoding_rs::BIG5,
        1250 => encoding_rs::WINDOWS_1250,
        1251 => encoding_rs::WINDOWS_1251,
        1252 => encoding_rs::WINDOWS_1252,
        1253 => encoding_rs::WINDOWS_1253,
        1254 => encoding_rs::WINDOWS_1254,
        1255 => encoding_rs::WINDOWS_1255,
        1256 => encoding_rs::WINDOWS_1256,
        1257 => encoding_rs::WINDOWS_1257,
        1258 => encoding_rs::WINDOWS_1258,
        10000 => encoding_rs::MACINTOSH,
        20866 => encoding_rs::KOI8_R,
        20932 | 51932 => encoding_rs::EUC_JP,
        21866 => encoding_rs::KOI8_U,
        28592 => encoding_rs::ISO_8859_2,
        28605 => encoding_rs::ISO_8859_15,
        _ => return None,
    })
}

/// Decodes output: as UTF-16 if it begins with that mark, as UTF-8 if it is valid, and in the code page otherwise.
/// Invalid characters are replaced; with an unknown code page all non-UTF-8 bytes.
pub(super) fn text(bytes: &[u8], code_page: Option<u32>) -> Cow<'_, str> {
    let little = bytes.strip_prefix(b"\xff\xfe").map(|rest| (encoding_rs::UTF_16LE, rest));
    let big = || bytes.strip_prefix(b"\xfe\xff").map(|rest| (encoding_rs::UTF_16BE, rest));
    if let Some((encoding, rest)) = little.or_else(big) {
        return encoding.decode_without_bom_handling(rest).0;
    }
    match (std::str::from_utf8(bytes), code_page.and_then(encoding)) {
        (Ok(text), _) => Cow::Borrowed(text),
        (Err(_), Some(encoding)) => encoding.decode_without_bom_handling(bytes).0,
        (Err(_), None) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_read_as_utf_8_and_else_in_its_code_page() {
        let cases: [(&[u8], Option<u32>, &str); 10] = [
            ("ก é".as_bytes(), Some(874), "ก é"),
            (b"\xa1\xd2", Some(874), "กา"),
            (b"\x93\xfa\x96\x7b", Some(932), "日本"),
            (b"\xd6\xd0", Some(936), "中"),
            (b"\x8f\xe0", Some(866), "Пр"),
            (b"\xe9\x80", Some(1252), "é€"),
            (b"\xff\xfeA\0\x01\x0e", None, "Aก"),
            (b"\xfe\xff\0A", Some(1252), "A"),
            (b"a\xe9b", None, "a\u{fffd}b"),
            (b"a\xe9b", Some(437), "a\u{fffd}b"),
        ];
        for (bytes, code_page, expected) in cases {
            assert_eq!(text(bytes, code_page), expected, "{bytes:x?} {code_page:?}");
        }
    }
}

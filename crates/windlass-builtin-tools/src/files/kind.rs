//! The format of a file that is not text, recognised by its first bytes.

/// Kinds of content that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Image(ImageFormat),
    Pdf,
    Utf32,
    /// Another known format, by its name.
    Named(&'static str),
    Unknown,
}

/// The image formats that models accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageFormat {
    Png,
    Jpeg,
    Gif,
    Webp,
}

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dimensions {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Kind {
    /// Names the format of a sample that is known not to be text.
    pub(crate) fn by_magic(sample: &[u8]) -> Self {
        if let Some(format) = ImageFormat::by_magic(sample) {
            return Self::Image(format);
        }
        let found =
            MAGIC.iter().find(|(offset, magic, _)| sample.get(*offset..).is_some_and(|rest| rest.starts_with(magic)));
        found.map_or(Self::Unknown, |(_, _, name)| Self::Named(name))
    }

    /// A noun phrase for a message, as in "is an ELF program".
    pub(crate) fn phrase(self) -> String {
        match self {
            Self::Image(format) => format!("{} image", format.name()),
            Self::Pdf => "PDF document".to_owned(),
            Self::Utf32 => "text in UTF-32".to_owned(),
            Self::Named(name) => name.to_owned(),
            Self::Unknown => "binary data".to_owned(),
        }
    }
}

impl ImageFormat {
    pub(crate) fn by_magic(sample: &[u8]) -> Option<Self> {
        match *sample {
            [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::Webp => "WebP",
        }
    }

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// Reads the size from the header; `None` when the file is cut or damaged.
    pub(crate) fn dimensions(self, bytes: &[u8]) -> Option<Dimensions> {
        let (width, height) = match self {
            Self::Png => match bytes.get(12..24)? {
                &[b'I', b'H', b'D', b'R', a, b, c, d, e, f, g, h] => {
                    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
                }
                _ => return None,
            },
            Self::Gif => match bytes.get(6..10)? {
                &[a, b, c, d] => (le16(a, b), le16(c, d)),
                _ => return None,
            },
            Self::Jpeg => jpeg_size(bytes)?,
            Self::Webp => webp_size(bytes)?,
        };
        (width > 0 && height > 0).then_some(Dimensions { width, height })
    }
}

fn le16(low: u8, high: u8) -> u32 {
    u32::from(u16::from_le_bytes([low, high]))
}

/// Walks the segments up to the frame header.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(2..)?;
    loop {
        match *rest {
            [0xFF, 0xFF, ..] => rest = rest.get(1..)?,
            [0xFF, 0x01 | 0xD0..=0xD8, ..] => rest = rest.get(2..)?,
            [0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF, _, _, _, a, b, c, d, ..] => {
                let height = u16::from_be_bytes([a, b]);
                let width = u16::from_be_bytes([c, d]);
                return Some((width.into(), height.into()));
            }
            [0xFF, _, a, b, ..] => {
                let length = usize::from(u16::from_be_bytes([a, b])).max(2);
                rest = rest.get(2 + length..)?;
            }
            _ => return None,
        }
    }
}

fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    match *bytes.get(12..30)? {
        [b'V', b'P', b'8', b' ', _, _, _, _, _, _, _, 0x9D, 0x01, 0x2A, a, b, c, d] => {
            Some((le16(a, b) & 0x3FFF, le16(c, d) & 0x3FFF))
        }
        [b'V', b'P', b'8', b'L', _, _, _, _, 0x2F, a, b, c, d, ..] => {
            let bits = u32::from_le_bytes([a, b, c, d]);
            Some(((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1))
        }
        [b'V', b'P', b'8', b'X', _, _, _, _, _, _, _, _, a, b, c, d, e, f] => {
            Some((u32::from_le_bytes([a, b, c, 0]) + 1, u32::from_le_bytes([d, e, f, 0]) + 1))
        }
        _ => None,
    }
}

/// Offset, bytes, name.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"\x7FELF", "ELF program or library"),
    (0, b"MZ", "Windows program or library"),
    (0, b"\xFE\xED\xFA\xCE", "Mach-O program or library"),
    (0, b"\xFE\xED\xFA\xCF", "Mach-O program or library"),
    (0, b"\xCE\xFA\xED\xFE", "Mach-O program or library"),
    (0, b"\xCF\xFA\xED\xFE", "Mach-O program or library"),
    (0, b"\xCA\xFE\xBA\xBE", "Java class or universal Mach-O program"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"!<arch>\n", "static library (ar archive)"),
    (0, b"PK\x03\x04", "ZIP archive (also docx, xlsx, jar, apk)"),
    (0, b"PK\x05\x06", "ZIP archive (empty)"),
    (0, b"\x1F\x8B", "gzip archive"),
    (0, b"BZh", "bzip2 archive"),
    (0, b"\xFD7zXZ\0", "xz archive"),
    (0, b"\x28\xB5\x2F\xFD", "zstd archive"),
    (0, b"\x04\x22\x4D\x18", "lz4 archive"),
    (0, b"7z\xBC\xAF\x27\x1C", "7-Zip archive"),
    (0, b"Rar!\x1A\x07", "RAR archive"),
    (257, b"ustar", "tar archive"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "old Microsoft Office document"),
    (4, b"ftypavif", "AVIF image"),
    (4, b"ftyphei", "HEIC image"),
    (4, b"ftyp", "MP4 video or audio"),
    (0, b"\x1A\x45\xDF\xA3", "Matroska or WebM video"),
    (8, b"AVI ", "AVI video"),
    (8, b"WAVE", "WAV audio"),
    (0, b"ID3", "MP3 audio"),
    (0, b"OggS", "Ogg audio or video"),
    (0, b"fLaC", "FLAC audio"),
    (4, b"jP  \r\n\x87\n", "JPEG 2000 image"),
    (0, b"BM", "BMP image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"\0\0\x01\0", "Windows icon"),
    (0, b"8BPS", "Photoshop image"),
    (0, b"wOFF", "web font"),
    (0, b"wOF2", "web font"),
    (0, b"\0\x01\0\0\0", "TrueType font"),
    (0, b"OTTO", "OpenType font"),
    (0, b"DIRC", "git index"),
    (0, b"\x80\x04\x95", "Python pickle"),
    (0, b"\x93NUMPY", "NumPy array"),
    (0, b"PAR1", "Parquet table"),
    (0, b"\x89HDF\r\n\x1A\n", "HDF5 file"),
];

#[cfg(test)]
mod tests;

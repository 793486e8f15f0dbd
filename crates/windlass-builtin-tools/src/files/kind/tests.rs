use super::*;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes
}

#[test]
fn sizes_come_from_the_headers() {
    let jpeg = b"\xFF\xD8\xFF\xE0\x00\x04\0\0\xFF\xC0\x00\x11\x08\x01\x02\x03\x04\x03\0\0\0";
    let gif = b"GIF89a\x0A\x00\x14\x00\0\0\0";
    let vp8x = b"RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x0F\x00\x00\x1F\x00\x00";
    let vp8l = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2F\x0F\xC0\x07\x00\0\0\0\0\0";
    for (bytes, format, width, height) in [
        (png(640, 480), ImageFormat::Png, 640, 480),
        (jpeg.to_vec(), ImageFormat::Jpeg, 0x0304, 0x0102),
        (gif.to_vec(), ImageFormat::Gif, 10, 20),
        (vp8x.to_vec(), ImageFormat::Webp, 16, 32),
        (vp8l.to_vec(), ImageFormat::Webp, 16, 32),
    ] {
        assert_eq!(Kind::by_magic(&bytes), Kind::Image(format));
        assert_eq!(format.dimensions(&bytes), Some(Dimensions { width, height }), "{format:?}");
    }
}

#[test]
fn cut_or_damaged_images_have_no_size() {
    let whole = png(1, 1);
    for end in 0..whole.len() {
        assert_eq!(ImageFormat::Png.dimensions(&whole[..end]), None);
    }
    assert_eq!(ImageFormat::Png.dimensions(&png(0, 5)), None);
    for bytes in [&b"\xFF\xD8\xFF"[..], b"\xFF\xD8\xFF\xE0\xFF\xFF", b"\xFF\xD8\xFF\xFF\xFF\xFF", b"\xFF\xD8\xFFxyz"] {
        assert_eq!(ImageFormat::Jpeg.dimensions(bytes), None, "{bytes:?}");
    }
}

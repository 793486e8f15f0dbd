use super::*;

/// Number of bytes that 5 MiB of base64 hold.
const MOST: usize = 5 * 1024 * 1024 / 4 * 3;

#[test]
fn what_no_model_takes_is_refused() {
    for (bytes, expected) in [
        (b"BM......".to_vec(), "no PNG, JPEG, GIF or WebP image"),
        (Vec::new(), "no PNG, JPEG, GIF or WebP image"),
        (b"\x89PNG\r\n\x1A\n\0\0".to_vec(), "begins like a PNG image but is cut off or damaged"),
    ] {
        assert!(Picture::fit(bytes, MOST).unwrap_err().contains(expected), "{expected}");
    }
}

#[cfg(feature = "images")]
mod scaled {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat as Format, RgbImage, RgbaImage};

    use super::*;

    fn written(image: &DynamicImage, format: Format) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// A picture that does not compress.
    fn noise(width: u32, height: u32) -> DynamicImage {
        let mut state = 1_u32;
        let mut image = RgbImage::new(width, height);
        for byte in image.iter_mut() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = state.to_be_bytes()[0];
        }
        DynamicImage::ImageRgb8(image)
    }

    #[test]
    fn what_fits_stays_byte_for_byte() {
        for format in [Format::Png, Format::Jpeg, Format::Gif, Format::WebP] {
            let bytes = written(&DynamicImage::ImageRgb8(RgbImage::new(30, 20)), format);
            let picture = Picture::fit(bytes.clone(), MOST).unwrap();
            assert_eq!((picture.bytes, picture.media_type), (bytes, format.to_mime_type()));
            assert_eq!(picture.shown, Dimensions { width: 30, height: 20 });
        }
    }

    #[test]
    fn what_is_too_large_is_made_smaller() {
        let clear = DynamicImage::ImageRgba8(RgbaImage::new(4000, 1000));
        let picture = Picture::fit(written(&clear, Format::Png), MOST).unwrap();
        assert_eq!((picture.shown, picture.media_type), (Dimensions { width: 2000, height: 500 }, "image/png"));
        assert_eq!(picture.original, Dimensions { width: 4000, height: 1000 });
        // Small enough by its sides, but not by its bytes.
        let bytes = written(&noise(1500, 1400), Format::Png);
        assert!(bytes.len() > MOST);
        let picture = Picture::fit(bytes, MOST).unwrap();
        assert!(picture.bytes.len() <= MOST && picture.media_type == "image/jpeg");
        let photo = Picture::fit(written(&noise(2500, 10), Format::Jpeg), MOST).unwrap();
        assert_eq!((photo.shown.width, photo.media_type), (2000, "image/jpeg"));
    }

    #[test]
    fn damaged_images_and_bombs_are_refused() {
        let png = written(&noise(50, 50), Format::Png);
        let cut = png[..png.len() / 2].to_vec();
        assert!(Picture::fit(cut, MOST).unwrap_err().contains("cut off or damaged"));
        // The header alone declares gigabytes of pixels.
        let mut bomb = png;
        bomb[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        bomb[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let error = Picture::fit(bomb, MOST).unwrap_err();
        assert!(error.contains("256 MiB") || error.contains("damaged"), "{error}");
    }

    /// Changes each byte of small images: the result is an image or a refusal, no panic.
    #[test]
    fn any_damage_is_survived() {
        for format in [Format::Png, Format::Jpeg, Format::Gif, Format::WebP] {
            let bytes = written(&noise(9, 7), format);
            for at in 0..bytes.len().min(200) {
                for value in [0, 0x7F, 0xFF] {
                    let mut damaged = bytes.clone();
                    damaged[at] = value;
                    let _ = Picture::fit(damaged, MOST);
                }
            }
        }
    }
}

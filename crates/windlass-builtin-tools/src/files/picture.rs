//! Images in the formats and sizes that models accept.
//!
//! The bytes determine the format of an image. An unacceptable image would have every later request of the session
//! refused, so it is made smaller here or refused with the reason. Needs the feature `images` for making it smaller;
//! without it only the header is checked.

use super::kind::{Dimensions, ImageFormat};

/// Maximum size in bytes of a file that is examined.
pub(crate) const MAX_FILE: usize = if cfg!(feature = "images") { 32 * 1024 * 1024 } else { 10 * 1024 * 1024 };

/// An image that models accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Size of the original image.
    pub(crate) original: Dimensions,
    /// Size of this image.
    pub(crate) shown: Dimensions,
}

impl Picture {
    /// Returns an image unchanged, or made smaller than `max_bytes` bytes. Decodes the whole image with the feature
    /// `images`: run it where that may take time.
    ///
    /// # Errors
    /// Reason why it cannot be shown, as the rest of a sentence that begins with the image.
    pub(crate) fn fit(bytes: Vec<u8>, max_bytes: usize) -> Result<Self, String> {
        let format = ImageFormat::by_magic(&bytes).ok_or("it is no PNG, JPEG, GIF or WebP image")?;
        let damaged = || format!("it begins like a {} image but is cut off or damaged", format.name());
        let original = format.dimensions(&bytes).ok_or_else(damaged)?;
        #[cfg(feature = "images")]
        return scaled::fit(bytes, format, original, max_bytes);
        #[cfg(not(feature = "images"))]
        unscaled(bytes, format, original, max_bytes)
    }

    fn unchanged(bytes: Vec<u8>, format: ImageFormat, size: Dimensions) -> Self {
        Self { media_type: format.media_type(), bytes, original: size, shown: size }
    }
}

/// `true` if models accept images of the media type.
pub(crate) fn is_picture(media_type: &str) -> bool {
    windlass_types::IMAGE_TYPES.contains(&media_type)
}

/// Accepts an image unchanged, by its header.
#[cfg(not(feature = "images"))]
fn unscaled(bytes: Vec<u8>, format: ImageFormat, size: Dimensions, max_bytes: usize) -> Result<Picture, String> {
    /// Maximum number of pixels in each direction.
    const MAX_SIDE: u32 = 8000;
    let Dimensions { width, height } = size;
    if width.max(height) > MAX_SIDE {
        return Err(format!("it has {width}×{height} pixels, at most {MAX_SIDE} in each direction can be shown"));
    }
    if bytes.len() > max_bytes {
        return Err(format!("it has {} bytes, at most {max_bytes} can be shown", bytes.len()));
    }
    Ok(Picture::unchanged(bytes, format, size))
}

#[cfg(feature = "images")]
mod scaled {
    //! Making images smaller.

    use std::io::Cursor;

    use image::codecs::jpeg::JpegEncoder;
    use image::metadata::Orientation;
    use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

    use super::Picture;
    use crate::files::kind::{Dimensions, ImageFormat};

    /// Maximum number of pixels in each direction. Services accept more for a single image, but refuse larger ones when
    /// a request has many.
    const MAX_SIDE: u32 = 2000;
    /// Maximum number of bytes of all pixels of a decoded image.
    const MAX_DECODED: u64 = 256 * 1024 * 1024;
    /// Quality of JPEG images, of 100.
    const QUALITY: u8 = 85;

    /// Returns an image unchanged if it is intact and can be shown, else a smaller one.
    pub(super) fn fit(
        bytes: Vec<u8>,
        format: ImageFormat,
        original: Dimensions,
        max_bytes: usize,
    ) -> Result<Picture, String> {
        let (image, orientation) = decode(&bytes, format)?;
        if original.width.max(original.height) <= MAX_SIDE && bytes.len() <= max_bytes {
            return Ok(Picture::unchanged(bytes, format, original));
        }
        let mut image =
            if original.width.max(original.height) > MAX_SIDE { image.thumbnail(MAX_SIDE, MAX_SIDE) } else { image };
        image.apply_orientation(orientation);
        let is_photo = format == ImageFormat::Jpeg;
        loop {
            let (media_type, bytes) = encode(&image, is_photo, max_bytes)?;
            let shown = Dimensions { width: image.width(), height: image.height() };
            if bytes.len() <= max_bytes {
                return Ok(Picture { media_type, bytes, original, shown });
            }
            let side = shown.width.max(shown.height) / 4 * 3;
            if side == 0 {
                return Err("it cannot be made small enough".to_owned());
            }
            image = image.thumbnail(side, side);
        }
    }

    /// Decodes an image, unless its pixels would take too much memory. The header is not trusted: the limit applies
    /// during decoding. Of an animation this is the first picture.
    fn decode(bytes: &[u8], format: ImageFormat) -> Result<(DynamicImage, Orientation), String> {
        let failed = |error: image::ImageError| match error {
            image::ImageError::Limits(_) => too_large(),
            error => format!("it begins like a {} image but is cut off or damaged: {error}", format.name()),
        };
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(MAX_DECODED);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), image_format(format));
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(failed)?;
        if decoder.total_bytes() > MAX_DECODED {
            return Err(too_large());
        }
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        Ok((DynamicImage::from_decoder(decoder).map_err(failed)?, orientation))
    }

    fn too_large() -> String {
        format!("its pixels would take more than {} MiB of memory", MAX_DECODED / (1024 * 1024))
    }

    /// Encodes an image as JPEG for photos, as PNG for others unless that is too large.
    fn encode(image: &DynamicImage, is_photo: bool, max_bytes: usize) -> Result<(&'static str, Vec<u8>), String> {
        let failed = |error: image::ImageError| format!("it cannot be written anew: {error}");
        if !is_photo {
            let mut png = Cursor::new(Vec::new());
            let simple = DynamicImage::ImageRgba8(image.to_rgba8());
            let simple = if image.color().has_alpha() { simple } else { DynamicImage::ImageRgb8(image.to_rgb8()) };
            simple.write_to(&mut png, image::ImageFormat::Png).map_err(failed)?;
            if png.get_ref().len() <= max_bytes {
                return Ok(("image/png", png.into_inner()));
            }
        }
        let mut jpeg = Vec::new();
        JpegEncoder::new_with_quality(&mut jpeg, QUALITY).encode_image(&on_white(image)).map_err(failed)?;
        Ok(("image/jpeg", jpeg))
    }

    /// Image without transparency.
    fn on_white(image: &DynamicImage) -> DynamicImage {
        if !image.color().has_alpha() {
            return DynamicImage::ImageRgb8(image.to_rgb8());
        }
        let mut pixels = image::RgbImage::new(image.width(), image.height());
        for (to, from) in pixels.pixels_mut().zip(image.to_rgba8().pixels()) {
            let [r, g, b, alpha] = from.0.map(u32::from);
            let mixed = [r, g, b].map(|channel| (channel * alpha + 255 * (255 - alpha)) / 255);
            to.0 = mixed.map(|channel| u8::try_from(channel).unwrap_or(u8::MAX));
        }
        DynamicImage::ImageRgb8(pixels)
    }

    fn image_format(format: ImageFormat) -> image::ImageFormat {
        match format {
            ImageFormat::Png => image::ImageFormat::Png,
            ImageFormat::Jpeg => image::ImageFormat::Jpeg,
            ImageFormat::Gif => image::ImageFormat::Gif,
            ImageFormat::Webp => image::ImageFormat::WebP,
        }
    }
}

#[cfg(test)]
mod tests;

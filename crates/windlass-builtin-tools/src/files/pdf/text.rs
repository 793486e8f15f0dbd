//! Text of one page, in the order in which the page draws it.

use std::collections::BTreeMap;

use lopdf::content::{Content, Operation};
use lopdf::{Document, Encoding, Object, ObjectId};

/// Maximum number of unpacked bytes of the drawing of one page.
const MAX_CONTENT: usize = 16 * 1024 * 1024;
/// Number of drawing steps between two checks of the clock.
const STEPS_PER_CHECK: usize = 1024;

/// Text of a page, up to the maximum number of characters.
pub(super) fn of_page(
    document: &Document,
    page: ObjectId,
    max_chars: usize,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<String, String> {
    let error_text = |error: lopdf::Error| error.to_string();
    let content = document.get_page_content_with_limit(page, MAX_CONTENT).map_err(error_text)?;
    let mut fonts = BTreeMap::new();
    for (name, font) in document.get_page_fonts(page).map_err(error_text)? {
        fonts.insert(name, font.get_font_encoding_with_limit(document, MAX_CONTENT).map_err(error_text)?);
    }
    let mut pen = Pen { fonts, font: None, text: String::new(), height: 0.0 };
    for (step, operation) in Content::decode_iter(&content).enumerate() {
        pen.draw(&operation.map_err(error_text)?);
        if pen.text.len() > max_chars.saturating_mul(4) {
            break;
        }
        if step % STEPS_PER_CHECK == 0 && is_stopped() {
            return Err("reading it takes too long".to_owned());
        }
    }
    let (kept, rest) = crate::files::page::cut_chars(&pen.text, max_chars);
    let note = if rest.is_empty() { "" } else { "\n[the rest of this page is left out]" };
    Ok(format!("{kept}{note}"))
}

/// Position of the drawing, and the text drawn so far.
struct Pen<'d> {
    fonts: BTreeMap<Vec<u8>, Encoding<'d>>,
    font: Option<Vec<u8>>,
    text: String,
    /// Vertical position of the current line.
    height: f32,
}

impl Pen<'_> {
    fn draw(&mut self, operation: &Operation) {
        let operands = operation.operands.as_slice();
        let number = |at: usize| operands.get(at).and_then(|operand| operand.as_float().ok()).unwrap_or_default();
        match operation.operator.as_str() {
            "Tf" => self.font = operands.first().and_then(|font| font.as_name().ok()).map(<[u8]>::to_vec),
            "Tj" | "TJ" => self.show(operands),
            "'" => {
                self.line();
                self.show(operands);
            }
            "\"" => {
                self.line();
                self.show(operands.get(2..).unwrap_or_default());
            }
            "T*" | "ET" => self.line(),
            "Td" | "TD" if number(1).abs() > 0.5 => self.line(),
            "Td" | "TD" => self.gap(),
            "Tm" => {
                if (number(5) - self.height).abs() > 0.5 {
                    self.line();
                } else {
                    self.gap();
                }
                self.height = number(5);
            }
            _ => {}
        }
    }

    /// Draws the strings among operands. Numbers between them move the pen: far to the right is a blank.
    fn show(&mut self, operands: &[Object]) {
        for operand in operands {
            match operand {
                Object::String(bytes, _) => {
                    let encoding = self.font.as_ref().and_then(|font| self.fonts.get(font));
                    match encoding {
                        Some(encoding) => drop(encoding.write_to_string(bytes, &mut self.text)),
                        None => self.text.push_str(&String::from_utf8_lossy(bytes)),
                    }
                }
                Object::Array(inner) => {
                    for part in inner {
                        self.show(std::slice::from_ref(part));
                    }
                }
                Object::Integer(_) | Object::Real(_) if operand.as_float().is_ok_and(|moved| moved < -200.0) => {
                    self.gap()
                }
                _ => {}
            }
        }
    }

    fn line(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }
}

//! Colours and attributes of text.

/// A colour of text or background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "terminals have these three kinds of colours and their default")]
pub enum Color {
    /// The default colour of the terminal.
    #[default]
    Default,
    /// One of the sixteen colours that each terminal names itself, `0` to `15`. Higher numbers are taken modulo 16.
    Ansi(u8),
    /// One of the 256 colours of xterm.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// Colours and attributes of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_structs, reason = "the attributes that all terminals draw")]
#[expect(clippy::struct_excessive_bools, reason = "attributes of text are independent of each other")]
pub struct Style {
    /// Colour of the text.
    pub foreground: Color,
    /// Colour behind the text.
    pub background: Color,
    /// `true` for bold text.
    pub bold: bool,
    /// `true` for faint text.
    pub dim: bool,
    /// `true` for slanted text.
    pub italic: bool,
    /// `true` for underlined text.
    pub underline: bool,
    /// `true` if text and background swap their colours.
    pub reverse: bool,
    /// `true` for text that is crossed out.
    pub strikethrough: bool,
}

impl Style {
    /// The style of plain text: default colours, no attribute.
    pub const PLAIN: Self = Self {
        foreground: Color::Default,
        background: Color::Default,
        bold: false,
        dim: false,
        italic: false,
        underline: false,
        reverse: false,
        strikethrough: false,
    };

    /// The style with this colour of the text.
    #[must_use]
    pub const fn foreground(self, color: Color) -> Self {
        Self { foreground: color, ..self }
    }

    /// The style with this colour behind the text.
    #[must_use]
    pub const fn background(self, color: Color) -> Self {
        Self { background: color, ..self }
    }

    /// The style in bold.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The style in faint.
    #[must_use]
    pub const fn dim(self) -> Self {
        Self { dim: true, ..self }
    }

    /// The style in italics.
    #[must_use]
    pub const fn italic(self) -> Self {
        Self { italic: true, ..self }
    }

    /// The style underlined.
    #[must_use]
    pub const fn underline(self) -> Self {
        Self { underline: true, ..self }
    }

    /// The style with swapped colours.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self { reverse: true, ..self }
    }

    /// The style crossed out.
    #[must_use]
    pub const fn strikethrough(self) -> Self {
        Self { strikethrough: true, ..self }
    }

    /// The style with the attributes and colours of `over` where `over` has them.
    #[must_use]
    pub const fn patched(self, over: Self) -> Self {
        Self {
            foreground: over_color(self.foreground, over.foreground),
            background: over_color(self.background, over.background),
            bold: self.bold || over.bold,
            dim: self.dim || over.dim,
            italic: self.italic || over.italic,
            underline: self.underline || over.underline,
            reverse: self.reverse || over.reverse,
            strikethrough: self.strikethrough || over.strikethrough,
        }
    }
}

const fn over_color(below: Color, over: Color) -> Color {
    match over {
        Color::Default => below,
        color => color,
    }
}

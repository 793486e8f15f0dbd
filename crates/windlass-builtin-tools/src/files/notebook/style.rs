//! Layout of a notebook's JSON, so that new values look like those around them.

/// The layout of a text of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// Line break; `None` when the document is one line.
    line_break: Option<&'static str>,
    /// One step of indentation.
    step: String,
    /// `true` if a blank follows a colon.
    spaced: bool,
    /// `true` if characters outside ASCII are written as escapes.
    ascii: bool,
}

impl Style {
    /// Detects the layout of a whole document.
    pub(super) fn of(text: &str) -> Self {
        let line_break = match text.trim_end().find('\n') {
            Some(at) if text.get(..at).is_some_and(|before| before.ends_with('\r')) => Some("\r\n"),
            Some(_) => Some("\n"),
            None => None,
        };
        let second = text.lines().nth(1).unwrap_or_default();
        let step = second.get(..second.len() - second.trim_start().len()).unwrap_or_default();
        Self {
            line_break,
            step: if step.is_empty() { " ".to_owned() } else { step.to_owned() },
            spaced: line_break.is_some() || text.contains("\": "),
            ascii: text.is_ascii() && text.contains("\\u"),
        }
    }

    /// Indentation of the line of a position.
    pub(super) fn indentation(text: &str, at: usize) -> String {
        let before = text.get(..at).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |found| found + 1);
        let line = text.get(line..).unwrap_or_default();
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
    }

    /// Indentation one step deeper.
    pub(super) fn deeper(&self, indentation: &str) -> String {
        format!("{indentation}{}", self.step)
    }

    /// Line break with an indentation, or its counterpart in a document of one line.
    pub(super) fn new_line(&self, indentation: &str) -> String {
        self.line_break.map_or_else(String::new, |line_break| format!("{line_break}{indentation}"))
    }

    /// Comma with the separator before the next value.
    pub(super) fn comma(&self, indentation: &str) -> String {
        match (self.line_break, self.spaced) {
            (Some(_), _) => format!(",{}", self.new_line(indentation)),
            (None, true) => ", ".to_owned(),
            (None, false) => ",".to_owned(),
        }
    }

    /// A text as JSON.
    pub(super) fn string(&self, text: &str) -> String {
        let json = serde_json::Value::from(text).to_string();
        if !self.ascii || json.is_ascii() {
            return json;
        }
        let mut escaped = String::with_capacity(json.len());
        for c in json.chars() {
            if c.is_ascii() {
                escaped.push(c);
            } else {
                let mut units = [0; 2];
                escaped.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
        escaped
    }

    /// An array of values that are JSON already.
    pub(super) fn array(&self, values: &[String], indentation: &str) -> String {
        if values.is_empty() {
            return "[]".to_owned();
        }
        let inside = self.deeper(indentation);
        let values = values.join(&self.comma(&inside));
        format!("[{}{values}{}]", self.new_line(&inside), self.new_line(indentation))
    }

    /// An object of values that are JSON already.
    pub(super) fn object(&self, members: &[(&str, String)], indentation: &str) -> String {
        let inside = self.deeper(indentation);
        let colon = if self.spaced { ": " } else { ":" };
        let members: Vec<String> =
            members.iter().map(|(name, value)| format!("{}{colon}{value}", self.string(name))).collect();
        let members = members.join(&self.comma(&inside));
        format!("{{{}{members}{}}}", self.new_line(&inside), self.new_line(indentation))
    }

    /// A source as an array of its lines, as notebooks are mostly written.
    pub(super) fn lines(&self, source: &str, indentation: &str) -> String {
        let lines: Vec<String> = source.split_inclusive('\n').map(|line| self.string(line)).collect();
        self.array(&lines, indentation)
    }
}

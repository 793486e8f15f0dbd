//! Parser of server-sent events of limited size.

/// Reads events from chunks of bytes. An incomplete event waits for the next chunk.
#[derive(Debug)]
pub(crate) struct EventReader {
    most: usize,
    line: Vec<u8>,
    /// `true` if the last byte was a carriage return: a line feed after it ends the same line.
    after_return: bool,
    event: ServerSentEvent,
    size: usize,
    /// `true` while the rest of an event that is too large is skipped.
    is_passed_over: bool,
    /// `true` if the skipped line has no bytes yet.
    is_blank: bool,
}

/// Server-sent event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerSentEvent {
    /// Event type; empty for a message.
    pub(crate) kind: String,
    /// Data lines, joined by line feeds.
    pub(crate) data: String,
    /// `true` if the event is larger than allowed: its data is only the beginning.
    pub(crate) is_too_large: bool,
    has_data: bool,
}

impl EventReader {
    /// Creates a parser of events with at most `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        let (line, event) = (Vec::new(), ServerSentEvent::default());
        Self { most, line, after_return: false, event, size: 0, is_passed_over: false, is_blank: false }
    }

    /// Takes a chunk, and returns the events that end in it, or that are larger than allowed.
    pub(crate) fn take(&mut self, chunk: &[u8]) -> Vec<ServerSentEvent> {
        let mut events = Vec::new();
        for byte in chunk {
            let is_rest_of_end = std::mem::take(&mut self.after_return) && *byte == b'\n';
            match byte {
                _ if is_rest_of_end => {}
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    events.extend(self.end_line());
                }
                byte => {
                    self.size += 1;
                    if self.is_passed_over {
                        self.is_blank = false;
                    } else if self.size <= self.most {
                        self.line.push(*byte);
                    } else {
                        self.end_line();
                        self.is_passed_over = true;
                        events.push(ServerSentEvent { is_too_large: true, ..std::mem::take(&mut self.event) });
                    }
                }
            }
        }
        events
    }

    /// Reads a line. An empty line ends the event.
    fn end_line(&mut self) -> Option<ServerSentEvent> {
        if self.is_passed_over {
            // An event that is too large ends with an empty line, too.
            self.is_passed_over = !std::mem::replace(&mut self.is_blank, true);
            self.size = 0;
            return None;
        }
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            self.size = 0;
            let event = std::mem::take(&mut self.event);
            return event.has_data.then_some(event);
        }
        if line.starts_with(b":") {
            self.size = self.size.saturating_sub(line.len());
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.kind),
            "data" => {
                if self.event.has_data {
                    self.event.data.push('\n');
                }
                self.event.has_data = true;
                self.event.data.push_str(value);
            }
            // Fields without use, because streams are not resumed.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, chunk: usize) -> Vec<(String, String)> {
        let mut events = EventReader::new(1000);
        let found = text.as_bytes().chunks(chunk).flat_map(|chunk| events.take(chunk));
        found.map(|event| (event.kind, event.data)).collect()
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = "\u{feff}event: endpoint\ndata: /messages?s=1\n\n: comment\nid: 3\r\nretry: 5\r\ndata:{\"ü\":\r\ndata: 1}\r\n\r\nevent: x\n\ndata: m\r\rdata: cut";
        let expected = [("endpoint", "/messages?s=1"), ("", "{\"ü\":\n1}"), ("", "m")];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        for chunk in 1..text.len() {
            assert_eq!(read(text, chunk), expected, "{chunk}");
        }
    }

    #[test]
    fn events_are_bounded_whatever_they_are_made_of() {
        for part in ["data: x\n", "x", "data:\n", ":x"] {
            let mut events = EventReader::new(1000);
            let found: Vec<ServerSentEvent> = (0..2000).flat_map(|_| events.take(part.as_bytes())).collect();
            assert!(matches!(&found[..], [one] if one.is_too_large && one.data.len() <= 1000), "{part}: {found:?}");
            // The next event is read again.
            let next = events.take(b"\n\ndata: next\n\n");
            assert!(matches!(&next[..], [one] if !one.is_too_large && one.data == "next"), "{part}: {next:?}");
        }
        // The limit applies to single events, not to their sum.
        let mut events = EventReader::new(10);
        for _ in 0..100 {
            assert_eq!(events.take(b"data: x\n\n").len(), 1);
            assert!(events.take(b": comment\n").is_empty());
        }
    }
}

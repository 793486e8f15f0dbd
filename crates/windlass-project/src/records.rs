//! The records of trust on disk.

use crate::file::{ReadError, read_text};
use crate::note::{Note, Origin};
use crate::places::Places;
use crate::request::SettingsRequest;
use crate::sources::Layer;
use crate::trust::Trust;

/// Maximum number of bytes of a trust record; the record of the other layout contains histories, too.
pub(crate) const MOST_RECORD: u64 = 32 * 1024 * 1024;

/// Returns `true` if the start directory is trusted: by this run, by sources that name the project, or by a record. A
/// record that cannot be read grants no trust.
pub fn is_trusted(places: &Places, request: &SettingsRequest) -> bool {
    let trust = read_trust(places, &mut Vec::new()).for_this_run(request.trust);
    trust.standing(&places.project, places.start(), request.sources.names(Layer::Project)).is_trusted()
}

/// Reads the trust records. One that cannot be read grants no trust.
pub(crate) fn read_trust(places: &Places, notes: &mut Vec<Note>) -> Trust {
    let mut trust = Trust::new();
    let own_records = places.records.iter().map(|path| (path, true));
    for (path, is_own) in own_records.chain(places.claude_json.iter().map(|path| (path, false))) {
        let added = match read_text(path, MOST_RECORD) {
            Ok(None) => continue,
            Ok(Some(text)) if is_own => trust.add_record(&text).map_err(|error| error.to_string()),
            Ok(Some(text)) => trust.add_claude_json(&text).map_err(|error| error.to_string()),
            Err(ReadError::TooBig) => Err(format!("larger than {MOST_RECORD} bytes")),
            Err(ReadError::Io(error)) => Err(error.to_string()),
        };
        if let Err(problem) = added {
            notes.push(Note::new(
                &Origin::File(path.clone()),
                format!("this record of trust counts for nothing: {problem}"),
            ));
        }
    }
    trust
}

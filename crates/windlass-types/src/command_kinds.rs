//! The kinds of the commands of a line, for hosts that show calls.

use serde::{Deserialize, Serialize};

/// The kinds of the commands of a line, from their programs. A line may have several. Only for showing a call: no
/// verdict depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "a line may be of each kind")]
pub struct CommandKinds {
    /// `true` if a command searches files or names, such as `grep` and `find`.
    pub search: bool,
    /// `true` if a command shows the content of files, such as `cat` and `jq`.
    pub read: bool,
    /// `true` if a command lists folders, such as `ls` and `du`.
    pub list: bool,
    /// `true` if all commands print nothing on success, such as `mkdir` and `mv`.
    pub silent: bool,
    /// `true` if a command is known to change files: by its program, an option or a redirection.
    pub write: bool,
}

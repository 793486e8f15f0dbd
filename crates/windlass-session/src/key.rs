//! Keys of sessions and projects.

use crate::{StoreError, StoreErrorKind};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;
use windlass_types::{AgentId, SessionId};

/// Maximum length of an agent id, in characters.
const AGENT_CHARS: usize = 64;

/// Maximum length of a slug without a hash, in characters.
const SLUG_CHARS: usize = 200;

/// Prefix of the keys of directories on other machines. Keys of absolute paths begin with `-`, or with the letter of a
/// drive.
const REMOTE_PREFIX: &str = "elsewhere-";
/// Number of digest digits in such a key.
const KEY_DIGITS: usize = 16;

/// Name of a project's session folder.
///
/// Two directories can have one name: `/a/b` and `/a-b`. A key that was made from a directory keeps it, so that lists
/// can leave out the sessions of others ([`may_hold`](Self::may_hold)). Keys are compared by their names alone.
#[derive(Clone)]
pub struct ProjectKey {
    name: Arc<str>,
    directory: Option<Arc<Path>>,
}

impl ProjectKey {
    /// Returns the key of a project directory. The path should be resolved (absolute, without links) so that one
    /// directory has one key.
    pub fn of(directory: &Path) -> Self {
        Self { name: slug(&directory.to_string_lossy()).into(), directory: Some(directory.into()) }
    }

    /// Returns the directory that the key was made from; `None` for a name, and for a directory on another machine.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// `false` if a session cannot belong to this directory, because its log names another one (`recorded`) with the
    /// same key. Subdirectories belong to it too. Paths are compared by their text.
    pub fn may_hold(&self, recorded: Option<&Path>) -> bool {
        let (Some(directory), Some(recorded)) = (self.directory(), recorded) else { return true };
        let text = |path: &Path| path.to_string_lossy().nfc().collect::<String>();
        Path::new(&text(recorded)).starts_with(text(directory))
    }

    /// Returns hexadecimal digits that distinguish this directory from others with the same key; empty for a key
    /// without one.
    pub fn digits(&self) -> String {
        let Some(directory) = self.directory() else { return String::new() };
        let digest = blake3::hash(directory.as_os_str().as_encoded_bytes());
        digest.to_hex().chars().take(KEY_DIGITS).collect()
    }

    /// Returns the key of a directory on another machine, so that its sessions are not mixed with those of the local
    /// directory with the same path. `place` names its location, such as `docker:web`.
    pub fn elsewhere(place: &str, directory: &Path) -> Self {
        let mut digest = blake3::Hasher::new();
        // Two slugs may be alike although places and paths differ.
        digest.update(place.as_bytes()).update(&[0]).update(directory.as_os_str().as_encoded_bytes());
        let digest: String = digest.finalize().to_hex().chars().take(KEY_DIGITS).collect();
        let name = slug(&format!("{place}{}", directory.display()));
        Self::from_slug(format!("{REMOTE_PREFIX}{digest}-{name}"))
    }

    /// `true` if the directory is [on another machine](Self::elsewhere).
    pub fn is_elsewhere(&self) -> bool {
        self.as_str().starts_with(REMOTE_PREFIX)
    }

    /// Returns a key from a slug, such as the name of a session folder.
    pub fn from_slug(slug: impl Into<Arc<str>>) -> Self {
        Self { name: slug.into(), directory: None }
    }

    /// Returns the slug.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// `true` if a folder of this name contains sessions of this project. Long slugs end in a hash that differs between
    /// programs, so only the part before the hash is compared.
    pub fn matches(&self, folder: &str) -> bool {
        if folder == self.as_str() {
            return true;
        }
        let stem =
            |name: &str| name.char_indices().nth(SLUG_CHARS).and_then(|(at, _)| name.get(..=at).map(str::to_owned));
        match (stem(self.as_str()), stem(folder)) {
            (Some(ours), Some(theirs)) => ours == theirs && ours.ends_with('-'),
            _ => false,
        }
    }
}

impl PartialEq for ProjectKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ProjectKey {}

impl PartialOrd for ProjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ProjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(&other.name)
    }
}

impl Hash for ProjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.name)
    }
}

/// A session of a project, or an agent of such a session.
///
/// An agent below the main one has a log of its own beside that of its session. Its key is used like that of a session;
/// [`SessionStore`](crate::SessionStore) lists the differences.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "these parts are what a log's address is")]
pub struct SessionKey {
    /// Key of the project.
    pub project: ProjectKey,
    /// Id of the session.
    pub session: SessionId,
    /// Id of the agent, for the log of an agent; `None` for the session itself.
    pub agent: Option<AgentId>,
}

impl SessionKey {
    /// Returns the key of a session.
    pub fn new(project: ProjectKey, session: SessionId) -> Self {
        Self { project, session, agent: None }
    }

    /// Returns the key of an agent of this session, at any depth.
    #[must_use]
    pub fn of_agent(&self, agent: AgentId) -> Self {
        Self { agent: Some(agent), ..self.clone() }
    }

    /// Returns the key of the session itself.
    #[must_use]
    pub fn of_session(&self) -> Self {
        Self { agent: None, ..self.clone() }
    }

    /// `true` if the data under the other key is part of the data under this one: it is the same, or that of an agent
    /// of this session.
    pub fn covers(&self, other: &Self) -> bool {
        let is_same_session = self.project == other.project && self.session == other.session;
        is_same_session && (self.agent.is_none() || self.agent == other.agent)
    }

    /// `true` if an id is valid for an agent with a log: a safe part of a file name, 1 to 64 of `[A-Za-z0-9_-]`.
    pub fn is_agent(id: &AgentId) -> bool {
        let id = id.as_str().as_bytes();
        (1..=AGENT_CHARS).contains(&id.len())
            && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
    }

    /// For implementers of stores: refuses a key with an invalid agent id ([`SessionKey::is_agent`]).
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidKey`].
    pub fn check_agent(&self) -> Result<(), StoreError> {
        match &self.agent {
            Some(agent) if !Self::is_agent(agent) => Err(StoreError::new(
                StoreErrorKind::InvalidKey,
                format!("{agent:?} is no id of an agent: it has 1 to {AGENT_CHARS} of A-Z, a-z, 0-9, _ and -"),
            )),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.session)?;
        self.agent.as_ref().map_or(Ok(()), |agent| write!(f, "/subagents/agent-{agent}"))
    }
}

/// Returns the folder name of a project path: every character outside `[A-Za-z0-9]` becomes `-`; beyond 200 characters,
/// the first 200, `-` and a hash of the path.
pub fn slug(path: &str) -> String {
    let path: String = path.nfc().collect();
    // By UTF-16 unit, like the programs that share this layout: a character outside the basic plane becomes two dashes.
    let mut slug: String = path
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect();
    if slug.len() > SLUG_CHARS {
        let hash = path.encode_utf16().fold(0_i32, |h, unit| h.wrapping_mul(31).wrapping_add(i32::from(unit)));
        slug.truncate(SLUG_CHARS);
        slug.push('-');
        slug.push_str(&base36(hash.unsigned_abs()));
    }
    slug
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_of_known_paths() {
        for (path, expected) in [
            ("/home/me/app", "-home-me-app"),
            ("/a_b/c.d/é e", "-a-b-c-d---e"),
            ("/e\u{301}", "--"),
            ("/\u{1f600}", "---"),
            ("", ""),
        ] {
            assert_eq!(slug(path), expected, "{path}");
        }
    }

    #[test]
    fn directories_with_one_key_are_told_apart() {
        let (key, other) = (ProjectKey::of(Path::new("/a/b")), ProjectKey::of(Path::new("/a-b")));
        assert!(key == other && key.digits() != other.digits() && key.digits().len() == KEY_DIGITS);
        for (recorded, expected) in [
            ("/a/b", true),
            ("/a/b/c", true),
            ("/a-b", false),
            ("/a/b-c", false),
            ("/a", false),
            ("/a/e\u{301}", false),
        ] {
            assert_eq!(key.may_hold(Some(Path::new(recorded))), expected, "{recorded}");
        }
        assert!(key.may_hold(None) && ProjectKey::from_slug("-a-b").may_hold(Some(Path::new("/x"))));
        assert!(ProjectKey::of(Path::new("/\u{e9}")).may_hold(Some(Path::new("/e\u{301}"))));
    }

    #[test]
    fn places_elsewhere_have_keys_of_their_own() {
        let long = format!("/{}", "a".repeat(250));
        // The slugs of these are alike, except for the last two.
        let all = [
            ("docker:web", "/1/x"),
            ("docker:web-1", "/x"),
            ("docker:web", "-1/x"),
            ("docker:a", long.as_str()),
            ("docker:b", long.as_str()),
        ];
        let keys = all.map(|(place, path)| ProjectKey::elsewhere(place, Path::new(path)));
        for (at, key) in keys.iter().enumerate() {
            assert!(key.is_elsewhere() && !keys.iter().skip(at + 1).any(|other| key.matches(other.as_str())), "{key}");
            assert!(key.as_str().bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric()), "{key}");
        }
        assert!(!ProjectKey::of(Path::new("/elsewhere-1")).is_elsewhere());
    }

    #[test]
    fn a_long_slug_ends_in_the_hash_of_the_path() {
        let path = format!("/{}", "a".repeat(250));
        let slug = slug(&path);
        // h = h * 31 + unit over the path, as a signed 32-bit number.
        let mut hash: i64 = 0;
        for byte in path.bytes() {
            hash = (hash * 31 + i64::from(byte)) & 0xffff_ffff;
        }
        let signed = if hash > 0x7fff_ffff { hash - (1 << 32) } else { hash };
        assert_eq!(slug, format!("-{}-{}", "a".repeat(199), base36(u32::try_from(signed.abs()).unwrap())));
        let key = ProjectKey::from_slug(slug);
        assert!(key.matches(&format!("-{}-zzz", "a".repeat(199))));
        assert!(!key.matches(&format!("-{}bzzz", "a".repeat(199))));
        assert!(!ProjectKey::from_slug("-a").matches("-a-b"));
    }

    #[test]
    fn base_36_of_known_numbers() {
        for (number, text) in [(0, "0"), (35, "z"), (36, "10"), (u32::MAX, "1z141z3")] {
            assert_eq!(base36(number), text);
        }
    }

    #[test]
    fn keys_of_agents() {
        let session = SessionKey::new(ProjectKey::from_slug("-p"), "s".into());
        let agent = session.of_agent("a1".into());
        assert_eq!((session.to_string().as_str(), agent.to_string().as_str()), ("-p/s", "-p/s/subagents/agent-a1"));
        assert_eq!(agent.of_session(), session);
        assert!(session.covers(&agent) && session.covers(&session) && agent.covers(&agent));
        assert!(!agent.covers(&session) && !agent.covers(&session.of_agent("a2".into())));
        assert!(!session.covers(&SessionKey::new(ProjectKey::from_slug("-q"), "s".into()).of_agent("a1".into())));
    }

    #[test]
    fn only_ids_that_are_safe_in_file_names_are_agents() {
        let check =
            |id: &str| SessionKey::new(ProjectKey::from_slug("-p"), "s".into()).of_agent(id.into()).check_agent();
        for id in ["a", "a-1_B", &"x".repeat(64)] {
            assert_eq!(check(id), Ok(()), "{id}");
        }
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "a\0", "a.b", "a b", "\u{e9}", &"x".repeat(65)] {
            assert_eq!(check(id).unwrap_err().kind, StoreErrorKind::InvalidKey, "{id}");
        }
    }
}

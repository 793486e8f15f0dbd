//! Opaque id by which a provider can tell users of one key apart.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use windlass_tool::Ids;
use windlass_tool::private_file::AtomicFile;

/// File of the id, below the home.
const FILE: &str = "windlass-user-id";
/// Hexadecimal digits of 128 bits.
const DIGITS: usize = 32;

/// Id stored in a home. Made at the first call: random bits, which name neither an account nor a machine. `None` if it
/// can be neither read nor stored, because an id that changes with every session would make one user look like many.
pub(crate) fn user_id(home: &Path, ids: &dyn Ids) -> Option<String> {
    let path = home.join(FILE);
    match read(&path) {
        Ok(id) => id,
        Err(error) if error.kind() == ErrorKind::NotFound => make(home, &path, ids),
        Err(_) => None,
    }
}

fn make(home: &Path, path: &Path, ids: &dyn Ids) -> Option<String> {
    let id = format!("{:0DIGITS$x}", ids.bits());
    std::fs::create_dir_all(home).ok()?;
    let place = || {
        let mut new = AtomicFile::create(path)?;
        new.file().write_all(id.as_bytes())?;
        new.place_new()
    };
    match place() {
        Ok(()) => Some(id),
        // Another session was faster.
        Err(_) => read(path).ok().flatten(),
    }
}

/// Content of the file, if that is an id: any other content is not sent anywhere.
fn read(path: &Path) -> std::io::Result<Option<String>> {
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let mut text = String::new();
    File::open(path)?.take((DIGITS + 2) as u64).read_to_string(&mut text)?;
    let id = text.trim_end();
    let is_id = id.len() == DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(is_id.then(|| id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_runtime::SystemIds;

    #[test]
    fn one_home_has_one_id_and_another_home_another() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ids = SystemIds::default();
        let home = one.path().join("not/there/yet");
        let first = user_id(&home, &ids).unwrap();
        assert_eq!(first.len(), DIGITS);
        assert_eq!(user_id(&home, &ids), Some(first.clone()));
        assert_ne!(user_id(other.path(), &ids), Some(first));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = home.join(FILE).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn what_is_no_id_is_not_sent() {
        let home = tempfile::tempdir().unwrap();
        let ids = SystemIds::default();
        for text in ["me@example.com", "", "0123", &"0".repeat(64), &"é".repeat(16)] {
            std::fs::write(home.path().join(FILE), text).unwrap();
            assert_eq!(user_id(home.path(), &ids), None, "{text:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_its_place_does_not_hang() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(user_id(home.path(), &SystemIds::default()), None);
    }
}

//! The arguments of bubblewrap.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::confinement::Confinement;

/// Returns the arguments of bubblewrap, before the program and its arguments. `empty` is a directory without names,
/// which no program inside can write.
///
/// The whole file system is visible, read-only, with hidden places empty; the program has its own processes and devices
/// and, unless the network is open, its own network.
pub(crate) fn arguments(confinement: &Confinement, empty: &Path) -> Vec<OsString> {
    let mut all = namespaces(confinement);
    let mut add = |words: &[&OsStr]| all.extend(words.iter().map(|word| (*word).to_owned()));
    let word = OsStr::new;
    add(&[word("--ro-bind"), word("/"), word("/")]);
    add(&[word("--dev"), word("/dev"), word("--proc"), word("/proc")]);
    let mut bind = |how: &str, path: &Path| add(&[word(how), path.as_os_str(), path.as_os_str()]);
    confinement.writable.iter().for_each(|path| bind("--bind", path));
    confinement.pins.iter().for_each(|path| bind("--bind", path));
    confinement.masks.iter().for_each(|path| bind("--ro-bind", path));
    for path in &confinement.hidden_directories {
        add(&[word("--ro-bind"), empty.as_os_str(), path.as_os_str()]);
    }
    for path in &confinement.hidden_files {
        add(&[word("--ro-bind"), word("/dev/null"), path.as_os_str()]);
    }
    all.extend(end(confinement));
    all
}

/// Returns the arguments for a program that is the helper, which creates the view of the file system itself: bubblewrap
/// reads the list of all mounts for each mount that it makes, and the helper reads it once. Processes and the network
/// are left to bubblewrap.
///
/// Root has to keep the capability for another user namespace with root in it (`user_namespaces(7)`). The helper drops
/// it.
pub(crate) fn without_view(confinement: &Confinement, is_root: bool) -> Vec<OsString> {
    let mut all = namespaces(confinement);
    if is_root {
        all.extend(["--cap-add", "CAP_SETFCAP"].map(OsString::from));
    }
    all.extend(["--dev-bind", "/", "/", "--proc", "/proc"].map(OsString::from));
    all.extend(end(confinement));
    all
}

/// Returns the first arguments: separate namespaces, and no capabilities.
fn namespaces(confinement: &Confinement) -> Vec<OsString> {
    let network = (!confinement.network).then_some("--unshare-net");
    let all = ["--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc"];
    all.into_iter().chain(network).chain(["--cap-drop", "ALL"]).map(OsString::from).collect()
}

/// Returns the last arguments before the program.
fn end(confinement: &Confinement) -> [OsString; 3] {
    ["--chdir".into(), confinement.cwd.clone().into_os_string(), "--".into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn confinement() -> Confinement {
        Confinement {
            cwd: "/w/src".into(),
            writable: vec!["/w".into(), "/tmp/t".into()],
            pins: vec!["/w/.git".into()],
            masks: vec!["/w/.git/hooks".into()],
            hidden_directories: vec!["/h/.ssh".into()],
            hidden_files: vec!["/h/.netrc".into()],
            ..Confinement::default()
        }
    }

    #[test]
    fn the_arguments_are_these() {
        let text: Vec<String> = arguments(&confinement(), Path::new("/t/empty"))
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        let expected = "--die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-net --cap-drop ALL \
                        --ro-bind / / --dev /dev --proc /proc --bind /w /w --bind /tmp/t /tmp/t --bind /w/.git /w/.git \
                        --ro-bind /w/.git/hooks /w/.git/hooks --ro-bind /t/empty /h/.ssh \
                        --ro-bind /dev/null /h/.netrc --chdir /w/src --";
        assert_eq!(text.join(" "), expected);
    }

    #[test]
    fn without_a_view_the_file_system_is_as_it_is() {
        for (is_root, kept) in [(false, ""), (true, "--cap-add CAP_SETFCAP ")] {
            let all = without_view(&confinement(), is_root);
            let text: Vec<String> = all.into_iter().map(|word| word.into_string().unwrap()).collect();
            let begin = "--die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-net --cap-drop ALL";
            assert_eq!(text.join(" "), format!("{begin} {kept}--dev-bind / / --proc /proc --chdir /w/src --"));
        }
    }

    #[test]
    fn an_open_network_is_that_of_the_host() {
        let open = arguments(&Confinement { network: true, ..confinement() }, Path::new("/t/empty"));
        let open_without = without_view(&Confinement { network: true, ..confinement() }, true);
        let separates = |all: &[OsString]| all.contains(&OsString::from("--unshare-net"));
        assert!(!separates(&open) && !separates(&open_without));
    }

    #[test]
    fn a_path_that_looks_like_an_option_stays_a_path() {
        let hostile = PathBuf::from("/w/--bind");
        let all = arguments(&Confinement { masks: vec![hostile.clone()], ..confinement() }, Path::new("/t/empty"));
        let at = all.iter().position(|word| *word == hostile).unwrap();
        assert_eq!((&all[at - 1], &all[at + 1]), (&OsString::from("--ro-bind"), &hostile.into_os_string()));
    }
}

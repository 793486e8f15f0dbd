use super::*;
use crate::trust::Standing;
use crate::{Layer, Settings, resolve};

fn file(layer: Layer, text: &str) -> SettingsFile {
    let settings = Settings::parse(text).unwrap();
    SettingsFile::new(layer, Origin::File("f".into()), "/w", settings).with_standing(Standing::trusted())
}

const ALL: &str = r#"{"sandbox":{
    "enabled": true, "failIfUnavailable": true, "autoAllowBashIfSandboxed": true, "allowUnsandboxedCommands": true,
    "excludedCommands": ["docker *"], "excludedMcpServers": ["browser"], "excludedLanguageServers": ["java"],
    "enableWeakerNestedSandbox": true, "bwrapPath": "/b", "socatPath": "/s",
    "network": {"allowedDomains": ["a.com"], "deniedDomains": ["b.com"], "sharedWithWebFetch": true, "allowAllUnixSockets": true, "httpProxyPort": 1},
    "filesystem": {
        "allowWrite": ["/a/**", "~/b", "c"], "denyWrite": ["//d/*", "./e"], "denyRead": ["f", "*.pem"], "allowRead": ["g"]
    }
}}"#;

fn paths(all: &[PathBuf]) -> Vec<&str> {
    all.iter().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn all_keys_of_a_user_count() {
    let resolved = resolve(&[file(Layer::User, ALL)]).unwrap();
    let (sandbox, said) = (&resolved.sandbox, &resolved.sandbox.settings);
    assert!(sandbox.enabled.is_some() && sandbox.required.is_some());
    let wishes = [said.auto_allow, said.allow_unsandboxed, said.weaker, said.unix_sockets];
    assert_eq!(wishes, [Some(true); 4]);
    assert_eq!((said.bubblewrap.as_deref(), said.excluded.len()), (Some(Path::new("/b")), 1));
    assert_eq!((&said.excluded_servers[..], said.domains.shared), (&["browser".to_owned()][..], Some(true)));
    assert_eq!(said.excluded_language_servers, ["java"]);
    assert_eq!((&said.domains.allowed[..], &said.domains.denied[..]), (&["a.com".into()][..], &["b.com".into()][..]));
    assert_eq!(paths(&said.files.allow_write), ["/a", "~/b", "/w/c"]);
    assert_eq!(paths(&said.files.deny_write), ["/d", "/w/./e"]);
    assert_eq!((paths(&said.files.deny_read), paths(&said.files.allow_read)), (vec!["/w/f"], vec!["/w/g"]));
    let notes: Vec<String> = resolved.notes.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("*.pem")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("sandbox.socatPath")), "{notes:?}");
}

#[test]
fn a_project_confines_and_never_frees() {
    for layer in [Layer::Project, Layer::Local] {
        let resolved = resolve(&[file(layer, ALL)]).unwrap();
        let said = &resolved.sandbox.settings;
        assert!(resolved.sandbox.required.is_some());
        assert_eq!([said.auto_allow, said.allow_unsandboxed, said.weaker, said.unix_sockets], [None; 4]);
        assert!(said.bubblewrap.is_none() && said.excluded.is_empty() && said.excluded_servers.is_empty());
        assert!(said.excluded_language_servers.is_empty());
        assert!(said.domains.allowed.is_empty() && said.domains.shared.is_none());
        assert!(said.files.allow_write.is_empty() && said.files.allow_read.is_empty());
        assert_eq!((said.files.deny_write.len(), said.files.deny_read.len(), said.domains.denied.len()), (2, 1, 1));
        let said = |note: &Note| note.to_string().contains("does not count in a file of a project");
        assert!(resolved.notes.iter().any(said));
    }
    // A narrowing setting takes precedence over the user's, without a note.
    let narrow = r#"{"sandbox":{"autoAllowBashIfSandboxed":false,"allowUnsandboxedCommands":false}}"#;
    let resolved = resolve(&[file(Layer::Project, narrow), file(Layer::User, ALL)]).unwrap();
    let said = &resolved.sandbox.settings;
    assert_eq!((said.auto_allow, said.allow_unsandboxed, said.weaker), (Some(false), Some(false), Some(true)));
    assert!(!resolved.notes.iter().any(|note| note.to_string().contains("does not count in a file of a project")));
}

#[test]
fn a_value_of_another_type_is_an_error_and_null_is_none() {
    for text in [r#"{"sandbox":{"enabled":"yes"}}"#, r#"{"sandbox":{"filesystem":{"denyRead":"x"}}}"#] {
        assert!(Settings::parse(text).is_err(), "{text}");
    }
    let null = r#"{"sandbox":{"enabled":null,"network":null,"filesystem":{"denyRead":null},"excludedCommands":null}}"#;
    assert_eq!(Settings::parse(null).unwrap().sandbox, SandboxSettings::default());
}

//! Rules on paths of Windows, as a session there reads them. Pure, so they are tried on every system.

use super::*;

const STYLE: PathStyle = PathStyle::Windows;

fn rule(behavior: Behavior, specifier: &str) -> PathRule {
    let place = Place {
        source: RuleSource::Session,
        behavior,
        anchor: Path::new(r"C:\work\app"),
        start_directory: Path::new(r"C:\work\app"),
        home: Some(Path::new(r"C:\Users\me")),
        style: STYLE,
    };
    path_rule(specifier, Scope::Edit, &place).unwrap()
}

fn subject(path: &str) -> Subject {
    Subject::in_style(path.into(), STYLE)
}

fn workspace() -> [Directory; 1] {
    [Directory::in_style(Path::new(r"\\?\C:\work\app"), STYLE)]
}

fn allows(specifier: &str, path: &str) -> bool {
    rule(Behavior::Allow, specifier).covers(&subject(path), false, &workspace())
}

fn denies(specifier: &str, path: &str) -> bool {
    rule(Behavior::Deny, specifier).reach(&subject(path), &workspace()) == Reach::Covers
}

#[test]
fn one_file_is_one_however_it_is_written() {
    for path in [
        r"C:\work\app\src\x.rs",
        r"c:/work/app/src/x.rs",
        r"\\?\C:\work\app\src\x.rs",
        r"\\.\c:\work\app\src\x.rs",
        r"C:\work\app\lib\..\src\.\x.rs",
    ] {
        for specifier in
            ["src/**", "./src/*.rs", "/src/x.rs", "//c/work/app/src/**", r"C:\work\app\**", "C:/work/app/**"]
        {
            assert!(allows(specifier, path), "{specifier} {path}");
            assert!(denies(specifier, path), "{specifier} {path}");
        }
        assert!(!allows("~/**", path) && !allows("//d/**", path) && !denies("//d/**", path), "{path}");
        assert!(workspace()[0].contains(&subject(path)), "{path}");
    }
    assert!(allows("~/notes/**", r"C:\Users\me\notes\x") && allows(r"\\srv\share\**", r"\\SRV\Share\a\b"));
    assert!(!workspace()[0].contains(&subject(r"C:\work\application\x")));
    assert!(!workspace()[0].contains(&subject(r"D:\work\app\x")));
}

#[test]
fn rules_that_deny_hold_in_every_spelling() {
    for path in [r"C:\work\app\.ENV", r"C:\work\app\.env. ", r"c:\WORK\App\a\.Env"] {
        assert!(denies(".env", path), "{path}");
    }
    assert!(denies("//c/Secrets/**", r"C:\SECRETS\x"));
    // A rule that allows is for the very name.
    assert!(allows("src/a", r"C:\work\app\src\a") && !allows("src/a", r"C:\work\app\src\A"));
}

#[test]
fn what_may_be_another_file_is_allowed_by_nothing_and_met_by_all_that_denies() {
    for path in [
        r"C:\work\app\SECRET~1\x",
        r"C:\work\app\x:stream",
        r"C:\work\app\.env::$DATA",
        r"C:x",
        r"\work\app\x",
        r"C:\work\app\NUL",
        r"\\.\pipe\x",
    ] {
        assert!(!allows("./**", path) && !allows("//c/**", path), "{path}");
        assert!(denies("secrets/**", path), "{path}");
        assert!(!workspace()[0].contains(&subject(path)), "{path}");
        assert!(workspace()[0].holds(&subject(path)), "{path}");
    }
}

#[test]
fn rules_that_are_suggested_mean_what_they_were_made_of() {
    for (path, text) in
        [(r"C:\Users\me\x", "/c/Users/me/x"), (r"\\?\C:\a", "/c/a"), (r"\\Srv\Data\x", "/UNC/srv/data/x")]
    {
        let made = STYLE.rule_text(Path::new(path)).unwrap();
        assert_eq!(made, text);
        assert!(allows(&format!("/{made}"), path), "{path}");
    }
    assert_eq!(STYLE.rule_text(Path::new("C:x")), None);
    assert_eq!(PathStyle::Unix.rule_text(Path::new("/a/b")).as_deref(), Some("/a/b"));
    assert_eq!(PathStyle::Unix.pattern(r"C:\a"), r"C:\a");
}

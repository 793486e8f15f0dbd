use super::*;

/// Script in the arguments.
fn script(args: &[OsString]) -> String {
    let encoded = args.last().unwrap().to_str().unwrap();
    let bytes = STANDARD.decode(encoded).unwrap();
    let units: Vec<u16> = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16(&units).unwrap()
}

#[test]
fn a_command_reaches_powershell_as_it_is() {
    for command in ["Get-ChildItem 'a b' | % { \"$_`n\" }", "'ก' # 日本 🦀", "echo \"x\"\n\\\" ' %PATH% ^& |"] {
        let arguments = arguments(command).unwrap();
        let before = ["-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand"];
        assert_eq!(arguments[..6], before.map(OsString::from));
        assert_eq!(script(&arguments), format!("{PROLOGUE}{command}{EPILOGUE}"));
        let encoded = arguments[6].to_str().unwrap();
        assert!(encoded.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c)), "{encoded}");
    }
}

#[test]
fn a_command_that_windows_cannot_take_is_refused() {
    assert!(arguments(&"x".repeat(11_000)).is_ok());
    let refused = arguments(&"x".repeat(12_000)).unwrap_err();
    assert!(refused.to_string().contains(".ps1"), "{refused}");
}

#[cfg(unix)]
#[test]
fn the_newer_one_is_preferred() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("System32/WindowsPowerShell/v1.0/powershell.exe");
    std::fs::create_dir_all(old.parent().unwrap()).unwrap();
    let mut env = vec![("SystemRoot".into(), folder.path().into()), ("PATH".into(), folder.path().into())];
    assert_eq!(find_powershell(&env), None);
    std::fs::write(&old, "").unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(find_powershell(&env), Some(old));
    // The name has an extension on Windows alone.
    let new = folder.path().join("pwsh");
    std::fs::write(&new, "").unwrap();
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(find_powershell(&env), Some(new));
    env.clear();
    assert_eq!(find_powershell(&env), None);
}

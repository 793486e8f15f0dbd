//! The image of the clipboard, read by a program of the desktop that is started for it alone.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempPath;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Longest run of the program.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size of an image, in bytes.
const MOST: u64 = 32 << 20;
/// First bytes of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Programs that print the image of the clipboard as PNG, with the variable of the desktop that they belong to.
const READERS: [(&str, &[&str], Option<&str>); 3] = [
    ("wl-paste", &["--no-newline", "--type", "image/png"], Some("WAYLAND_DISPLAY")),
    ("xclip", &["-selection", "clipboard", "-target", "image/png", "-out"], Some("DISPLAY")),
    ("pngpaste", &["-"], None),
];

/// Reads the image of the clipboard into a file, which is removed when the path is dropped.
///
/// # Errors
/// A sentence that says why there is none.
pub(super) async fn image() -> Result<TempPath, String> {
    let is_there = |name: &Option<&str>| match name {
        Some(name) => std::env::var_os(name).is_some_and(|value| !value.is_empty()),
        None => cfg!(target_os = "macos"),
    };
    let mut missing = Vec::new();
    for (program, arguments, _) in READERS.iter().filter(|(_, _, desktop)| is_there(desktop)) {
        match output(program, arguments).await {
            Some(bytes) if bytes.starts_with(PNG) => return kept(&bytes).map_err(|error| error.to_string()),
            Some(_) => return Err("The clipboard holds no image.".to_owned()),
            None => missing.push(*program),
        }
    }
    Err(match missing.first() {
        Some(program) => format!("No image was read from the clipboard: install {program}, or give its path behind @."),
        None => "There is no clipboard of a desktop here: give the path of the image behind @.".to_owned(),
    })
}

/// Standard output of a program; `None` if it cannot be started or takes too long.
async fn output(program: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let mut bytes = Vec::new();
    let mut bounded = child.stdout.take()?.take(MOST);
    tokio::time::timeout(PATIENCE, bounded.read_to_end(&mut bytes)).await.ok()?.ok()?;
    Some(bytes)
}

fn kept(bytes: &[u8]) -> std::io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("clipboard-").suffix(".png").tempfile()?;
    file.write_all(bytes)?;
    Ok(file.into_temp_path())
}

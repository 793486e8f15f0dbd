//! Raw mode of a terminal of the system.

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use windlass_terminal::capabilities::Background;
use windlass_terminal::raw::{RawMode, window_size};
use windlass_terminal::screen::Size;

/// The two ends of a pseudo terminal: the side of the terminal, and the side of the program.
fn terminal() -> (File, OwnedFd) {
    let outside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&outside).unwrap();
    unlockpt(&outside).unwrap();
    let name = ptsname(&outside, Vec::new()).unwrap();
    let inside = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (File::from(outside), inside)
}

fn is_raw(terminal: &OwnedFd) -> bool {
    !tcgetattr(terminal).unwrap().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
}

#[test]
fn the_terminal_is_put_back() {
    let (_outside, inside) = terminal();
    assert!(!is_raw(&inside));
    let raw = RawMode::enter(inside.try_clone().unwrap()).unwrap();
    assert!(is_raw(&inside));
    raw.leave().unwrap();
    assert!(!is_raw(&inside));
    raw.reenter().unwrap();
    assert!(is_raw(&inside));
    drop(raw);
    assert!(!is_raw(&inside));
    let (reader, _writer) = rustix::pipe::pipe().unwrap();
    assert!(RawMode::enter(reader).is_err());
}

#[test]
fn the_size_is_the_one_that_the_terminal_tells() {
    let (_outside, inside) = terminal();
    assert_eq!(window_size(&inside), None);
    tcsetwinsize(&inside, Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    assert_eq!(window_size(&inside), Some(Size::new(100, 30)));
}

#[test]
fn the_background_is_asked_for_and_keys_stay() {
    let (mut outside, inside) = terminal();
    let raw = RawMode::enter(inside.try_clone().unwrap()).unwrap();
    let answers = std::thread::spawn(move || {
        let mut question = [0; 64];
        let count = outside.read(&mut question).unwrap();
        assert!(question[..count].starts_with(b"\x1b]11;?"));
        outside.write_all(b"hi\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c").unwrap();
        outside
    });
    let (background, keys) = raw.probe(File::from(inside), 20).unwrap();
    assert_eq!((background, keys), (Some(Background::Light), b"hi".to_vec()));
    answers.join().unwrap();
}

#[test]
fn a_terminal_that_does_not_answer_is_not_waited_for() {
    let (_outside, inside) = terminal();
    let raw = RawMode::enter(inside.try_clone().unwrap()).unwrap();
    assert_eq!(raw.probe(File::from(inside), 1).unwrap(), (None, Vec::new()));
}

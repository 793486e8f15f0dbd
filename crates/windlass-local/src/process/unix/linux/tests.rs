use super::*;

#[test]
fn a_name_may_hold_anything() {
    let line = b"4242 (a) b ((x) S 17 4240 4239 34816 4242 4194564 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
    assert_eq!(
        parse_stat(line),
        Some(Stat {
            pid: 4242,
            state: b'S',
            parent: 17,
            group: 4240,
            session: 4239,
            flags: 4_194_564,
            threads: 1,
            start: 987_654
        })
    );
}

#[test]
fn a_cut_line_is_no_process() {
    let line = b"4242 (cat) S 17 4240 4239 34816 4242 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
    for end in 0..line.len() - b"4 1 2".len() - 1 {
        let cut = &line[..end];
        assert!(parse_stat(cut).is_none_or(|stat| stat.start < 987_654), "{end}");
    }
}

#[test]
fn the_own_line_is_readable() {
    let own = stat(self_id()).expect("own entry");
    assert_eq!(own.pid, self_id());
    assert!(!own.is_dead());
    assert!(newest_pid().expect("newest") > 0);
}

#[test]
fn an_ending_process_is_dead_unless_other_threads_run() {
    let process =
        |state, flags, threads| Stat { pid: 9, state, parent: 1, group: 9, session: 9, flags, threads, start: 1 };
    assert!(!process(b'S', 0, 1).is_dead());
    assert!(process(b'R', EXITING, 1).is_dead());
    assert!(process(b'Z', EXITING, 1).is_dead());
    assert!(!process(b'Z', EXITING, 4).is_dead());
}

#[test]
fn a_thread_of_our_own_is_no_process_of_a_tree() {
    let (started, wait) = std::sync::mpsc::channel::<()>();
    let (send_id, id) = std::sync::mpsc::channel::<i32>();
    let thread = std::thread::spawn(move || {
        let link = fs::read_link("/proc/thread-self").expect("own thread");
        let own_id = link.file_name().and_then(|name| name.to_str()?.parse().ok());
        send_id.send(own_id.expect("a number")).expect("a receiver");
        wait.recv()
    });
    // Threads of other tests may end in the midst of the check.
    let number = id.recv().expect("the id of the thread");
    let tree = Tree {
        leader: getpid(),
        keeper: None,
        mark: "NO=MARK".to_owned(),
        pipes: Vec::new(),
        started: std::time::Instant::now(),
        start: None,
    };
    // The number has a line, which would make it a member: it is in the leader's group.
    assert!(stat(number).is_ok());
    assert!(check_process(&tree, number, true).is_none(), "{number}");
    drop(started);
    let _ = thread.join();
}

#[test]
fn what_may_pass_is_no_answer() {
    let unsure = Members { processes: Vec::new(), is_unsure: true };
    assert_eq!(unsure.len(), 1, "the caller has to look again");
    for error in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::IO] {
        assert!(is_temporary(&error.into()), "{error}");
    }
    // The process is gone or forbidden, or there is no table.
    for error in [Errno::NOENT, Errno::SRCH, Errno::ACCESS, Errno::PERM, Errno::NOTDIR] {
        assert!(!is_temporary(&error.into()), "{error}");
    }
}

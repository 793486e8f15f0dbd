use super::*;
use std::sync::mpsc;
use tokio::io::AsyncWriteExt as _;

/// A reader that reads when a test lets it, and reports what it read.
struct Reader {
    turns: mpsc::Receiver<io::Result<()>>,
    read: mpsc::Sender<Vec<u8>>,
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // When the test has ended it reads all bytes.
        self.turns.recv().unwrap_or(Ok(()))?;
        let _ = self.read.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream, the means to let its reader continue, and what the reader has read.
fn stream() -> (Reader, mpsc::Sender<io::Result<()>>, mpsc::Receiver<Vec<u8>>) {
    let (turn, turns) = mpsc::channel();
    let (read, reads) = mpsc::channel();
    (Reader { turns, read }, turn, reads)
}

fn is_ready(future: impl Future) -> bool {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    std::pin::pin!(future).as_mut().poll(&mut cx).is_ready()
}

#[tokio::test]
async fn a_reader_that_does_not_read_holds_up_only_those_who_wait_for_room() {
    let (out, turn, read) = stream();
    let writer = Writer::over(out, io::sink());
    writer.to(Target::Out).write_all(&vec![b'x'; ROOM]).unwrap();
    assert!(is_ready(writer.room()));
    writer.to(Target::Out).write_all(b"y").unwrap();
    assert!(!is_ready(writer.room()) && !is_ready(writer.written()));
    drop(turn);
    writer.finish().await.unwrap();
    assert!(is_ready(writer.room()));
    assert_eq!(read.try_iter().map(|part| part.len()).sum::<usize>(), ROOM + 1);
}

#[tokio::test]
async fn both_streams_keep_their_order() {
    let (out, turn, out_read) = stream();
    let (err, err_turn, err_read) = stream();
    let writer = Writer::over(out, err);
    let (mut out, mut err) = (writer.to(Target::Out), writer.to(Target::Err));
    for round in 0..3_u8 {
        out.write_all(&[b'a', round]).unwrap();
        err.write_all(&[b'b', round]).unwrap();
    }
    for round in 0..3 {
        assert!(err_read.try_recv().is_err());
        turn.send(Ok(())).unwrap();
        assert_eq!(out_read.recv().unwrap(), [b'a', round]);
        assert!(out_read.try_recv().is_err());
        err_turn.send(Ok(())).unwrap();
        assert_eq!(err_read.recv().unwrap(), [b'b', round]);
    }
    writer.finish().await.unwrap();
}

#[tokio::test]
async fn a_reader_that_is_gone_ends_every_wait_with_the_reason() {
    let (out, turn, _read) = stream();
    let writer = Writer::over(out, io::sink());
    writer.to(Target::Out).write_all(&vec![b'x'; ROOM + 1]).unwrap();
    let mut output = WaitingOutput::new(writer.clone());
    let waits = async { tokio::join!(writer.room(), writer.written(), writer.failed(), output.write_all(b"z")) };
    let end = async { turn.send(Err(io::ErrorKind::BrokenPipe.into())).unwrap() };
    let ((room, written, failed, late), ()) = tokio::join!(waits, end);
    for error in [room.unwrap_err(), written.unwrap_err(), failed, late.unwrap_err()] {
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
    assert_eq!(writer.to(Target::Out).write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(writer.finish().await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    writer.to(Target::Note).write_all(b"a note").unwrap();
}

#[tokio::test]
async fn notes_may_be_lost() {
    let (err, turn, read) = stream();
    let writer = Writer::over(io::sink(), err);
    turn.send(Err(io::ErrorKind::BrokenPipe.into())).unwrap();
    writer.to(Target::Note).write_all(b"lost").unwrap();
    writer.written().await.unwrap();
    drop(turn);
    writer.to(Target::Err).write_all(b"read").unwrap();
    writer.finish().await.unwrap();
    assert_eq!(read.recv().unwrap(), b"read");
}

#[tokio::test]
async fn after_the_signal_to_end_no_reader_is_waited_for() {
    let (out, _turn, _read) = stream();
    let writer = Writer::over(out, io::sink());
    let mut output = WaitingOutput::new(writer.clone());
    output.write_all(&vec![b'x'; 2 * ROOM]).await.unwrap();
    assert!(!is_ready(writer.room()));
    writer.hurry();
    writer.room().await.unwrap();
    output.write_all(b"last words").await.unwrap();
    output.flush().await.unwrap();
    writer.finish().await.unwrap();
}

#[tokio::test]
async fn a_flush_waits_for_the_reader() {
    let (out, turn, read) = stream();
    let writer = Writer::over(out, io::sink());
    let mut output = WaitingOutput::new(writer);
    output.write_all(b"frame\n").await.unwrap();
    assert!(!is_ready(output.flush()));
    turn.send(Ok(())).unwrap();
    output.flush().await.unwrap();
    assert_eq!(read.recv().unwrap(), b"frame\n");
}

use super::*;

fn id(number: u32) -> EntryId {
    EntryId::from_bits(number.into())
}

fn file(content: &str) -> State {
    State::File { hash: blake3::hash(content.as_bytes()), size: content.len() as u64, mode: None }
}

fn begin(number: u32) -> Record {
    Record::Begin { id: id(number), kind: Kind::Prompt, at: Timestamp::from_millis(number.into()) }
}

fn kept(number: u32, path: &str, state: State) -> Record {
    Record::Kept { id: id(number), tool: None, path: path.into(), state }
}

fn history(records: impl IntoIterator<Item = Record>) -> History {
    let mut history = History::default();
    records.into_iter().for_each(|record| history.apply(record));
    history
}

fn targets(history: &History, number: u32) -> Vec<(String, State)> {
    let targets = history.targets(&id(number)).unwrap();
    targets.into_iter().map(|(path, state)| (path.to_string_lossy().into_owned(), state)).collect()
}

#[test]
fn the_first_state_since_a_checkpoint_counts() {
    let absent = State::Absent { parents: 0 };
    let history = history([
        begin(1),
        kept(1, "/a", file("a1")),
        kept(1, "/a", file("a1 again")),
        begin(2),
        begin(3),
        kept(3, "/a", file("a3")),
        kept(3, "/b", absent.clone()),
        // A late record of an earlier prompt is about the present state.
        kept(1, "/c", file("c3")),
    ]);
    let later = [("/b".to_owned(), absent), ("/c".to_owned(), file("c3"))];
    assert_eq!(targets(&history, 1), [&[("/a".to_owned(), file("a1"))], later.as_slice()].concat());
    assert_eq!(targets(&history, 2), targets(&history, 3));
    assert_eq!(targets(&history, 3), [&[("/a".to_owned(), file("a3"))], later.as_slice()].concat());
    assert_eq!(history.targets(&id(9)), Err(Unusable::Unknown));
    assert_eq!(history.list().iter().map(|point| point.files).collect::<Vec<_>>(), [1, 0, 3]);
}

#[test]
fn room_is_made_by_dropping_the_oldest_contents_that_no_other_checkpoint_needs() {
    let records = [
        begin(1),
        kept(1, "/a", file("1234")),
        kept(1, "/b", file("shared")),
        begin(2),
        kept(2, "/b", file("shared")),
        kept(2, "/c", file("12345678")),
        begin(3),
    ];
    let mut full = history(records.clone());
    assert_eq!(full.make_room(2, 20, None), Some(Room::default()));
    let room = full.make_room(3, 20, None).unwrap();
    assert_eq!((room.through, room.removed), (Some(id(1)), vec![blake3::hash(b"1234")]));
    // The same history when it is read from its records.
    let mut dropped = history(records.clone());
    dropped.apply(Record::Dropped { through: id(1) });
    assert_eq!(targets(&full, 1), targets(&dropped, 1));
    let [(_, State::Unkept { why }), ..] = &targets(&full, 1)[..] else { panic!() };
    assert!(why.contains("dropped"));
    assert_eq!(targets(&full, 2), targets(&history(records.clone()), 2));
    // Contents needed by a rewind stay, and so do those of the last checkpoint.
    assert_eq!(history(records.clone()).make_room(10, 20, Some(&id(2))), None);
    assert_eq!(history(records).make_room(21, 20, None), None);
}

#[test]
fn what_lies_before_damage_cannot_be_used() {
    let mut history = history([begin(1), kept(1, "/a", file("a"))]);
    history.damaged();
    history.apply(kept(2, "/b", file("b")));
    assert_eq!(history.targets(&id(1)), Err(Unusable::Damaged));
    assert_eq!(targets(&history, 2), [("/b".to_owned(), file("b"))]);
    assert_eq!(history.list().len(), 1);
}

#[test]
fn a_long_history_is_written_again_without_its_oldest_part() {
    let all = history((1..=20).flat_map(|number| [begin(number), kept(number, "/a", file(&number.to_string()))]));
    let short = history(all.records(10));
    assert_eq!(short.list().len(), 5);
    for number in 16..=20 {
        assert_eq!(targets(&short, number), targets(&all, number));
    }
    assert_eq!(short.targets(&id(15)), Err(Unusable::Unknown));
}

#[test]
fn what_is_pinned_counts_and_is_not_dropped() {
    let (State::File { hash, size, .. }, State::File { hash: other, .. }) = (file("1234"), file("567890")) else {
        panic!("both are files")
    };
    let mut full = history([begin(1), kept(1, "/a", file("1234")), begin(2)]);
    assert_eq!(full.pin(hash, size, 9), Some(true), "it is stored already");
    assert_eq!(full.pin(other, 6, 9), None, "there is no room for both");
    assert_eq!(full.make_room(6, 9, None), None, "there is no way to make some");
    assert!(targets(&full, 1).contains(&("/a".to_owned(), file("1234"))), "so no content is dropped");
    // Dropped to make space for another content, it still exists for the record that names it.
    full.apply(Record::Dropped { through: id(1) });
    assert!(full.has_object(&hash));
    full.apply(kept(2, "/b", file("1234")));
    full.unpin(&hash);
    assert!(full.has_object(&hash) && !full.fits(6, 9));
    // A content that is put and not yet recorded occupies space as well, and frees it again.
    assert_eq!(full.pin(other, 6, 10), Some(false));
    assert!(!full.fits(1, 10));
    full.stored(&other);
    assert_eq!(full.pin(other, 6, 10), Some(true));
    full.unpin(&other);
    full.unpin(&other);
    assert!(full.fits(6, 10) && !full.has_object(&other));
}

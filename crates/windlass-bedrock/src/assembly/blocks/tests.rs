//! Blocks with interleaved pieces, in any order.

use super::*;
use proptest::prelude::*;

fn call(id: &str) -> BlockPiece {
    BlockPiece::Call { id: id.into(), name: "Read".to_owned() }
}

fn text(text: &str) -> BlockPiece {
    BlockPiece::Text(text.to_owned())
}

/// Returns the events of pieces, one line each.
fn lines(pieces: Vec<(u64, BlockPiece)>) -> Result<Vec<String>, &'static str> {
    let (mut blocks, mut ready) = (ConverseBlocks::default(), BlockEvents::new());
    for (at, piece) in pieces {
        blocks.take(at, piece, &mut ready)?;
    }
    blocks.end(&mut ready)?;
    Ok(ready.iter().map(line).collect())
}

fn line(event: &ModelEvent) -> String {
    match event {
        ModelEvent::BlockStart { index, block: BlockStart::Text(_) } => format!("{index} text"),
        ModelEvent::BlockStart { index, block: BlockStart::Thinking { .. } } => format!("{index} thinking"),
        ModelEvent::BlockStart { index, block: BlockStart::ToolUse { id, .. } } => format!("{index} call {id}"),
        ModelEvent::BlockStart { index, block: BlockStart::Whole(block) } => format!("{index} {block:?}"),
        ModelEvent::BlockDelta { index, delta } => match delta {
            StreamDelta::Text(text)
            | StreamDelta::Thinking(text)
            | StreamDelta::Signature(text)
            | StreamDelta::ToolInput(text) => format!("{index} +{text}"),
            other => panic!("{other:?}"),
        },
        ModelEvent::BlockStop { index } => format!("{index} ends"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn pieces_of_later_blocks_wait() {
    let pieces = vec![
        (0, text("a")),
        (2, call("two")),
        (1, call("one")),
        (2, BlockPiece::Input("{2".to_owned())),
        (1, BlockPiece::Input("{1}".to_owned())),
        (0, text("b")),
        (2, BlockPiece::Stop),
        (0, BlockPiece::Stop),
        (1, BlockPiece::Stop),
    ];
    let expected =
        ["0 text", "0 +a", "0 +b", "0 ends", "1 call one", "1 +{1}", "1 ends", "2 call two", "2 +{2", "2 ends"];
    assert_eq!(lines(pieces).unwrap(), expected);
}

#[test]
fn a_block_ends_where_another_kind_begins_under_its_number() {
    let thinking = || BlockPiece::Thinking("hm".to_owned());
    let expected = ["0 thinking", "0 +hm", "0 +sig", "0 ends", "1 text", "1 +a", "1 ends", "2 call x", "2 ends"];
    let pieces = vec![(0, thinking()), (0, BlockPiece::Signature("sig".to_owned())), (0, text("a")), (0, call("x"))];
    assert_eq!(lines(pieces).unwrap(), expected);
    // A number that is used again begins a new block.
    let again = vec![(0, text("a")), (0, BlockPiece::Stop), (0, text("b")), (0, BlockPiece::Stop)];
    assert_eq!(lines(again).unwrap(), ["0 text", "0 +a", "0 ends", "1 text", "1 +b", "1 ends"]);
}

#[test]
fn empty_and_foreign_pieces_begin_no_block() {
    let pieces = vec![
        (0, text("")),
        (0, BlockPiece::Signature(String::new())),
        (0, BlockPiece::Stop),
        (1, BlockPiece::Skipped),
        (1, BlockPiece::Input("{}".to_owned())),
        (1, BlockPiece::Stop),
        (2, text("a")),
    ];
    assert_eq!(lines(pieces).unwrap(), ["0 text", "0 +a", "0 ends"]);
    let input = || BlockPiece::Input("{}".to_owned());
    assert!(lines(vec![(0, input())]).is_err());
    assert!(lines(vec![(0, call("x")), (0, BlockPiece::Stop), (0, input())]).is_err());
    assert!(lines(vec![(0, text("a")), (1, input())]).is_err());
}

#[test]
fn encrypted_reasoning_is_one_block_with_all_of_its_bytes() {
    let redacted = |data: &str| BlockPiece::Redacted(data.to_owned());
    let block = |data: &str| {
        let block = ContentBlock::RedactedThinking { data: data.to_owned() };
        [format!("0 {block:?}"), "0 ends".to_owned()]
    };
    assert_eq!(lines(vec![(0, redacted("not base64"))]).unwrap(), block("not base64"));
    // "a" and "bc".
    assert_eq!(lines(vec![(0, redacted("YQ==")), (0, redacted("YmM="))]).unwrap(), block("YWJj"));
    assert!(lines(vec![(0, redacted("YQ==")), (0, redacted("?"))]).is_err());
}

#[test]
fn what_waits_is_bounded() {
    let (mut blocks, mut ready) = (ConverseBlocks::default(), BlockEvents::new());
    let mut result = blocks.take(0, text("a"), &mut ready);
    for at in 1..20_000 {
        result = result.and_then(|()| blocks.take(at, text("b"), &mut ready));
    }
    assert!(result.is_err());
}

fn piece() -> impl Strategy<Value = BlockPiece> {
    prop_oneof![
        Just(BlockPiece::Stop),
        Just(BlockPiece::Skipped),
        "[a-z]{0,2}".prop_map(BlockPiece::Text),
        "[a-z]{0,2}".prop_map(BlockPiece::Thinking),
        "[a-z]{0,2}".prop_map(BlockPiece::Signature),
        "[a-z]{0,2}".prop_map(BlockPiece::Input),
        "[a-z]{0,2}".prop_map(BlockPiece::Redacted),
        "[a-z]".prop_map(|id| call(&id)),
    ]
}

proptest! {
    #[test]
    fn blocks_never_overlap(pieces in prop::collection::vec((0_u64..4, piece()), 0..40)) {
        let (mut blocks, mut ready) = (ConverseBlocks::default(), BlockEvents::new());
        let mut is_good = true;
        for (at, piece) in pieces {
            is_good = is_good && blocks.take(at, piece, &mut ready).is_ok();
        }
        is_good = is_good && blocks.end(&mut ready).is_ok();
        let (mut next, mut open) = (0, false);
        for event in &ready {
            match event {
                ModelEvent::BlockStart { index, .. } => {
                    prop_assert!(!open && *index == next);
                    open = true;
                }
                ModelEvent::BlockDelta { index, .. } => prop_assert!(open && *index == next),
                ModelEvent::BlockStop { index } => {
                    prop_assert!(open && *index == next);
                    (open, next) = (false, next + 1);
                }
                other => panic!("{other:?}"),
            }
        }
        prop_assert!(!is_good || !open);
    }
}

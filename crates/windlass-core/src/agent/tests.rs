use super::*;

#[test]
fn agents_are_counted_for_their_parent_and_for_the_session() {
    let mut count = AgentCount::default();
    for _ in 0..AgentCount::MOST_OF_ONE {
        count.begin(1).unwrap();
    }
    assert_eq!(count.begin(1), Err(AgentError::TooMany { most: AgentCount::MOST_OF_ONE }));
    for parent in 2..5 {
        for _ in 0..AgentCount::MOST_OF_ONE {
            count.begin(parent).unwrap();
        }
    }
    assert_eq!(count.begin(5), Err(AgentError::TooMany { most: AgentCount::MOST_OF_ALL }));
    count.end(1);
    count.begin(5).unwrap();
    assert_eq!((count.of(1), count.of(5)), (AgentCount::MOST_OF_ONE - 1, 1));
    // What was not counted frees no place.
    count.end(9);
    assert!(count.begin(9).is_err());
}

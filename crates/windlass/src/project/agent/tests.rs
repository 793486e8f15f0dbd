#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use super::*;

fn agent(fields: &str) -> MainAgent {
    let agents = Agents::parse(&format!(r#"{{"a":{{"prompt":"Own."{fields}}}}}"#)).unwrap();
    MainAgent::new(agents.get("a").unwrap().clone())
}

#[test]
fn what_is_said_by_hand_counts_for_more() {
    let (none, own) = (MainAgent::default(), agent(""));
    let custom = |text: &str| Some(SystemPrompt::Custom(text.to_owned()));
    for (said, without, with) in [
        (None, None, custom("Own.")),
        (custom(""), custom(""), custom("Own.")),
        (custom("Said."), custom("Said."), custom("Said.")),
        (Some(SystemPrompt::Preset), Some(SystemPrompt::Preset), Some(SystemPrompt::Preset)),
    ] {
        assert_eq!(none.system_prompt(said.clone()), without);
        assert_eq!(own.system_prompt(said), with);
    }
}

#[test]
fn turns_are_the_fewer_ones() {
    let own = agent(r#","maxTurns":3"#);
    for (said, least) in [(None, 3), (Some(2), 2), (Some(3), 3), (Some(9), 3)] {
        assert_eq!(own.max_turns(said), Some(least));
    }
    assert_eq!((MainAgent::default().max_turns(Some(9)), agent("").max_turns(None)), (Some(9), None));
}

//! The part that the page on contributions adds.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use crate::{Script, ScriptedModel, session};
use async_trait::async_trait;
use windlass_context::{FileInstructions, InstructionSource};

const PAGE: &str = include_str!("../../../../docs/extending/contribution.md");

/// Joins the name of the team, as a text behind those of all other parts.
struct Team(&'static str);

#[async_trait]
impl Contribution for Team {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let text = format!("You work for the team {}.", self.0);
        assembly.texts.extend(FileInstructions::new(InstructionSource::Host, "the team", &text));
        let name = self.0;
        assembly.on_open(move |session, _| session.notices.push(format!("The model knows the team {name}.")));
        Ok(())
    }
}

#[tokio::test]
async fn the_part_of_the_page_joins_a_session() {
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Hello.")));
    let options = session().provider(model.clone()).options;
    let mut assembly = Assembly::new(options, None).await.unwrap();
    for part in super::CONTRIBUTIONS.iter().flat_map(|row| row.iter()) {
        part.join(&mut assembly).await.unwrap();
    }
    Team("billing").join(&mut assembly).await.unwrap();
    let (mut session, _) = assembly.open().await.unwrap();
    assert!(session.notices.contains(&"The model knows the team billing.".to_owned()));
    session.ask("Who are you?").await.unwrap().success().unwrap();
    let requests = format!("{:?}", model.requests());
    assert!(requests.contains("You work for the team billing."), "{requests}");
}

#[test]
fn the_page_shows_this_part() {
    let file = include_str!("tests.rs");
    let part = file.split("struct Team").nth(1).and_then(|rest| rest.split("#[tokio::test]").next()).unwrap();
    let shown: Vec<&str> = PAGE.lines().map(|line| line.strip_prefix("   ").unwrap_or(line)).collect();
    assert!(shown.join("\n").contains(part.trim_end()), "the page shows another part than this file has");
}

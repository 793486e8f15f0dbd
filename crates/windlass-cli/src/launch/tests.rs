use super::*;
use crate::command_line::Cli;
use clap::Parser;

fn args(given: &[&str]) -> RunArgs {
    Cli::try_parse_from([&["windlass", "-p", "x"], given].concat()).unwrap().run
}

#[test]
fn tools_are_all_those_named_or_none() {
    let of = |given: &str, driver| {
        let names = |all: Toolkit| all.tools().iter().map(|tool| tool.spec().name).collect::<Vec<_>>();
        tools(&args(&["--tools", given]), "/".into(), driver).map(names)
    };
    assert_eq!(of("Read, Bash", Driver::Person).unwrap(), ["Bash", "Read"]);
    assert_eq!(of("TaskList,TaskUpdate,Read", Driver::Person).unwrap(), ["Read", "TaskList", "TaskUpdate"]);
    assert!(!of("default", Driver::Person).unwrap().contains(&"TaskList".to_owned()));
    assert_eq!(of("", Driver::Person).unwrap(), [""; 0]);
    assert_eq!(of("Task", Driver::Person).unwrap(), [""; 0]);
    let asks = |names: Vec<String>| names.contains(&"AskUserQuestion".to_owned());
    assert!(!asks(of("default", Driver::Person).unwrap()) && asks(of("default", Driver::Host).unwrap()));
    assert!(of("Reed", Driver::Person).unwrap_err().to_string().contains("Agent, "));
    assert_eq!(of("Reed,Read", Driver::Host).unwrap(), ["Read"]);
    assert!(of("Program", Driver::Person).unwrap_err().to_string().contains("there is no tool"));
    let with_programs = tools(&args(&["--programs", "--tools", "Read,Program"]), "/".into(), Driver::Person);
    match cfg!(feature = "program") {
        true => assert!(with_programs.unwrap().tools().iter().any(|tool| tool.name() == "Program")),
        false => assert!(with_programs.unwrap_err().to_string().contains("--features program")),
    }
    for (given, offered) in [(None, true), (Some("default"), true), (Some("Task"), true), (Some("Read"), false)] {
        assert_eq!(offers_agents(given), offered, "{given:?}");
    }
}

#[test]
fn a_mode_by_hand_is_the_one_that_skips_first() {
    let skipping = args(&["--dangerously-skip-permissions", "--permission-mode", "plan"]);
    assert_eq!(skipping.chosen_mode(), Some(PermissionMode::BypassPermissions));
    assert_eq!(args(&["--permission-mode", "plan"]).chosen_mode(), Some(PermissionMode::Plan));
    assert_eq!(args(&[]).chosen_mode(), None);
    let odd = permissions_of(&args(&["--allowedTools", "Bash("]), Driver::Person);
    assert!(odd.is_err(), "{odd:?}");
    assert!(permissions_of(&args(&["--allowedTools", "Bash("]), Driver::Host).is_ok());
}

//! Lines of many commands and words.

use crate::common::{Rules, World, deny};
use windlass_types::Behavior::{Allow, Ask, Deny};

/// A line of 10,000 characters with 1,600 changes of directory took seconds. What is denied in it stays denied.
#[test]
fn a_line_of_very_many_commands_asks_and_hides_nothing() {
    let world = World::new(Rules::default());
    world.check(Allow, &[&format!("Bash {}ls", "echo a; ".repeat(127))]);
    world.check(Ask, &[&format!("Bash {}ls", "echo a; ".repeat(128)), &format!("Bash {}ls", "cd a; ".repeat(1_600))]);
    let strict = World::new(deny(&["Read(./.env)", "Bash(curl:*)"]));
    for hidden in ["cat .env", "curl x"] {
        strict.check(Deny, &[&format!("Bash {}{hidden}", "echo a; ".repeat(1_000))]);
    }
}

/// A verdict reached once for a repeated text, or by a look-up among many, also covers the last occurrence.
#[test]
fn a_name_among_thousands_is_found_wherever_it_stands() {
    let world = World::new(Rules::default());
    let strict = World::new(deny(&["Read(./.env)", "Edit(./kept/**)", "Bash(curl:*)"]));
    let words: String = (0..1_500).map(|number| format!(" a{number}")).collect();
    let same = " a".repeat(1_500);
    for many in [words.as_str(), same.as_str()] {
        world.check(Allow, &[&format!("Bash cat{many}")]);
        for program in ["rm -r", "foo", "cp -t x", "timeout 5 nice foo"] {
            world.check(Ask, &[&format!("Bash {program}{many} .git/hooks/pre-commit{many}")]);
        }
        world.check(Ask, &[&format!("Bash ls >out{many} >.claude/settings.json")]);
        strict.check(Deny, &[&format!("Bash cat{many} .env"), &format!("Bash rm{many} kept/x")]);
    }
    // More wrappers and words than are looked through: the program at the end is unknown, and so the line asks.
    let wrapped = |program: &str| format!("Bash {}{program}", "timeout 5 ".repeat(1_000));
    world.check(Ask, &[&wrapped("ls"), &wrapped("rm -rf x")]);
    strict.check(Ask, &[&wrapped("curl x")]);
    strict.check(Deny, &["Bash timeout 5 nice nohup timeout 5 env timeout 5 curl x"]);
}

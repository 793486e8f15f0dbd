//! Lines of many commands.

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

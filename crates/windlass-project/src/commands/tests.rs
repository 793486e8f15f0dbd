use super::definition::{MOST_DESCRIPTION, MOST_PROMPT};
use super::*;
use crate::testing::project;
use proptest::prelude::*;
use std::path::Path;

fn command(text: &str) -> Command {
    Command::parse("x", CommandSource::User, "/x.md", text)
}

#[test]
fn arguments_go_where_the_text_says() {
    for (text, arguments, expected) in [
        ("Review $ARGUMENTS now", "a  b", "Review a  b now"),
        ("$1 and $2", "one two three", "one and two"),
        ("$1 and $2", "\"one two\" 'three four'", "one two and three four"),
        ("$1|$2", "it's fine", "it's|fine"),
        ("$1|$2|$3", "a", "a||"),
        // With a $0 they count from there.
        ("$0 and $1", "one two", "one and two"),
        ("$ARGUMENTS[0]-$ARGUMENTS[1]-$ARGUMENTS[7]", "a b", "a-b-"),
        ("$ARGUMENTS[x]", "a", "a[x]"),
        ("$ARGUMENTS[]", "a", "a[]"),
        // What an argument holds is not replaced again.
        ("$1 $ARGUMENTS", "$2 $ARGUMENTS", "$2 $2 $ARGUMENTS"),
        ("$10 $1st $HOME $ $$1 ${1} $ARGUMENTSX", "a", "$10 $1st $HOME $ $a ${1} $ARGUMENTSX"),
        (r"\$1 \$ARGUMENTS \\ \n $1", "a", r"$1 $ARGUMENTS \\ \n a"),
        ("Nothing here", "", "Nothing here"),
        ("Nothing here", " a b ", "Nothing here\n\nARGUMENTS: a b"),
        ("Costs \\$5", "x", "Costs $5\n\nARGUMENTS: x"),
        ("Run !`rm -rf x` and @file", "", "Run !`rm -rf x` and @file"),
        ("日本$1語", "é", "日本é語"),
    ] {
        assert_eq!(command(text).expand(arguments).as_deref(), Ok(expected), "{text:?} {arguments:?}");
    }
}

#[test]
fn the_directory_of_a_plugin_is_text_whatever_it_is_called() {
    let of = |root: &str, text: &str| command(text).of_plugin(Path::new(root)).expand("a b").unwrap();
    assert_eq!(of("/p", "${CLAUDE_PLUGIN_ROOT}/x $1"), "/p/x a");
    assert_eq!(of("/$1/$ARGUMENTS", "${CLAUDE_PLUGIN_ROOT} $2"), "/$1/$ARGUMENTS b");
    assert_eq!(of("/p", "In ${CLAUDE_PLUGIN_ROOT}"), "In /p\n\nARGUMENTS: a b");
    assert_eq!(of("/p", "${CLAUDE_PLUGIN_ROOT"), "${CLAUDE_PLUGIN_ROOT\n\nARGUMENTS: a b");
    // What is no plugin's has none.
    assert_eq!(command("${CLAUDE_PLUGIN_ROOT} $1").expand("a").unwrap(), "${CLAUDE_PLUGIN_ROOT} a");
    let rules = command("---\nallowed-tools: Bash(${CLAUDE_PLUGIN_ROOT}/x *)\n---\nx").of_plugin(Path::new("/p"));
    assert_eq!(rules.allowed_tools, ["Bash(/p/x *)"]);
}

#[test]
fn a_prompt_has_an_end() {
    let body = "$ARGUMENTS ".repeat(1_000);
    let long = "x".repeat(10_000);
    assert!(command(&body).expand(&long).is_err());
    assert!(command("none").expand(&"x".repeat(MOST_PROMPT)).is_err());
    assert!(command(&body).expand("short").is_ok());
}

#[test]
fn the_head_says_what_it_is() {
    let with = command(
        "---\ndescription: Fix it\nargument-hint: [issue]\nallowed-tools: Bash(gh *), Read\nmodel: opus\n---\n\nFix $1\n",
    );
    assert_eq!((with.description.as_str(), with.argument_hint.as_str()), ("Fix it", "[issue]"));
    assert_eq!((with.allowed_tools.len(), with.model.as_deref()), (2, Some("opus")));
    assert_eq!(with.expand("7").unwrap(), "Fix 7");
    let without = command("\n# Fix the build\n\nAll of it.");
    assert_eq!((without.description.as_str(), without.argument_hint.as_str()), ("Fix the build", ""));
    assert_eq!(command("---\ndescription: |\n  a\n  b\n---\nx").description, "a b");
    assert_eq!(command(&format!("# {}", "é".repeat(5_000))).description.chars().count(), MOST_DESCRIPTION);
}

proptest! {
    #[test]
    fn any_text_expands(text in r"[$\\ARGUMENTS0-9\[\]a'\x22é ]{0,60}", arguments in r"[$\\ARGUMENTS0-9'\x22é ]{0,30}") {
        let command = command(&format!("{text}."));
        let prompt = command.expand(&arguments).unwrap();
        // Without placeholders the text stays whole.
        if !text.contains('$') {
            let whole = format!("{text}.");
            prop_assert!(prompt.starts_with(whole.trim()));
        }
    }

    #[test]
    fn any_file_is_a_command(text in "(---\n)?(\\PC|\n){0,200}") {
        let command = command(&text);
        prop_assert!(command.description.chars().count() <= MOST_DESCRIPTION);
        prop_assert!(command.expand("x").is_ok());
    }
}

fn named(commands: &Commands) -> Vec<(String, String)> {
    commands.commands.iter().map(|command| (command.name.clone(), command.description.clone())).collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn commands_come_from_user_and_project() {
    let (root, places) = project();
    root.write("home/.claude/commands/a.md", "user a");
    root.write("home/.windlass/commands/b.md", "user b");
    root.write("home/.claude/commands/b.md", "other b");
    root.write("work/.claude/commands/a.md", "project a");
    root.write("work/.claude/commands/c.md", "project c");
    root.write("work/sub/.claude/commands/c.md", "nearer c");
    root.write("work/sub/.windlass/commands/d.md", "own d");
    root.write("work/sub/.claude/commands/d.md", "other d");
    root.write("work/.claude/commands/front/end/e.md", "---\nallowed-tools: Bash\n---\nnested e");
    root.write("work/.claude/commands/notes.txt", "no command");
    root.write("work/.claude/commands/.hidden.md", "no command");
    let all = load_commands(&places, &SettingsRequest::new());
    let expected = [("a", "user a"), ("b", "user b"), ("c", "nearer c"), ("d", "own d"), ("front:end:e", "nested e")];
    assert_eq!(named(&all), pairs(&expected));
    assert_eq!(all.notes.len(), 4, "{:?}", all.notes);
    assert!(all.get("front:end:e").unwrap().allowed_tools.is_empty(), "the project is not trusted");
    let trusted = load_commands(&places, &SettingsRequest::new().trust(true));
    assert_eq!(trusted.get("front:end:e").unwrap().allowed_tools, ["Bash"]);

    let of = |sources: &str| named(&load_commands(&places, &SettingsRequest::new().sources(sources.parse().unwrap())));
    assert_eq!(of("user"), pairs(&[("a", "user a"), ("b", "user b")]));
    assert_eq!(of("project")[0].1, "project a");
    assert!(of("").is_empty() && of("local").is_empty());
}

#[test]
fn what_cannot_be_used_is_left_out_and_named() {
    let (root, places) = project();
    let folder = "work/sub/.claude/commands";
    root.write(format!("{folder}/good.md"), "good");
    root.write(format!("{folder}/empty.md"), " \n");
    root.write(format!("{folder}/two words.md"), "x");
    root.write(format!("{folder}/big.md"), "x".repeat(300_000));
    root.write(format!("{folder}/binary.md"), [0xff, 0xfe, 0x00]);
    root.make(format!("{folder}/folder.md"));
    let all = load_commands(&places, &SettingsRequest::new());
    assert_eq!(named(&all), pairs(&[("good", "good")]));
    assert_eq!(all.notes.len(), 4, "{:?}", all.notes);
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let (root, places) = project();
    root.write("secret/key.md", "secret");
    root.write("work/sub/.claude/commands/good.md", "good");
    symlink(root.path("secret/key.md"), root.path("work/sub/.claude/commands/key.md")).unwrap();
    symlink(root.path("secret"), root.path("work/sub/.claude/commands/folder")).unwrap();
    root.make("work/sub/.windlass");
    symlink(root.path("secret"), root.path("work/sub/.windlass/commands")).unwrap();
    symlink(root.path("secret"), root.path("work/.claude")).unwrap();
    let all = load_commands(&places, &SettingsRequest::new().trust(true));
    assert_eq!(named(&all), pairs(&[("good", "good")]));
    assert_eq!(all.notes.len(), 3, "{:?}", all.notes);
    // The user's own folder may be a link.
    root.make("home/.claude");
    symlink(root.path("secret"), root.path("home/.claude/commands")).unwrap();
    assert!(load_commands(&places, &SettingsRequest::new()).get("key").is_some());
}

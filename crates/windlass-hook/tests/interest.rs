//! Which occasions an interest covers, for arbitrary names of servers and tools.

use proptest::prelude::*;
use windlass_hook::Interest;
use windlass_types::HookEventName::{PostToolUse, PreToolUse, Stop};
use windlass_types::ToolMatcher;

/// Names of servers contain no two underscores in a row, and do not end in one.
const SERVER: &str = "[a-c]{1,2}(_[a-c]{1,2})?";
const TOOL: &str = "[a-c_-]{1,4}";
const PLAIN: &str = "[A-C][a-c]{0,2}";

/// Names that are often similar.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![PLAIN, (SERVER, TOOL).prop_map(|(server, tool)| format!("mcp__{server}__{tool}"))]
}

/// An item of an interest, in a form that the test can match by itself.
#[derive(Debug, Clone)]
enum Item {
    All,
    Tool(String),
    Server(String),
    ToolsOfServer(String),
    Begin(String, String),
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        Just(Item::All),
        name().prop_map(Item::Tool),
        SERVER.prop_map(Item::Server),
        SERVER.prop_map(Item::ToolsOfServer),
        (SERVER, TOOL).prop_map(|(server, begin)| Item::Begin(server, begin)),
    ]
}

impl Item {
    fn text(&self) -> String {
        match self {
            Self::All => "*".to_owned(),
            Self::Tool(name) => name.clone(),
            Self::Server(server) => format!("mcp__{server}"),
            Self::ToolsOfServer(server) => format!("mcp__{server}__*"),
            Self::Begin(server, begin) => format!("mcp__{server}__{begin}*"),
        }
    }

    fn means(&self, tool: &str) -> bool {
        let server_and_tool: Vec<&str> = tool.splitn(3, "__").collect();
        match (self, &server_and_tool[..]) {
            (Self::All, _) => true,
            (Self::Tool(name), _) => name == tool,
            (Self::Server(server) | Self::ToolsOfServer(server), ["mcp", of, _]) => of == server,
            (Self::Begin(server, begin), ["mcp", of, name]) => of == server && name.starts_with(begin.as_str()),
            _ => false,
        }
    }
}

proptest! {
    #[test]
    fn an_interest_covers_what_one_of_its_items_means(
        lists in prop::collection::vec(prop::collection::vec(item(), 1..4), 1..3),
        separator in prop::sample::select(vec!["|", ",", " | ", ", "]),
        tool in name(),
    ) {
        let texts: Vec<String> =
            lists.iter().map(|list| list.iter().map(Item::text).collect::<Vec<_>>().join(separator)).collect();
        let interest = Interest::tools(PreToolUse, &texts);
        prop_assert_eq!(interest.check(), Ok(()));
        let means = lists.iter().flatten().any(|item| item.means(&tool));
        prop_assert_eq!(interest.covers(PreToolUse, Some(&tool)), means, "{:?} {}", texts, tool);
        prop_assert!(!interest.covers(PostToolUse, Some(&tool)));
        prop_assert!(!interest.covers(Stop, None));
    }

    #[test]
    fn an_item_reads_as_it_is_written(item in item(), tool in name()) {
        let matcher = ToolMatcher::new(&item.text()).unwrap();
        let again = ToolMatcher::new(&matcher.to_string()).unwrap();
        prop_assert_eq!(&matcher, &again);
        prop_assert_eq!(matcher.matches(&tool), again.matches(&tool));
    }

    /// Any text is either an error or matches at least one tool. No interest covers nothing.
    #[test]
    fn no_interest_waits_for_what_never_happens(text in "[A-Ca-c_*|, .^$(-]{0,12}|mcp__[a-c_*]{0,6}") {
        let interest = Interest::tools(PreToolUse, [&text]);
        match ToolMatcher::list(&text) {
            Ok(matchers) => {
                for matcher in matchers {
                    let example = matcher.to_string().replace('*', "a");
                    let tools = [format!("{example}__a"), example];
                    prop_assert!(tools.iter().any(|tool| interest.covers(PreToolUse, Some(tool))), "{} {}", text, matcher);
                }
            }
            Err(_) => {
                prop_assert!(interest.check().is_err());
                prop_assert!(interest.covers(PreToolUse, Some("Any")));
            }
        }
    }
}

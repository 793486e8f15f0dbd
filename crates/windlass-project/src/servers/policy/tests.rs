use super::*;
use crate::note::Origin;
use crate::resolve;
use crate::settings::Settings;
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::trust::Standing;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

fn file(layer: Layer, standing: Standing, settings: &Value) -> SettingsFile {
    let origin = Origin::File(PathBuf::from(format!("/{layer}.json")));
    SettingsFile::new(layer, origin, "/w", Settings::parse(&settings.to_string()).unwrap()).with_standing(standing)
}

fn lists(files: &[(Layer, Standing, Value)]) -> ServerLists {
    let files: Vec<SettingsFile> =
        files.iter().map(|(layer, standing, settings)| file(*layer, standing.clone(), settings)).collect();
    resolve(&files).unwrap().servers.lists
}

fn expand(text: &str) -> Result<String, String> {
    if text.contains("${MISSING}") { Err("it is not set".to_owned()) } else { Ok(text.replace("${HOME}", "/home/a")) }
}

fn managed(settings: Value) -> ServerPolicy {
    lists(&[(Layer::Managed, Standing::trusted(), settings)]).policy(expand)
}

fn url(policy: &ServerPolicy, address: &str) -> bool {
    policy.refusal("s", ServerAddress::Url(address)).is_none()
}

fn program(policy: &ServerPolicy, name: &str, words: &[&str]) -> bool {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let (command, args) = words.split_first().unwrap();
    policy.refusal(name, ServerAddress::Program { command, args }).is_none()
}

#[test]
fn without_lists_all_come_in() {
    let none = managed(json!({"allowedMcpServers": null, "deniedMcpServers": []}));
    assert!(url(&none, "https://a.example/") && program(&none, "s", &["x"]));
}

#[test]
fn addresses_fit_patterns() {
    for (pattern, fitting, others) in [
        (
            "https://mcp.example.com/*",
            &["https://mcp.example.com", "https://MCP.example.com./a/b?c", "https://u:p@mcp.example.com:443/a"][..],
            &[
                "http://mcp.example.com/",
                "https://mcp.example.com:8443/",
                "https://mcp.example.com.evil.example/",
                "https://mcp.example.com@evil.example/",
                "https://evil.example/https://mcp.example.com/",
                "https://evil.example\\@mcp.example.com/",
                "https://evil.example#mcp.example.com/",
                "no address",
            ][..],
        ),
        ("https://mcp.example.com", &["https://mcp.example.com/any?x=1"], &["https://example.com/"]),
        (
            "https://*.example.com/*",
            &["https://a.example.com/", "https://a.b.EXAMPLE.com/x"],
            &["https://example.com/", "https://badexample.com/", "https://evil.example/.example.com/"],
        ),
        ("http://localhost:*/*", &["http://localhost/", "http://localhost:81/x"], &["https://localhost/"]),
        ("*://h.example/*", &["http://h.example/", "https://h.example/"], &["https://h.example:1/"]),
        ("https://h.example:443/a", &["https://h.example/a"], &["https://h.example/A", "https://h.example/a/"]),
        ("https://h.example/a*z", &["https://h.example/az", "https://h.example/a-z"], &["https://h.example/a/../z"]),
        ("https://h.example/a", &["https://h.example/b/../a"], &["https://h.example/a?to=elsewhere"]),
        ("http://[::1]:*/*", &["http://[::1]:9/", "http://[0:0::1]/"], &["http://[::2]/"]),
        ("http://127.0.0.1", &["http://127.1/", "http://0x7f000001/"], &["http://127.0.0.2/"]),
        ("HTTPS://B\u{fc}cher.example/", &["https://xn--bcher-kva.example/"], &["https://bucher.example/"]),
        ("https://*.b\u{fc}cher.example", &["https://a.b\u{fc}cher.example/"], &["https://b\u{fc}cher.example/"]),
        ("*", &["https://a.example:7/x", "http://b/"], &["no address"]),
    ] {
        let policy = managed(json!({"allowedMcpServers": [{"serverUrl": pattern}]}));
        let denies = managed(json!({"deniedMcpServers": [{"serverUrl": pattern}]}));
        for address in fitting {
            assert!(url(&policy, address), "{pattern} {address}");
            assert!(!url(&denies, address), "{pattern} {address}");
        }
        for address in others {
            assert!(!url(&policy, address), "{pattern} {address}");
        }
        assert!(!program(&policy, "s", &["x"]) && program(&denies, "s", &["x"]), "{pattern}");
    }
    // A query or a slash does not lift a denial.
    for pattern in ["https://h.example/a", "https://h.example/a/"] {
        let denies = managed(json!({"deniedMcpServers": [{ "serverUrl": pattern }]}));
        for address in
            ["https://h.example/a", "https://h.example/a?x", "https://h.example/a/", "https://h.example/a/?x"]
        {
            assert!(!url(&denies, address), "{pattern} {address}");
        }
        assert!(url(&denies, "https://h.example/b") && url(&denies, "https://h.example/a/b"), "{pattern}");
    }
}

#[test]
fn commands_fit_word_for_word() {
    let policy = managed(json!({"allowedMcpServers": [{"serverCommand": ["${HOME}/run", "-y", "x"]}]}));
    for (words, fits) in [
        (&["/home/a/run", "-y", "x"][..], true),
        (&["/home/a/run", "x", "-y"], false),
        (&["/home/a/run", "-y"], false),
        (&["/home/a/run", "-y", "x", "z"], false),
        (&["run", "-y", "x"], false),
    ] {
        assert_eq!(program(&policy, "s", words), fits, "{words:?}");
    }
}

#[test]
fn names_count_where_a_list_has_neither_addresses_nor_commands() {
    let name = json!({"serverName": "s"});
    let command = json!({"serverCommand": ["x"]});
    let address = json!({"serverUrl": "https://a.example/*"});
    for (list, runs, connects) in [
        (vec![&name], true, true),
        (vec![&name, &command], false, true),
        (vec![&name, &address], true, false),
        (vec![&name, &command, &address], false, false),
        (vec![], false, false),
    ] {
        let policy = managed(json!({ "allowedMcpServers": list }));
        assert_eq!((program(&policy, "s", &["y"]), url(&policy, "https://b.example/")), (runs, connects), "{list:?}");
        assert!(!program(&policy, "S", &["y"]) && !program(&policy, "s ", &["y"]), "{list:?}");
    }
}

#[test]
fn what_any_file_denies_is_out() {
    for layer in Layer::STRONGEST_FIRST {
        let standing = if layer == Layer::Project { Standing::untrusted() } else { Standing::trusted() };
        let policy = lists(&[
            (layer, standing, json!({"deniedMcpServers": [{"serverName": "s"}]})),
            (
                Layer::Managed,
                Standing::trusted(),
                json!({"allowedMcpServers": [{"serverName": "s"}, {"serverName": "t"}], "allowManagedMcpServersOnly": true}),
            ),
        ])
        .policy(expand);
        assert!(!program(&policy, "s", &["x"]) && program(&policy, "t", &["x"]), "{layer}");
        let why = policy.refusal("s", ServerAddress::Url("https://a.example/")).unwrap();
        assert_eq!(why, format!("`deniedMcpServers` of /{layer}.json keeps it out"));
    }
}

#[test]
fn lists_of_what_is_allowed_join_unless_only_managed_ones_count() {
    let names = |names: &[&str]| {
        let names: Vec<Value> = names.iter().map(|name| json!({ "serverName": name })).collect();
        json!({ "allowedMcpServers": names })
    };
    let (trusted, untrusted) = (Standing::trusted, Standing::untrusted);
    let managed = (Layer::Managed, trusted(), names(&["m"]));
    let mut only = managed.clone();
    only.2["allowManagedMcpServersOnly"] = json!(true);
    let only_the_switch = (Layer::Managed, trusted(), json!({"allowManagedMcpServersOnly": true}));
    let user = (Layer::User, trusted(), names(&["u", "m"]));
    for (files, expected) in [
        (vec![managed.clone(), user.clone()], "mu"),
        (vec![only.clone(), user.clone()], "m"),
        (vec![only_the_switch, user.clone()], ""),
        (vec![(Layer::User, trusted(), json!({"allowManagedMcpServersOnly": true}))], "mupl"),
        // A project cannot add to it.
        (vec![managed.clone(), (Layer::Project, trusted(), names(&["p", "m"]))], "m"),
        (vec![managed.clone(), (Layer::Project, untrusted(), names(&["p"]))], ""),
        (vec![managed.clone(), (Layer::Local, untrusted(), names(&["l"]))], ""),
        (vec![managed.clone(), (Layer::Local, trusted(), names(&["l"]))], "ml"),
        (vec![(Layer::Project, untrusted(), names(&["p"]))], "p"),
        (vec![only, (Layer::Project, untrusted(), names(&[]))], "m"),
    ] {
        let policy = lists(&files).policy(expand);
        let allowed: String = "mupl".chars().filter(|name| program(&policy, &name.to_string(), &["x"])).collect();
        assert_eq!(allowed, expected, "{files:?}");
    }
}

#[test]
fn an_entry_that_cannot_be_read_keeps_all_out() {
    let long = "x".repeat(5000);
    let many = vec![json!({"serverName": "x"}); 1001];
    for list in [
        json!({}),
        json!("x"),
        json!(["x"]),
        json!([{}]),
        json!([{"serverName": "x"}, {"serverNam": "x"}]),
        json!([{"serverName": "x", "serverUrl": "https://a.example/"}]),
        json!([{"serverName": ""}]),
        json!([{"serverName": ["x"]}]),
        json!([{"serverName": long}]),
        json!([{"serverCommand": []}]),
        json!([{"serverCommand": "x"}]),
        json!([{"serverCommand": ["${MISSING}/x"]}]),
        json!([{"serverUrl": "a.example/*"}]),
        json!([{"serverUrl": "https://a.example:x/"}]),
        json!([{"serverUrl": "https://u@a.example/"}]),
        json!([{"serverUrl": "https:///x"}]),
        json!([{"serverUrl": "https://${MISSING}/"}]),
        json!(many),
    ] {
        for key in ["allowedMcpServers", "deniedMcpServers"] {
            for (layer, standing) in [(Layer::Managed, Standing::trusted()), (Layer::Project, Standing::untrusted())] {
                let policy = lists(&[(layer, standing, json!({ key: list }))]).policy(expand);
                let why = policy.refusal("x", ServerAddress::Url("https://a.example/")).unwrap_or_default();
                assert!(why.contains(&format!("/{layer}.json: `{key}`: ")), "{list} {why}");
                assert!(why.ends_with("so no MCP server is started"), "{why}");
                assert!(!program(&policy, "x", &["x"]));
            }
        }
    }
    // If only managed lists can allow servers, the lists of other files have no effect.
    let policy = lists(&[
        (
            Layer::Managed,
            Standing::trusted(),
            json!({"allowManagedMcpServersOnly": true, "allowedMcpServers": [{"serverName": "x"}]}),
        ),
        (Layer::User, Standing::trusted(), json!({"allowedMcpServers": 7})),
    ])
    .policy(expand);
    assert!(program(&policy, "x", &["x"]));
}

#[test]
fn what_cannot_be_read_is_reported() {
    let settings = json!({"deniedMcpServers": [{"serverName": 7}], "allowManagedMcpServersOnly": true});
    let resolved = resolve(&[file(Layer::User, Standing::trusted(), &settings)]).unwrap();
    let notes: Vec<String> = resolved.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("entry 1 cannot be read"), "{notes:?}");
    assert!(notes[1].contains("counts in managed settings only"), "{notes:?}");
}

proptest! {
    /// Denied servers stay out, whatever else the files contain, and more lists let no more servers in.
    #[test]
    fn more_lists_never_let_a_denied_server_in(
        denied in "[a-c]", asked in "[a-d]",
        files in proptest::collection::vec((0usize..5, any::<bool>(), proptest::collection::vec("[a-d]", 0..3)), 0..4),
    ) {
        let names = |names: &[String]| names.iter().map(|name| json!({ "serverName": name })).collect::<Vec<_>>();
        let mut all: Vec<(Layer, Standing, Value)> = files.iter().map(|(layer, trusted, list)| {
            let standing = if *trusted { Standing::trusted() } else { Standing::untrusted() };
            (Layer::STRONGEST_FIRST[*layer], standing, json!({ "allowedMcpServers": names(list) }))
        }).collect();
        let without = lists(&all).policy(expand);
        all.push((Layer::User, Standing::trusted(), json!({ "deniedMcpServers": names(std::slice::from_ref(&denied)) })));
        let with = lists(&all).policy(expand);
        let comes_in = program(&with, &asked, &["x"]);
        prop_assert_eq!(comes_in, asked != denied && program(&without, &asked, &["x"]));
    }

    #[test]
    fn no_pattern_and_no_address_is_too_odd(
        scheme in "(https?://|\\*://|)", pattern in "[ab*:/.@?#%\u{fc}0-9\\[\\]\\\\]{0,12}",
        address in "https?://[ab:/.@?#%\u{fc}0-9\\[\\]\\\\]{0,12}",
    ) {
        let pattern = format!("{scheme}{pattern}");
        let allows = managed(json!({"allowedMcpServers": [{ "serverUrl": pattern }]}));
        let denies = managed(json!({"deniedMcpServers": [{ "serverUrl": pattern }]}));
        // An address allowed by a list is denied by the same list as a deny list.
        prop_assert!(!(url(&allows, &address) && url(&denies, &address)));
    }
}

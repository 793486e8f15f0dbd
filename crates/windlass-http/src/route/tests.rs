use super::*;

fn proxy_of(variables: &[(&str, &str)], base: &str) -> Result<Option<String>, String> {
    let mut proxy = ForwardProxy::default();
    proxy.look_up(&|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()));
    let route = proxy.route(&Url::parse(base).unwrap()).map_err(|error| error.to_string())?;
    assert!(!matches!(route, RequestRoute::System), "variables have the last word");
    Ok(route.proxy().map(str::to_owned))
}

const API: &str = "https://api.example.com/v1";

#[test]
fn variables_choose_the_proxy_by_the_scheme_of_the_address() {
    let all = [("HTTPS_PROXY", "http://secure:1"), ("http_proxy", "plain:2"), ("ALL_PROXY", "http://all:3")];
    for (variables, base, expected) in [
        (&all[..], API, Some("secure:1")),
        (&all, "http://api.example.com", Some("plain:2")),
        (&all[2..], API, Some("all:3")),
        (&all[2..], "http://api.example.com", Some("all:3")),
        (&[], API, None),
        (&[("https_proxy", "http://small:1"), all[0]], API, Some("small:1")),
        (&[("HTTPS_PROXY", "  ")], API, None),
        (&[("HTTP_PROXY", "http://big:1")], "http://api.example.com", Some("big:1")),
        // Anyone who sends a header `Proxy` sets this variable.
        (&[("HTTP_PROXY", "http://big:1"), ("REQUEST_METHOD", "GET")], "http://api.example.com", None),
    ] {
        assert_eq!(proxy_of(variables, base).unwrap().as_deref(), expected, "{variables:?} {base}");
    }
}

#[test]
fn this_machine_is_never_behind_the_proxy_of_a_variable() {
    let variables = [("ALL_PROXY", "http://all:3")];
    for base in
        ["http://127.0.0.1:11434", "http://localhost", "https://[::1]:1", "http://127.9.9.9", "http://a.localhost"]
    {
        assert_eq!(proxy_of(&variables, base).unwrap(), None, "{base}");
        let asked = ForwardProxy::through("http://all:3").route(&Url::parse(base).unwrap()).unwrap();
        assert_eq!(asked.proxy(), Some("all:3"), "{base}: it was asked for");
    }
}

#[test]
fn exceptions_name_hosts_domains_ranges_and_ports() {
    for (list, base, is_direct) in [
        ("*", API, true),
        ("api.example.com", API, true),
        ("API.Example.COM", API, true),
        ("example.com", API, true),
        (".example.com", API, true),
        ("*.example.com", API, true),
        ("other.com, example.com", API, true),
        ("ample.com", API, false),
        ("api.example.com:443", API, true),
        ("api.example.com:8443", API, false),
        (".", API, false),
        (",, ", API, false),
        ("10.0.0.0/8", "http://10.1.2.3", true),
        ("10.0.0.0/8", "http://11.1.2.3", false),
        ("0.0.0.0/0", "http://11.1.2.3", true),
        ("10.1.2.3", "http://10.1.2.3:80", true),
        ("10.1.2.3/33", "http://10.1.2.3:80", false),
        ("fd00::/8", "http://[fd00::1]", true),
        ("fd00::1", "http://[fd00::1]", true),
        ("[fd00::1]:80", "http://[fd00::1]", true),
        ("fe00::1", "http://[fd00::1]", false),
        ("10.0.0.0/8", API, false),
    ] {
        let found = proxy_of(&[("ALL_PROXY", "http://all:3"), ("NO_PROXY", list)], base).unwrap();
        assert_eq!(found.is_none(), is_direct, "{list} {base}");
    }
}

#[test]
fn an_address_that_cannot_be_used_is_named_by_its_setting_and_not_shown() {
    for (url, why) in [
        ("socks5://me:secret@h", "neither http nor https"),
        ("http://me:secret@", "not a URL"),
        ("http://me:secret@h:port", "not a URL"),
    ] {
        let error = proxy_of(&[("HTTPS_PROXY", url)], API).unwrap_err();
        assert!(error.contains("HTTPS_PROXY") && error.contains(why), "{error}");
        assert!(!error.contains("secret"), "{error}");
        let proxy = ForwardProxy::through(url);
        let error = proxy.route(&Url::parse(API).unwrap()).err().unwrap();
        assert!(!format!("{proxy:?} {error} {error:?}").contains("secret"));
    }
}

#[test]
fn what_was_set_wins_over_variables() {
    let lookup = |name: &str| (name == "HTTPS_PROXY").then(|| "http://variable:1".to_owned());
    let base = Url::parse(API).unwrap();
    for (mut proxy, expected) in
        [(ForwardProxy::through("http://mine:2"), Some("mine:2")), (ForwardProxy::none(), None)]
    {
        proxy.look_up(&lookup);
        assert_eq!(proxy.route(&base).unwrap().proxy(), expected);
    }
}

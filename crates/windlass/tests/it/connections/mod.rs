//! Connections of each provider: through proxies, to servers with certificates of their own authority, and over a
//! transport of the program's own.

mod dialects;
mod quotations;
mod transports;
mod world;

use windlass::provider::ModelErrorKind;

use dialects::{DIALECTS, Dialect, every};
use world::{AUTHORITY, AUTHORITY_FILE, HOST, Proxy, World};

const WORD: &str = "let-me-through";

async fn answer_of(dialect: Dialect, variables: &[(&str, &str)]) -> Result<String, windlass::provider::ModelError> {
    let mut all = dialect.variables(&format!("https://{HOST}"));
    all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let providers = windlass::provider::from_lookup(move |name| all.get(name).cloned());
    dialect.ask(&providers, dialect.routed_model()).await
}

#[tokio::test]
async fn every_provider_takes_its_proxy_and_its_authorities_from_variables() {
    for dialect in DIALECTS {
        for (proxies, certificates) in
            [("HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"), ("https_proxy", "SSL_CERT_FILE"), ("ALL_PROXY", "SSL_CERT_FILE")]
        {
            let world = World::start(dialect, Proxy::wanting(WORD)).await;
            let proxy = world.proxy_with(WORD);
            let text = answer_of(dialect, &[(proxies, &proxy), (certificates, AUTHORITY_FILE)]).await;
            assert_eq!(text.unwrap(), "hello", "{dialect:?} {proxies} {certificates}");
            assert_eq!(world.tunnels(), [format!("{HOST}:443")], "{dialect:?}");
            assert_eq!(world.server.request_count(), 1, "{dialect:?}");
        }
    }
}

#[tokio::test]
async fn every_builder_takes_a_proxy_and_an_authority() {
    for dialect in every() {
        let world = World::start(dialect, Proxy::wanting(WORD)).await;
        let provider = dialect.built(&format!("https://{HOST}"), &world.proxy_with(WORD), AUTHORITY);
        assert_eq!(dialect.ask(&provider, dialect.model()).await.unwrap(), "hello", "{dialect:?}");
        assert_eq!(world.tunnels(), [format!("{HOST}:443")], "{dialect:?}");
        assert!(!format!("{provider:?}").contains(WORD), "{dialect:?}");
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_a_mistake_of_the_set_up_that_says_what_to_set() {
    for dialect in DIALECTS {
        let world = World::start(dialect, Proxy::wanting(WORD)).await;
        let error = answer_of(dialect, &[("HTTPS_PROXY", &world.proxy_with(WORD))]).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Configuration, "{dialect:?}: {error}");
        let text = error.to_string();
        for part in
            [HOST, "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "root_certificate_pem", "through the proxy 127.0.0.1"]
        {
            assert!(text.contains(part), "{dialect:?}: {part}: {text}");
        }
        assert!(!format!("{error:?} {text}").contains(WORD), "{dialect:?}: {error:?}");
        assert_eq!(world.server.request_count(), 0, "{dialect:?}");
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_its_user_is_a_mistake_of_the_set_up_and_shows_no_password() {
    for dialect in DIALECTS {
        let world = World::start(dialect, Proxy::wanting("another-word")).await;
        let variables = [("HTTPS_PROXY", &*world.proxy_with(WORD)), ("NODE_EXTRA_CA_CERTS", AUTHORITY_FILE)];
        let error = answer_of(dialect, &variables).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Configuration, "{dialect:?}: {error}");
        assert!(error.to_string().contains("user and a password"), "{dialect:?}: {error}");
        assert!(!format!("{error:?} {error}").contains(WORD), "{dialect:?}: {error:?}");
        assert_eq!(world.server.request_count(), 0, "{dialect:?}");
    }
}

#[tokio::test]
async fn hosts_that_are_excepted_and_this_machine_are_asked_directly() {
    // No part of a name may have so many letters, so no server is asked for it.
    let nowhere = format!("{}.example", "a".repeat(64));
    for dialect in DIALECTS {
        let world = World::start(dialect, Proxy::wanting(WORD)).await;
        let proxy = world.proxy_with(WORD);
        let mut variables = dialect.variables(&format!("https://{nowhere}"));
        variables.insert("HTTPS_PROXY".to_owned(), proxy.clone());
        variables.insert("NO_PROXY".to_owned(), ".example".to_owned());
        let providers = windlass::provider::from_lookup(move |name| variables.get(name).cloned());
        let error = dialect.ask(&providers, dialect.routed_model()).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Connection, "{dialect:?}: {error}");

        let mut variables = dialect.variables(&world.server.url());
        variables.insert("ALL_PROXY".to_owned(), proxy);
        let providers = windlass::provider::from_lookup(move |name| variables.get(name).cloned());
        assert_eq!(dialect.ask(&providers, dialect.routed_model()).await.unwrap(), "hello", "{dialect:?}");
        assert!(world.tunnels().is_empty(), "{dialect:?}: {:?}", world.tunnels());
    }
}

#[tokio::test]
async fn files_of_certificates_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    let gone = folder.path().join("gone.pem");
    for dialect in DIALECTS {
        for (variable, path, why) in
            [("NODE_EXTRA_CA_CERTS", &empty, "no certificate"), ("SSL_CERT_FILE", &gone, "cannot be read")]
        {
            let path = path.to_str().unwrap();
            let error = answer_of(dialect, &[(variable, path)]).await.unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Configuration, "{dialect:?}: {error}");
            let text = error.to_string();
            assert!(text.contains(variable) && text.contains(path) && text.contains(why), "{dialect:?}: {text}");
        }
    }
}

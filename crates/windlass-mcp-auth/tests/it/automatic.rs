//! Tokens without a browser.

use crate::world::{AGREES, ISSUER, SERVER, World, answer, refused, secret};
use serde_json::json;
use windlass_mcp_auth::{AuthError, Challenge, IdentityProvider, OAuthConfig, OAuthGrant};

fn with(grant: OAuthGrant) -> OAuthConfig {
    let mut config = OAuthConfig::default();
    config.client_id = Some("machine".to_owned());
    config.client_secret = Some(secret("word"));
    config.grant = grant;
    config
}

#[tokio::test]
async fn a_program_logs_in_with_its_own_secret() {
    let world = World::new();
    let authorizer = world.authorizer(with(OAuthGrant::ClientCredentials { private_key: None }));
    assert_eq!(authorizer.token().await, None);
    assert_eq!(authorizer.challenged(&refused("Bearer"), None).await, Ok(secret("access-1")));
    assert_eq!(authorizer.token().await, Some(secret("access-1")));
    // A new token is requested, not renewed.
    assert_eq!(authorizer.challenged(&refused("Bearer"), Some(&secret("access-1"))).await, Ok(secret("access-2")));
    let more = Challenge::read(403, Some("Bearer scope=write"));
    assert_eq!(authorizer.challenged(&more, Some(&secret("access-2"))).await, Ok(secret("access-3")));
    let asked = world.seen(&format!("{ISSUER}/token"));
    assert!(asked.iter().all(|seen| seen.fields["grant_type"] == "client_credentials"));
    assert!(asked.iter().all(|seen| seen.authorization.as_deref() == Some("Basic bWFjaGluZTp3b3Jk")));
    assert_eq!([&asked[0].fields["scope"], &asked[2].fields["scope"]], ["read", "read write"]);
    let still = authorizer.challenged(&more, Some(&secret("access-3"))).await;
    assert!(matches!(still, Err(AuthError::StillRefused(_))));
    authorizer.login(&AGREES).await.unwrap();
}

#[tokio::test]
async fn statements_of_a_platform_and_of_an_identity_provider_are_exchanged() {
    let world = World::new();
    let mut config = with(OAuthGrant::JwtBearer { assertion: secret("statement") });
    (config.client_id, config.client_secret) = (None, None);
    let authorizer = world.authorizer(config);
    assert_eq!(authorizer.challenged(&refused("Bearer"), None).await, Ok(secret("access-1")));
    let asked = &world.seen(&format!("{ISSUER}/token"))[0];
    assert_eq!(asked.fields["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!((asked.fields["assertion"].as_str(), &asked.authorization), ("statement", &None));

    world.on("https://idp.example/token", |_| {
        answer(200, &json!({"access_token": "vouched", "token_type": "N_A", "issued_token_type": "x"}))
    });
    let provider = IdentityProvider::new("https://idp.example/token", "there", secret("the-user"));
    let authorizer = world.authorizer(with(OAuthGrant::IdentityProvider(provider)));
    assert_eq!(authorizer.challenged(&refused("Bearer"), None).await, Ok(secret("access-2")));
    let exchange = &world.seen("https://idp.example/token")[0];
    for (name, value) in
        [("audience", ISSUER), ("resource", SERVER), ("subject_token", "the-user"), ("client_id", "there")]
    {
        assert_eq!(exchange.fields[name], value, "{name}");
    }
    assert_eq!(world.seen(&format!("{ISSUER}/token"))[1].fields["assertion"], "vouched");
}

#[tokio::test]
async fn a_refused_statement_is_not_sent_again_at_once() {
    let world = World::new();
    world.on(&format!("{ISSUER}/token"), |_| {
        answer(400, &json!({"error": "invalid_grant", "error_description": "old"}))
    });
    let authorizer = world.authorizer(with(OAuthGrant::JwtBearer { assertion: secret("statement") }));
    let error = authorizer.challenged(&refused("Bearer"), None).await.unwrap_err();
    assert_eq!(error.to_string(), "the authorisation server answered \"invalid_grant\": old");
    assert_eq!(authorizer.problem(), Some(error));
    assert_eq!(world.seen(&format!("{ISSUER}/token")).len(), 1);
}

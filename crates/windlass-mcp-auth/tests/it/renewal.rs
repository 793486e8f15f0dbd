//! Renewal of tokens.

use crate::world::{AGREES, Held, ISSUER, SERVER, World, answer, refused, secret};
use serde_json::json;
use std::sync::{Arc, Mutex};
use windlass_mcp_auth::{
    AuthError, Authorizer, FileTokenStore, LoginKey, MemoryTokenStore, OAuthConfig, SavedLogin, StoreLock, TokenStore,
    TokenStoreError,
};

fn refreshes(world: &World) -> Vec<String> {
    let all = world.seen(&format!("{ISSUER}/token"));
    all.iter().filter_map(|seen| seen.fields.get("refresh_token").cloned()).collect()
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends_and_when_it_is_refused() {
    let world = World::new();
    let clock = Held::at(0);
    let options = world.options(Arc::new(MemoryTokenStore::new()), &clock);
    let authorizer = Authorizer::new(SERVER, OAuthConfig::default(), options).unwrap();
    authorizer.login(&AGREES).await.unwrap();
    clock.pass(3500);
    assert_eq!(authorizer.token().await, Some(secret("access-1")));
    clock.pass(50);
    assert_eq!(authorizer.token().await, Some(secret("access-2")));
    let better = authorizer.challenged(&refused("Bearer"), Some(&secret("access-2"))).await;
    assert_eq!(better, Ok(secret("access-3")));
    // A request that was sent with an older token need not renew it again.
    let better = authorizer.challenged(&refused("Bearer"), Some(&secret("access-2"))).await;
    assert_eq!(better, Ok(secret("access-3")));
    assert_eq!(refreshes(&world), ["refresh-1", "refresh-2"]);
}

#[tokio::test]
async fn requests_at_once_and_programs_at_once_renew_once() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let clock = Held::at(0);
    let new = || {
        let store = Arc::new(FileTokenStore::new(folder.path().join("logins")));
        Authorizer::new(SERVER, OAuthConfig::default(), world.options(store, &clock)).unwrap()
    };
    new().login(&AGREES).await.unwrap();
    let programs: Vec<_> = (0..4).map(|_| new()).collect();
    for program in &programs {
        assert_eq!(program.token().await, Some(secret("access-1")));
    }
    clock.pass(4000);
    let asks = programs.iter().flat_map(|program| [program, program, program]).map(|program| {
        let program = Arc::clone(program);
        tokio::spawn(async move { program.token().await })
    });
    for ask in asks.collect::<Vec<_>>() {
        assert_eq!(ask.await.unwrap(), Some(secret("access-2")));
    }
    assert_eq!(refreshes(&world), ["refresh-1"]);
}

#[tokio::test]
async fn a_refresh_token_that_was_withdrawn_needs_a_login_and_not_another_client() {
    let world = World::new();
    let authorizer = world.authorizer(OAuthConfig::default());
    authorizer.login(&AGREES).await.unwrap();
    world.on(&format!("{ISSUER}/token"), |seen| match seen.fields["grant_type"].as_str() {
        "refresh_token" => answer(400, &json!({"error": "invalid_grant"})),
        _ => answer(200, &json!({"access_token": "again", "token_type": "Bearer"})),
    });
    let lost = authorizer.challenged(&refused("Bearer"), Some(&secret("access-1"))).await;
    assert_eq!((lost, authorizer.token().await), (Err(AuthError::LoginNeeded), None));
    assert_eq!(authorizer.challenged(&refused("Bearer"), None).await, Err(AuthError::LoginNeeded));
    assert_eq!(refreshes(&world).len(), 1, "it is not tried again");
    authorizer.login(&AGREES).await.unwrap();
    assert_eq!(authorizer.token().await, Some(secret("again")));
}

/// Store that records saved logins, and may refuse.
#[derive(Debug, Default)]
struct Recording {
    inner: MemoryTokenStore,
    saved: Mutex<Vec<String>>,
    refuses: std::sync::atomic::AtomicBool,
}

#[async_trait::async_trait]
impl TokenStore for Recording {
    async fn load(&self, key: &LoginKey) -> Result<Option<SavedLogin>, TokenStoreError> {
        self.inner.load(key).await
    }
    async fn save(&self, key: &LoginKey, login: &SavedLogin) -> Result<(), TokenStoreError> {
        // A dropped caller must not lose the token here.
        tokio::task::yield_now().await;
        if self.refuses.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(TokenStoreError::new("the disk is full".to_owned()));
        }
        self.saved.lock().unwrap().push(serde_json::to_string(login).unwrap());
        self.inner.save(key, login).await
    }
    async fn remove(&self, key: &LoginKey) -> Result<(), TokenStoreError> {
        self.inner.remove(key).await
    }
    async fn lock(&self, key: &LoginKey) -> Result<StoreLock, TokenStoreError> {
        self.inner.lock(key).await
    }
}

#[tokio::test]
async fn a_new_refresh_token_is_kept_before_it_is_used_and_if_the_request_is_given_up() {
    let world = World::new();
    let (store, clock) = (Arc::new(Recording::default()), Held::at(0));
    let authorizer = Authorizer::new(SERVER, OAuthConfig::default(), world.options(store.clone(), &clock)).unwrap();
    authorizer.login(&AGREES).await.unwrap();
    clock.pass(4000);
    {
        let mut given_up = Box::pin(authorizer.token());
        // One poll begins the renewal.
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(given_up.as_mut().poll(cx).is_pending())).await;
        assert!(polled);
    }
    while store.saved.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert!(store.saved.lock().unwrap()[1].contains("refresh-2"));
    assert_eq!(authorizer.token().await, Some(secret("access-2")));
    // A full disk ends neither the session nor the current token.
    store.refuses.store(true, std::sync::atomic::Ordering::SeqCst);
    let better = authorizer.challenged(&refused("Bearer"), Some(&secret("access-2"))).await;
    assert_eq!(better, Ok(secret("access-3")));
    // The stored login is older than the one that the server knows.
    let better = authorizer.challenged(&refused("Bearer"), Some(&secret("access-3"))).await;
    assert_eq!(better, Ok(secret("access-4")));
}

#[tokio::test]
async fn a_token_that_lasts_seconds_is_not_renewed_for_each_request() {
    let world = World::new();
    world.on(&format!("{ISSUER}/token"), |_| {
        answer(200, &json!({"access_token": "short", "expires_in": 30, "refresh_token": "r"}))
    });
    let clock = Held::at(0);
    let options = world.options(Arc::new(MemoryTokenStore::new()), &clock);
    let authorizer = Authorizer::new(SERVER, OAuthConfig::default(), options).unwrap();
    authorizer.login(&AGREES).await.unwrap();
    for _ in 0..5 {
        clock.pass(5);
        assert_eq!(authorizer.token().await, Some(secret("short")));
    }
    assert_eq!(refreshes(&world).len(), 0);
    clock.pass(3);
    authorizer.token().await;
    assert_eq!(refreshes(&world).len(), 1);
}

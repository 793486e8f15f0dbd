//! The provider and the store of the examples keep what their ports promise.
#![allow(dead_code, reason = "the programs around them are not run here")]

#[path = "custom_provider.rs"]
mod custom_provider;
#[path = "custom_store.rs"]
mod custom_store;

use windlass::provider::{Message, ModelRequest};
use windlass_testkit::{Violation, provider, store};

#[tokio::test]
async fn the_store_keeps_the_rules_of_its_port() -> Result<(), Violation> {
    // An object is written as a whole, so a crash leaves no part of a line.
    store::all(&custom_store::Bucket::default(), store::Crash::LeavesWholeEntries).await
}

#[tokio::test]
async fn the_provider_keeps_the_rules_of_its_port() -> Result<(), Violation> {
    let request = ModelRequest::new("parrot-1", vec![Message::user_text("hello").into()], 100);
    let answer = provider::answers(&custom_provider::Parrot, &request).await?;
    assert_eq!(answer.text(), "hello");
    provider::gives_frames(&custom_provider::Parrot, &request).await?;
    provider::survives_cancellation(&custom_provider::Parrot, &request).await?;
    provider::describes_models(&custom_provider::Parrot, &["parrot-1", "an unknown model"])?;
    Ok(())
}

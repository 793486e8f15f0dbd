//! Rules of leases that expire, and of a second owner.

use super::{OrBroken, header, key, loaded, open, prompt, refused, same};
use crate::Violation;
use crate::violation::ensure;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use windlass_session::{Durability, Lease, Owner, SessionKey, SessionStore, StoreErrorKind};

/// Two stores over one place whose leases expire, as two processes have them, and their clock.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "each test of a store names these three")]
pub struct ExpiringStores<'a> {
    /// Store of the first owner.
    pub first: &'a dyn SessionStore,
    /// Store of the second owner.
    pub second: &'a dyn SessionStore,
    /// Lets this much time pass for the store's clock, without waiting for it.
    pub pass: &'a (dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync),
}

impl std::fmt::Debug for ExpiringStores<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { first, second, pass: _ } = self;
        f.debug_struct("ExpiringStores").field("first", first).field("second", second).finish_non_exhaustive()
    }
}

/// Runs every rule of leases that expire.
///
/// # Errors
/// The first rule that the stores break, by its name.
pub async fn leases_expire(stores: ExpiringStores<'_>) -> Result<(), Violation> {
    super::of("an expired lease is taken over", an_expired_lease_is_taken_over(stores).await)?;
    super::of("a renewed lease holds", a_renewed_lease_holds(stores).await)?;
    super::of("an expired lease of an unused session is free", an_unused_session_is_free_again(stores).await)?;
    super::of("one of many openers wins", one_of_many_openers_wins(stores).await)
}

fn second_owner() -> Owner {
    Owner::new(8_765, "kit").on_host("second")
}

fn term(lease: &Lease) -> Result<Duration, Violation> {
    lease.term().ok_or_else(|| Violation::new("the lease never expires".to_owned()))
}

/// Checks that a lease that was not renewed is free for another owner, that appends and renewals of the earlier owner
/// are refused from then on and write nothing, and that its end does not release the lease of the later one.
///
/// # Errors
/// The rule is broken.
pub async fn an_expired_lease_is_taken_over(stores: ExpiringStores<'_>) -> Result<(), Violation> {
    let ExpiringStores { first, second, pass } = stores;
    let key = key("expired", 1);
    let old = open(first, &key).await?;
    let one = prompt(1, None);
    let seq = first.append(&old, old.seq(), vec![one.clone()], Durability::Durable).await.or_broken("append")?;
    let early = second.open(&key, &second_owner(), header()).await;
    refused(early, StoreErrorKind::InUse, "the lease has not expired")?;
    pass(term(&old)?).await;
    let new = second.open(&key, &second_owner(), header()).await.or_broken("an expired lease is free")?;
    ensure(new.epoch() != old.epoch(), || format!("two leases have the number {}", new.epoch()))?;
    same("the position of the second owner", &new.seq(), &seq)?;
    same("the entries for the second owner", &loaded(second, &key).await?, &Vec::from([one.clone()]))?;

    let late = first.append(&old, seq, vec![prompt(2, Some(&one.id))], Durability::Durable).await;
    refused(late, StoreErrorKind::LeaseLost, "the lease is another owner's")?;
    refused(first.renew(&old).await, StoreErrorKind::LeaseLost, "the lease is another owner's")?;
    same("the entries after a late append", &loaded(second, &key).await?, &Vec::from([one.clone()]))?;
    let three = prompt(3, Some(&one.id));
    second.append(&new, seq, vec![three.clone()], Durability::Durable).await.or_broken("append of the new owner")?;

    // The end may report that the late entries were refused.
    let _ = first.close(old).await;
    let again = first.open(&key, &Owner::new(1, "other"), header()).await;
    let error = refused(again, StoreErrorKind::InUse, "the end of a lost lease releases nothing")?;
    ensure(error.to_string().contains("8765"), || format!("it is not so that the error names the owner: {error}"))?;
    same("the entries", &loaded(first, &key).await?, &[one, three])?;
    second.close(new).await.or_broken("close")
}

/// Checks that a renewal moves the end of a lease, and that the lease expires when the renewals end.
///
/// # Errors
/// The rule is broken.
pub async fn a_renewed_lease_holds(stores: ExpiringStores<'_>) -> Result<(), Violation> {
    let ExpiringStores { first, second, pass } = stores;
    let key = key("renewed", 1);
    let lease = open(first, &key).await?;
    let (whole, mut seq, mut written) = (term(&lease)?, lease.seq(), Vec::new());
    for number in 0..3 {
        pass(whole.mul_f32(0.75)).await;
        let rest = first.renew(&lease).await.or_broken("a lease in time is renewed")?;
        ensure(rest.is_some_and(|rest| rest > whole / 2), || {
            format!("a renewed lease of {whole:?} has {rest:?} left")
        })?;
        let entry = prompt(number, written.last().map(|entry: &windlass_types::Entry| &entry.id));
        written.push(entry.clone());
        seq = first.append(&lease, seq, vec![entry], Durability::Durable).await.or_broken("append")?;
        let other = second.open(&key, &second_owner(), header()).await;
        refused(other, StoreErrorKind::InUse, "the lease was renewed")?;
    }
    pass(whole).await;
    let late = first.append(&lease, seq, vec![prompt(9, None)], Durability::Durable).await;
    refused(late, StoreErrorKind::LeaseLost, "the lease has expired, though nobody has taken it")?;
    refused(first.renew(&lease).await, StoreErrorKind::LeaseLost, "an expired lease stays lost")?;
    drop(lease);
    same("the entries", &loaded(second, &key).await?, &written)?;
    let next = second.open(&key, &second_owner(), header()).await.or_broken("an expired lease is free")?;
    second.close(next).await.or_broken("close")
}

/// Checks that an opened session without entries is free when its lease has expired, and is not stored.
///
/// # Errors
/// The rule is broken.
pub async fn an_unused_session_is_free_again(stores: ExpiringStores<'_>) -> Result<(), Violation> {
    let ExpiringStores { first, second, pass } = stores;
    let key = key("expired-unused", 1);
    let lease = open(first, &key).await?;
    pass(term(&lease)?).await;
    refused(second.load(&key).await, StoreErrorKind::NotFound, "nothing was stored")?;
    same("the sessions listed", &second.list(&key.project).await.or_broken("list")?, &[])?;
    let next = second.open(&key, &second_owner(), header()).await.or_broken("an expired lease is free")?;
    drop(lease);
    let entry = prompt(1, None);
    second.append(&next, next.seq(), vec![entry.clone()], Durability::Durable).await.or_broken("append")?;
    second.close(next).await.or_broken("close")?;
    same("the entries", &loaded(first, &key).await?, &[entry])
}

/// Number of times that several owners open a session at once.
const RACES: u32 = 20;

/// Checks that of several owners that open a session at the same time, new or with an expired lease, one gets the lease.
///
/// # Errors
/// The rule is broken.
pub async fn one_of_many_openers_wins(stores: ExpiringStores<'_>) -> Result<(), Violation> {
    let ExpiringStores { first, second, pass } = stores;
    for race in 0..RACES {
        // Every other session was used before, and its owner is gone.
        let key: SessionKey = key("race", race / 2);
        let owner = second_owner();
        let (one, two, three, four) = tokio::join!(
            first.open(&key, &owner, header()),
            second.open(&key, &owner, header()),
            first.open(&key, &owner, header()),
            second.open(&key, &owner, header()),
        );
        let mut winners = 0;
        for opened in [one, two, three, four] {
            match opened {
                Ok(lease) => {
                    winners += 1;
                    // Kept as by an owner that was killed.
                    std::mem::forget(lease);
                }
                Err(error) => {
                    same("the kind of a refusal", &error.kind, &StoreErrorKind::InUse)?;
                }
            }
        }
        same("the number of leases", &winners, &1)?;
        pass(Duration::from_secs(24 * 3_600)).await;
    }
    Ok(())
}

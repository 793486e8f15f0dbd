//! Keys of front matter that are nearly spelt like one with an effect.

use windlass_types::near::is_misspelt;

/// Returns the problem of an unknown key that is close to one of `restricting`, whose restriction would be lost.
pub(crate) fn misspelt_key(key: &str, restricting: &[&str]) -> Option<String> {
    let plain = |key: &str| key.replace(['-', '_'], "");
    let meant = restricting.iter().find(|known| is_misspelt(&plain(key), &plain(known)))?;
    Some(format!("`{key}` has no effect: did you mean `{meant}`?"))
}

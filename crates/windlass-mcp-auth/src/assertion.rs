//! Signed assertions by which a machine proves its identity (RFC 7523).

use crate::{AuthError, SecretText};

/// Type of such an assertion in a request.
pub(crate) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Lifetime of an assertion, in seconds.
#[cfg(feature = "private-key-jwt")]
const LIFETIME: u64 = 300;

/// Signs an assertion of the client `id` for `audience`, at `now` in seconds since the Unix epoch. `unique` must differ
/// in each assertion.
///
/// # Errors
/// Fails if the key cannot be read.
#[cfg(feature = "private-key-jwt")]
pub(crate) fn sign(
    key: &SecretText,
    (id, audience): (&str, &str),
    now: u64,
    unique: u128,
) -> Result<SecretText, AuthError> {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;
    let key = signing::AssertionKey::read(key.expose())?;
    let header = json!({ "alg": key.algorithm(), "typ": "JWT" });
    let claims = json!({
        "iss": id, "sub": id, "aud": audience, "iat": now, "exp": now.saturating_add(LIFETIME), "jti": format!("{unique:032x}"),
    });
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let message = format!("{header}.{claims}");
    let signature = URL_SAFE_NO_PAD.encode(key.sign(message.as_bytes())?);
    Ok(SecretText::new(format!("{message}.{signature}")))
}

/// Fails, because without the feature no assertion can be signed.
///
/// # Errors
/// Always fails.
#[cfg(not(feature = "private-key-jwt"))]
pub(crate) fn sign(_: &SecretText, _: (&str, &str), _: u64, _: u128) -> Result<SecretText, AuthError> {
    Err(AuthError::Configuration("a private key needs the feature `private-key-jwt` of windlass-mcp-auth".to_owned()))
}

#[cfg(feature = "private-key-jwt")]
mod signing {
    use crate::AuthError;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    };

    /// Private key.
    pub(super) enum AssertionKey {
        P256(EcdsaKeyPair),
        P384(EcdsaKeyPair),
        Rsa(RsaKeyPair),
    }

    impl AssertionKey {
        /// Reads PKCS #8 in PEM.
        pub(super) fn read(pem: &str) -> Result<Self, AuthError> {
            let unreadable = || {
                AuthError::Configuration(
                    "the private key is not PKCS #8 in PEM (`BEGIN PRIVATE KEY`), of P-256, P-384 or RSA".to_owned(),
                )
            };
            let inside =
                pem.split_once("-----BEGIN PRIVATE KEY-----").and_then(|(_, rest)| rest.split_once("-----END"));
            let (body, _) = inside.ok_or_else(unreadable)?;
            // Environment variables often have `
            // ` for line ends.
            let body: String = body.replace("\\n", "").split_whitespace().collect();
            let bytes = STANDARD.decode(body).map_err(|_| unreadable())?;
            let random = SystemRandom::new();
            let curve = |kind| EcdsaKeyPair::from_pkcs8(kind, &bytes, &random).ok();
            curve(&ECDSA_P256_SHA256_FIXED_SIGNING)
                .map(Self::P256)
                .or_else(|| curve(&ECDSA_P384_SHA384_FIXED_SIGNING).map(Self::P384))
                .or_else(|| RsaKeyPair::from_pkcs8(&bytes).ok().map(Self::Rsa))
                .ok_or_else(unreadable)
        }

        pub(super) fn algorithm(&self) -> &'static str {
            match self {
                Self::P256(_) => "ES256",
                Self::P384(_) => "ES384",
                Self::Rsa(_) => "RS256",
            }
        }

        pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, AuthError> {
            let failed = |_| AuthError::Configuration("the private key does not sign".to_owned());
            let random = SystemRandom::new();
            match self {
                Self::P256(pair) | Self::P384(pair) => {
                    pair.sign(&random, message).map(|signature| signature.as_ref().to_vec()).map_err(failed)
                }
                Self::Rsa(pair) => {
                    let mut signature = vec![0; pair.public().modulus_len()];
                    pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map_err(failed)?;
                    Ok(signature)
                }
            }
        }
    }
}

#[cfg(all(test, feature = "private-key-jwt"))]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey,
    };

    #[test]
    fn a_statement_verifies_with_the_public_key() {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap();
        let encoded = STANDARD.encode(document.as_ref());
        for ends in ["\n", "\\n"] {
            let pem = format!("-----BEGIN PRIVATE KEY-----{ends}{encoded}{ends}-----END PRIVATE KEY-----{ends}");
            let signed = sign(&SecretText::new(pem), ("client", "https://a.example"), 1000, 7).unwrap();
            let (message, signature) = signed.expose().rsplit_once('.').unwrap();
            let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref());
            public.verify(message.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
            let claims = URL_SAFE_NO_PAD.decode(message.split_once('.').unwrap().1).unwrap();
            let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
            assert_eq!(
                (&claims["iss"], &claims["sub"], &claims["aud"]),
                (&"client".into(), &"client".into(), &"https://a.example".into())
            );
            assert_eq!((&claims["iat"], &claims["exp"]), (&1000.into(), &1300.into()));
        }
    }

    #[test]
    fn a_key_of_another_form_is_refused_without_showing_it() {
        for pem in [
            "",
            "word",
            "-----BEGIN PRIVATE KEY-----\nd29yZA==\n-----END PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----",
        ] {
            let error = sign(&SecretText::new(pem), ("c", "a"), 0, 0).unwrap_err().to_string();
            assert!(error.contains("PKCS #8") && !error.contains("d29y"), "{error}");
        }
    }
}

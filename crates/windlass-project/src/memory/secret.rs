//! What looks like a secret, so that none is written into a file that lasts.

/// How keys of well-known vendors begin, and how many characters follow at least.
const KEYS: [(&str, usize); 30] = [
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("sk-", 20),
    ("sk_live_", 10),
    ("rk_live_", 10),
    ("whsec_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 20),
    ("SG.", 20),
    ("dop_v1_", 30),
    ("shpat_", 20),
    ("AGE-SECRET-KEY-", 20),
    ("eyJhbGciOi", 20),
];

/// Words in front of a value that is a secret.
const LABELS: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "access-key",
    "private_key",
    "client_secret",
    "authorization",
];

/// Least characters of a value behind such a word.
const LEAST_VALUE: usize = 8;

/// What of a text looks like a secret, in words; `None` if nothing does.
pub(super) fn found(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY") {
        return Some("a private key");
    }
    let separates =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | ';' | '=');
    let mut words = text.split(separates).flat_map(|word| [word, word.rsplit(':').next().unwrap_or_default()]);
    if words.clone().any(is_key) {
        return Some("an access key");
    }
    if words.any(has_password) {
        return Some("an address with a password");
    }
    text.lines().any(is_assignment).then_some("a password or token")
}

fn is_key(word: &str) -> bool {
    let of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+');
    KEYS.iter().any(|(beginning, least)| {
        let rest = word.strip_prefix(beginning).unwrap_or_default();
        let long = rest.chars().take_while(|c| of_key(*c)).count() >= *least;
        // Names such as `sk-learn-extension-for-tests` have no digit.
        long && rest.contains(|c: char| c.is_ascii_digit())
    })
}

/// Whether a word is an address such as `postgres://user:password@host`.
fn has_password(word: &str) -> bool {
    let Some((_, rest)) = word.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return false };
    user.split_once(':').is_some_and(|(_, password)| !is_placeholder(password))
}

/// Whether a line gives a value to a name that means a secret: `password = "hunter2hunter"`.
fn is_assignment(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    LABELS.iter().any(|label| {
        let mut rest = lower.as_str();
        while let Some((_, behind)) = rest.split_once(label) {
            rest = behind;
            let value = behind.trim_start_matches(['"', '\'', '`', '*', ' ']);
            let Some(value) = value.strip_prefix(['=', ':']) else { continue };
            let value = value.trim_start_matches(['=', '"', '\'', '`', '*', ' ']);
            let value = value.strip_prefix("bearer ").or(value.strip_prefix("basic ")).unwrap_or(value);
            let value: String =
                value.chars().take_while(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`')).collect();
            if value.chars().count() >= LEAST_VALUE
                && value.contains(|c: char| c.is_ascii_digit())
                && !is_placeholder(&value)
            {
                return true;
            }
        }
        false
    })
}

/// Whether a value stands for another one: `$TOKEN`, `<token>`, `***`.
fn is_placeholder(value: &str) -> bool {
    value.is_empty()
        || value.starts_with(['$', '<', '{', '%', '*', '['])
        || value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_found() {
        let pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc";
        let token = format!("use gh{}_{} to push", "p", "a1B2c3D4e5F6g7H8i9J0k1");
        let key = format!("ANTHROPIC_API_KEY=sk-{}-api03-abcdefghij0123456789", "ant");
        for (text, kind) in [
            (pem, "a private key"),
            (token.as_str(), "an access key"),
            (key.as_str(), "an access key"),
            ("postgres://app:s3cret@db.example/x", "an address with a password"),
            ("The password is: `hunter2hunter2`? No: password: hunter2hunter2", "a password or token"),
            ("\"api_key\": \"0123456789abcdef\"", "a password or token"),
            ("Authorization: Bearer abcdef0123456789", "a password or token"),
            ("AWS: AKIA0123456789ABCDEF", "an access key"),
        ] {
            assert_eq!(found(text), Some(kind), "{text}");
        }
    }

    #[test]
    fn plain_words_are_no_secrets() {
        for text in [
            "Run `just test`; the token budget is 200000.",
            "The password is kept in 1Password under `staging-db`.",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b broke it",
            "token: $GITHUB_TOKEN, password = <from the vault>",
            "postgres://localhost:5432/app and https://user@host/x and ssh://git@host:22/x",
            "sk-learn-extension-for-tests is a dependency",
            "secret: see vault",
            "The type is `PrivateKey`, in src/private_key.rs: it wraps bytes.",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}

use std::ffi::{OsStr, OsString};

use super::CredentialProxy;

const BASE_URL: &str = "ANTHROPIC_BASE_URL";
const API_KEY: &str = "ANTHROPIC_API_KEY";

/// Variables that hold credentials, or would take precedence over those of the proxy.
const REMOVED: [&str; 5] =
    [BASE_URL, API_KEY, "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN"];

/// Variables that name proxies, which would also be used for a loopback address.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];

const EXCEPTIONS: [&str; 2] = ["no_proxy", "NO_PROXY"];

impl CredentialProxy {
    /// Returns the variables for a client: `ANTHROPIC_BASE_URL`, and the nonce as `ANTHROPIC_API_KEY`. See
    /// [`child_environment`](Self::child_environment) for the whole environment of a child.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, String); 2] {
        [(BASE_URL, self.url()), (API_KEY, self.nonce().to_owned())]
    }

    /// Returns the names of variables to remove from an environment to which [`environment`](Self::environment) is
    /// added: they hold credentials or would take precedence.
    #[must_use]
    pub fn removed_from_environment(&self) -> [&'static str; 3] {
        let [_, _, token, headers, login] = REMOVED;
        [token, headers, login]
    }

    /// Returns the environment of a child, made from another one: without every variable that holds the credential,
    /// whatever its name, and with [`environment`](Self::environment). If it names an HTTP proxy, the loopback address
    /// becomes an exception. For `env_clear().envs(…)`.
    #[must_use]
    pub fn child_environment(&self, from: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = from
            .into_iter()
            .filter(|(name, value)| !is_one_of(name, &REMOVED) && !self.needles.found_in(value.as_encoded_bytes()))
            .collect();
        if variables.iter().any(|(name, value)| is_one_of(name, &PROXIES) && !value.is_empty()) {
            self.except_loopback(&mut variables);
        }
        variables.extend(self.environment().map(|(name, value)| (name.into(), value.into())));
        variables
    }

    fn except_loopback(&self, variables: &mut Vec<(OsString, OsString)>) {
        let host = self.address.ip().to_string();
        for exceptions in EXCEPTIONS {
            match variables.iter_mut().find(|(name, _)| name == exceptions) {
                Some((_, value)) if value.is_empty() => value.push(&host),
                Some((_, value)) => value.push(format!(",{host}")),
                None => variables.push((exceptions.into(), host.clone().into())),
            }
        }
    }
}

/// `true` if the list holds the name. Case matters on Unix only.
fn is_one_of(name: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|known| if cfg!(windows) { name.eq_ignore_ascii_case(known) } else { name == *known })
}

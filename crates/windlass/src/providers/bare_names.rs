//! Model names without the prefix of a provider: which of them the first provider may be asked for.
//!
//! A prompt goes to the vendor that its model names, or nowhere. A misspelt prefix, or a model of a vendor that this
//! build lacks, must not send a conversation to another company.

use super::route::Variables;
use windlass_model::{BareName, KnownModel};

/// One provider whose names have no prefix.
struct Family {
    prefix: &'static str,
    /// Prefixes of model names that also identify new models.
    names: &'static [&'static str],
    /// Variables that set the address, and the vendor's own host.
    addresses: &'static [&'static str],
    host: &'static str,
}

const FAMILIES: &[Family] = &[
    Family { prefix: "anthropic", names: &["claude"], addresses: &["ANTHROPIC_BASE_URL"], host: "api.anthropic.com" },
    Family {
        prefix: "openai",
        names: &["gpt-", "o1", "o3", "o4", "chatgpt-", "codex-", "ft:"],
        addresses: &["OPENAI_BASE_URL"],
        host: "api.openai.com",
    },
    Family {
        prefix: "gemini",
        names: &["gemini", "gemma", "models/", "tunedModels/"],
        addresses: &["GOOGLE_GEMINI_BASE_URL"],
        host: "generativelanguage.googleapis.com",
    },
];

/// Judges a name for the provider of names without a prefix. Clouds have models of many vendors under their own names,
/// so they accept all names. `known` are the models that the provider lists.
pub(super) fn judge(first: &str, known: impl FnOnce() -> Vec<KnownModel>, lookup: &Variables, name: &str) -> BareName {
    let Some(family) = FAMILIES.iter().find(|family| family.prefix == first) else { return BareName::Own };
    if family.has(name, known) {
        return BareName::Own;
    }
    let addresses = family.addresses.iter().filter_map(|variable| lookup(variable));
    match addresses.filter_map(|address| shown(&address)).find(|address| !is_at(address, family.host)) {
        Some(address) => BareName::Gateway { address },
        None => BareName::Foreign,
    }
}

impl Family {
    fn has(&self, name: &str, known: impl FnOnce() -> Vec<KnownModel>) -> bool {
        let name = name.trim();
        let plain = name.split('[').next().unwrap_or(name).to_ascii_lowercase();
        plain == "default"
            || self.names.iter().any(|beginning| plain.starts_with(&beginning.to_ascii_lowercase()))
            || known().iter().any(|model| model.id == plain || model.aliases.contains(&plain))
    }
}

/// Scheme and host of an address, without credentials and path.
fn shown(address: &str) -> Option<String> {
    let (scheme, rest) = address.trim().split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
    Some(format!("{scheme}://{host}"))
}

fn is_at(address: &str, host: &str) -> bool {
    address.split_once("://").is_some_and(|(_, authority)| {
        let named = authority.strip_suffix(":443").unwrap_or(authority);
        named.eq_ignore_ascii_case(host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(first: &str, address: Option<&str>, name: &str) -> BareName {
        let address = address.map(str::to_owned);
        let lookup = move |variable: &str| address.clone().filter(|_| variable.ends_with("_BASE_URL"));
        judge(first, Vec::new, &lookup, name)
    }

    #[test]
    fn names_of_other_vendors_are_foreign() {
        for (first, own) in [
            ("anthropic", ["claude-opus-9", "Claude-Sonnet-4-5[1m]", "default"]),
            ("openai", ["gpt-9", "o3-mini", "ft:gpt-4o:me"]),
            ("gemini", ["gemini-9", "models/gemini-9", "gemma-4"]),
            ("bedrock", ["meta.llama3-70b", "us.anthropic.claude-x", "anything"]),
        ] {
            for name in own {
                assert_eq!(judged(first, None, name), BareName::Own, "{first}: {name}");
            }
        }
        for name in ["gpt-5.5", "llama3", "nosuch/x", "qwen3:8b", "", "not-claude"] {
            assert_eq!(judged("anthropic", None, name), BareName::Foreign, "{name}");
            assert_eq!(judged("anthropic", Some("https://api.anthropic.com/"), name), BareName::Foreign, "{name}");
        }
    }

    #[test]
    fn a_gateway_takes_any_name_and_is_named_without_credentials() {
        for (address, named) in [
            ("http://localhost:4000", "http://localhost:4000"),
            ("https://me:secret@gateway.example/v1?key=secret", "https://gateway.example"),
            ("https://api.anthropic.com.example", "https://api.anthropic.com.example"),
        ] {
            let gateway = BareName::Gateway { address: named.to_owned() };
            assert_eq!(judged("anthropic", Some(address), "gpt-5.5"), gateway, "{address}");
            assert_eq!(judged("anthropic", Some(address), "claude-opus-4-5"), BareName::Own);
        }
        assert_eq!(judged("anthropic", Some("nonsense"), "gpt-5.5"), BareName::Foreign);
    }
}

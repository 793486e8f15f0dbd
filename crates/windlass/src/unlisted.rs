//! Models that cannot be called and are in no list: the name is said to be wrong before anything else is, such as a missing key.

use crate::error::Error;
use std::collections::BTreeMap;
use windlass_model::{KnownModel, ModelError, ModelProvider};
use windlass_types::ModelErrorKind;
use windlass_types::near::{is_misspelt, nearest};

/// The error of a model that is not ready to be called, with the names that may be meant if no list has it.
pub(crate) fn not_ready(provider: &dyn ModelProvider, model: &str, error: ModelError) -> Error {
    let is_about_setup = matches!(error.kind, ModelErrorKind::Authentication | ModelErrorKind::Configuration);
    // A gateway has names of its own.
    if !is_about_setup || model == "default" || provider.opening_notice(model).is_some() {
        return Error::Model(error);
    }
    let known_models = provider.known_models();
    let names = Names::beside(model, &known_models);
    if names.is_empty() || names.have(model) {
        return Error::Model(error);
    }
    match (names.near(model), error.kind) {
        // The router says better which prefixes there are.
        (similar, ModelErrorKind::Configuration) if similar.is_empty() => Error::Model(error),
        (similar, _) => Error::UnknownModel { model: model.to_owned(), similar, source: Box::new(error) },
    }
}

/// Names of models: the whole name, by the name as a user may write it.
struct Names<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Names<'a> {
    /// The names among which one may be meant: those of the provider that its prefix says, or else all with and without prefix.
    fn beside(model: &str, known: &'a [KnownModel]) -> Self {
        let all = || known.iter().flat_map(|model| model.aliases.iter().chain([&model.id])).map(String::as_str);
        let Some((prefix, _)) = model.split_once('/') else {
            let bare = all().map(|name| name.split_once('/').map_or(name, |(_, bare)| bare));
            return Self(bare.map(|name| (name, name)).collect());
        };
        let of_provider = all().filter(|name| name.split_once('/').is_some_and(|(own, _)| own == prefix));
        Self(of_provider.filter_map(|name| Some((name.split_once('/')?.1, name))).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `true` if the name, or the model of which it is a release, is one of them.
    fn have(&self, model: &str) -> bool {
        let bare = bare(model);
        self.0.keys().any(|known| {
            bare.strip_prefix(&*known.to_ascii_lowercase())
                .is_some_and(|rest| rest.is_empty() || rest.strip_prefix(['-', '@', ':']).is_some_and(is_release))
        })
    }

    /// The names that are a slip or two away, the nearest first. Names of one vendor begin alike, so that is no likeness.
    fn near(&self, model: &str) -> Vec<String> {
        let bare = bare(model);
        let misspelt = self.0.keys().copied().filter(|known| is_misspelt(&bare, known));
        let near = nearest(&bare, misspelt);
        near.into_iter().filter_map(|name| self.0.get(name)).map(|name| (*name).to_owned()).collect()
    }
}

/// A name without prefix and mark of a long context, in lower case.
fn bare(model: &str) -> String {
    let bare = model.trim().split_once('/').map_or(model.trim(), |(_, bare)| bare);
    bare.split('[').next().unwrap_or(bare).to_ascii_lowercase()
}

/// `true` for the part of an id that names a release: a date, `latest`, `v1`.
fn is_release(text: &str) -> bool {
    text == "latest"
        || text.strip_prefix('v').unwrap_or(text).starts_with(|first: char| first.is_ascii_digit())
            && text.len() >= if text.starts_with('v') { 2 } else { 6 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_model::ModelInfo;

    fn known() -> Vec<KnownModel> {
        let model = |id: &str, alias: &str| {
            let mut known = KnownModel::new(id, ModelInfo::new(1, 1));
            known.aliases.push(alias.to_owned());
            known
        };
        vec![model("a/claude-sonnet-4-5", "a/sonnet"), model("b/gpt-5.5", "b/five"), model("c/qwen", "c/q")]
    }

    #[test]
    fn a_name_is_looked_for_with_and_without_its_provider() {
        let known = known();
        for (model, has, near) in [
            ("sonet", false, &["sonnet"][..]),
            ("a/sonet", false, &["a/sonnet"][..]),
            ("Sonnet", true, &["sonnet"][..]),
            ("claude-sonet-4-5", false, &["claude-sonnet-4-5"][..]),
            ("claude-sonnet-4-5[1m]", true, &["claude-sonnet-4-5"][..]),
            ("claude-sonnet-4-5-20250929", true, &[][..]),
            ("claude-sonnet-4-5-fast", false, &[][..]),
            ("claude-xyzzy-99", false, &[][..]),
            ("gpt-5.5", true, &["gpt-5.5"][..]),
            ("b/gpt-5.4", false, &["b/gpt-5.5"][..]),
            ("xyzzy", false, &[][..]),
        ] {
            let names = Names::beside(model, &known);
            assert_eq!(names.have(model), has, "{model}");
            let found = names.near(model);
            assert_eq!(found, near, "{model}");
        }
        assert!(Names::beside("d/anything", &known).is_empty());
    }
}

//! Known models of known endpoints.

mod table;

#[cfg(test)]
mod tests;

use super::compat::{AnswerFormat, Compat, Protocol, ThinkingSwitch};
use super::endpoint::Endpoint;
use crate::models;
use windlass_model::{Catalogue, KnownModel, ModelInfo, ModelRow};
use windlass_types::Api;
use windlass_types::near::nearest;

/// Returns the row of a model of an endpoint.
pub(super) fn row(endpoint: &str, model: &str) -> Option<&'static ModelRow> {
    table::rows(endpoint).iter().find(|row| row.is(model))
}

/// Resolves a name to the model of an endpoint.
pub(super) fn resolve(endpoint: &str, catalogue: &Catalogue, name: &str) -> String {
    let name = name.trim();
    let built_in =
        table::rows(endpoint).iter().find(|row| row.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name)));
    catalogue.overrides().alias(name).or(built_in.map(|row| row.id)).unwrap_or(name).to_owned()
}

/// Returns similar names of an unknown one. Endpoints have models that no table has, so only a name similar to one
/// of the table is doubtful.
pub(super) fn similar(endpoint: &str, catalogue: &Catalogue, name: &str) -> Vec<String> {
    let name = name.trim();
    let rows = table::rows(endpoint);
    let own = || catalogue.overrides().aliases().map(|(alias, _)| alias);
    let aliases = || rows.iter().flat_map(|row| row.aliases.iter().copied()).chain(own());
    if rows.iter().any(|row| row.is(name)) || aliases().any(|alias| alias.eq_ignore_ascii_case(name)) {
        return Vec::new();
    }
    // Ids have slashes and versions; a short word without them is meant as an alias.
    if name.contains(['-', '/', '.', ':']) {
        return Vec::new();
    }
    nearest(name, aliases()).into_iter().map(str::to_owned).collect()
}

/// Returns limits and price of a model: the user's own settings, else the row of this endpoint, else the row of the
/// vendor's own models.
pub(super) fn described(endpoint: &str, catalogue: &Catalogue, model: &str) -> ModelInfo {
    let of_vendor = match endpoint {
        "openai" | "azure" => Some(model),
        // Routers put the vendor in front of the name, and charge its prices.
        "openrouter" => model.strip_prefix("openai/"),
        _ => None,
    };
    let known = row(endpoint, model).map(ModelRow::info);
    let known = known.or_else(|| of_vendor.filter(|own| models::is_known(own)).map(|own| models::model(own).info));
    match known {
        Some(mut info) => {
            catalogue.overrides().apply(model, endpoint, &mut info);
            info
        }
        None => catalogue.info(model),
    }
}

/// `true` if the window of a model is known.
pub(super) fn has_window(endpoint: &str, catalogue: &Catalogue, model: &str) -> bool {
    row(endpoint, model).is_some() || catalogue.has_window(model)
}

/// Context size to request, if it can be set, and the window that the server reports, if any.
pub(super) type Windows = (u32, Option<u64>);

/// Returns the limits and abilities for requests to an endpoint: those of the model, as far as the profile supports
/// them.
pub(super) fn info(endpoint: &Endpoint, catalogue: &Catalogue, (context, window): Windows, model: &str) -> ModelInfo {
    let compat = &endpoint.compat;
    let mut info = described(&endpoint.name, catalogue, model);
    if compat.transport.protocol == Protocol::Ollama {
        info.context_window = u64::from(context);
    }
    if let Some(window) = window {
        (info.context_window, info.window_from_server) = (window, true);
    }
    // In two steps, so that no window overflows.
    let percent = u64::from(compat.answer.window_percent.clamp(1, 100));
    info.context_window = info.context_window / 100 * percent + info.context_window % 100 * percent / 100;
    let room = u32::try_from(info.context_window / 2).unwrap_or(u32::MAX).max(1);
    info.max_output_tokens = info.max_output_tokens.min(room);
    info.default_output_tokens = info.default_output_tokens.min(info.max_output_tokens);
    let sees = row(&endpoint.name, model).is_none_or(|row| row.abilities.vision);
    abilities(&mut info, compat, sees);
    info.api = Api::new(&*endpoint.name, Api::CHAT_COMPLETIONS);
    info
}

/// Applies the abilities that the profile gives to all models of an endpoint. The catalogue knows only abilities behind
/// the API of the vendor.
fn abilities(info: &mut ModelInfo, compat: &Compat, sees: bool) {
    let switch = compat.reasoning.switch;
    info.adaptive_thinking = !matches!(switch, ThinkingSwitch::Never | ThinkingSwitch::Effort);
    info.thinking_budget = matches!(switch, ThinkingSwitch::ReasoningObject | ThinkingSwitch::EnableThinking);
    info.efforts = match switch {
        ThinkingSwitch::Never => Vec::new(),
        _ => compat.reasoning.efforts.iter().map(|(effort, _)| *effort).collect(),
    };
    info.vision = compat.messages.images && sees;
    info.documents = compat.messages.documents;
    info.prompt_cache = compat.cache.key || !compat.cache.control_models.is_empty();
    info.answer_format = matches!(compat.body.answer_format, AnswerFormat::StrictJsonSchema | AnswerFormat::JsonSchema);
    (info.appends_tools, info.web_search) = (false, None);
}

/// Returns the known models of an endpoint, with the user's own settings.
pub(super) fn known(endpoint: &Endpoint, catalogue: &Catalogue, windows: Windows) -> Vec<KnownModel> {
    let rows = table::rows(&endpoint.name).iter();
    let own = rows.map(|row| {
        let info = info(endpoint, catalogue, windows, row.id);
        catalogue.with_own(row.known(info))
    });
    own.collect()
}

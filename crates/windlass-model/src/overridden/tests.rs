use super::*;
use crate::{ModelOverride, Router, Script, ScriptedModel};

fn scripted() -> ScriptedModel {
    ScriptedModel::new(Script::new().turn(|turn| turn.text("Hello.")))
}

fn overrides() -> ModelOverrides {
    let mut overrides = ModelOverrides::new();
    overrides.add("b/mine", ModelOverride::new().context_window(64_000).input_price(1.0).output_price(2.0));
    overrides.add_alias("fast", "b/mine");
    overrides
}

#[test]
fn what_the_user_says_counts_behind_a_router() {
    let router = Router::new("a", scripted()).with("b", scripted());
    let provider = Overridden::new(Arc::new(router), overrides());
    assert_eq!(provider.resolve_model("Fast"), "b/mine");
    assert_eq!(provider.resolve_model("fast[1m]"), "b/mine[1m]");
    assert_eq!(provider.resolve_model("other"), "other");
    assert_eq!(provider.model_info("b/mine").context_window, 64_000);
    assert_ne!(provider.model_info("a/mine").context_window, 64_000);
    assert_eq!(provider.similar_models("fasst"), ["fast"]);
    assert!(provider.similar_models("fast").is_empty());
    // The name has the price set by the user, whatever answers.
    assert_eq!(provider.answering_model("b/mine", "claude-opus-5-5"), None);
}

#[test]
fn models_that_only_the_user_describes_are_listed() {
    let provider = Overridden::new(Arc::new(Router::new("a", scripted()).with("b", scripted())), overrides());
    let models = provider.known_models();
    let [mine] = &models[..] else { panic!("{models:?}") };
    assert_eq!((mine.id.as_str(), &mine.aliases[..], mine.source), ("b/mine", &["fast".to_owned()][..], None));
    assert_eq!(mine.overridden, ["contextWindow", "inputPrice", "outputPrice"]);
    assert_eq!((mine.context_window, mine.max_output_tokens), (Some(64_000), None));
    assert!(mine.info.price.is_some());
}

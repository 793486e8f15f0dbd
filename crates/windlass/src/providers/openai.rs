//! The provider of the OpenAI API, and those of compatible endpoints.

use super::http::Connection;
use super::route::Route;
use windlass_openai::{ChatCompletions, Endpoint, OpenAi};

pub(super) fn routes(connection: &Connection) -> Vec<Route> {
    let set = connection.options();
    let responses = Route::new(
        "openai",
        move |lookup| OpenAi::builder().lookup(lookup).http_options(&set).build(),
        |_| OpenAi::known(),
    );
    let set = connection.options();
    let compatible = Route::new(
        "openai-compatible",
        move |lookup| ChatCompletions::openai_compatible_builder(lookup).http_options(&set).build(),
        |_| ChatCompletions::known_models_of("openai-compatible"),
    );
    let presets = Endpoint::preset_names().filter(|name| *name != "openai").map(|name| {
        let set = connection.options();
        Route::new(
            name,
            move |lookup| ChatCompletions::preset(name)?.lookup(lookup).http_options(&set).build(),
            move |_| ChatCompletions::known_models_of(name),
        )
    });
    [responses, compatible].into_iter().chain(presets).collect()
}

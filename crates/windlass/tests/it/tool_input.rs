//! Inputs of tools by their own derive, against the derives that it stands for.

use serde_json::{Value, json};
use windlass::{Json, JsonText, ToolCx, ToolInput, schemars, tool_fn};
use windlass_tool::schema_of;

/// Defines the same types twice: in the terms of this library, and in those of serde and schemars.
macro_rules! twice {
    ($($item:item)*) => {
        #[allow(dead_code, reason = "only read as a whole")]
        mod own {
            $(#[derive(Debug, windlass::ToolInput)] $item)*
        }
        #[allow(dead_code, reason = "only read as a whole")]
        mod others {
            use super::schemars;
            $(#[derive(Debug, serde::Deserialize, schemars::JsonSchema)] $item)*
        }
    };
}

fn seven() -> u32 {
    7
}

twice! {
    /// A trip.
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub(crate) struct Trip {
        /// Where it begins.
        from_city: String,
        /// How many days. At least one.
        #[schemars(range(min = 1))]
        #[serde(default = "super::seven")]
        days: u32,
        #[serde(rename = "by", alias = "with")]
        by: Option<Vehicle>,
        stops: Vec<Stop>,
        r#type: Kind,
        #[serde(skip)]
        seen: bool,
    }

    #[serde(rename_all = "lowercase")]
    pub(crate) enum Vehicle {
        /// On rails.
        Train,
        Boat {
            /// How many masts.
            masts: u8,
        },
        Other(String),
    }

    #[derive(Default)]
    #[serde(default)]
    pub(crate) struct Stop {
        name: String,
        nights: u32,
        #[serde(flatten)]
        place: Place,
    }

    #[derive(Default)]
    pub(crate) struct Place {
        #[serde(default)]
        latitude: f64,
        #[serde(default)]
        longitude: f64,
    }

    #[serde(tag = "kind")]
    pub(crate) enum Kind {
        Work,
        Leisure { with: Vec<String> },
    }

    pub(crate) struct Pair(u8, String);

    #[serde(transparent)]
    pub(crate) struct Wrapped(Vec<Pair>);
}

fn reads<T: ToolInput + std::fmt::Debug>(input: &Value) -> Result<String, String> {
    JsonText::of(input).unwrap().to::<T>().map(|read| format!("{read:?}")).map_err(|error| error.to_string())
}

#[test]
fn the_schema_is_that_of_the_derives_that_it_stands_for() {
    let schemas = [
        (schema_of::<own::Trip>(), schema_of::<others::Trip>()),
        (schema_of::<own::Vehicle>(), schema_of::<others::Vehicle>()),
        (schema_of::<own::Wrapped>(), schema_of::<others::Wrapped>()),
    ];
    for (own, other) in schemas {
        assert_eq!(own, other);
    }
    let schema: Value = schema_of::<own::Trip>().to().unwrap();
    let days = &schema["properties"]["days"];
    assert_eq!(days["description"], "How many days. At least one.");
    assert_eq!((&days["minimum"], &days["default"]), (&json!(1), &json!(7)));
    assert_eq!(schema["required"], json!(["fromCity", "stops", "type"]));
}

#[test]
fn it_reads_what_they_read_and_refuses_what_they_refuse() {
    let work = json!({ "kind": "Work" });
    for input in [
        json!({ "fromCity": "a", "stops": [], "type": work }),
        json!({ "fromCity": "a", "days": 2, "by": "train", "stops": [{}], "type": { "kind": "Leisure", "with": ["b"] } }),
        json!({ "fromCity": "a", "with": { "boat": { "masts": 3 } }, "stops": [{ "name": "c", "latitude": 1.5 }], "type": work }),
        json!({ "fromCity": "a", "by": { "other": "on foot" }, "stops": [{ "nights": 2, "longitude": 1 }], "type": work }),
        json!({ "from_city": "a", "stops": [], "type": work }),
        json!({ "fromCity": "a", "stops": [], "type": work, "seen": true }),
        json!({ "fromCity": "a", "stops": [{ "nights": -1 }], "type": work }),
        json!({ "fromCity": "a", "stops": [], "type": { "kind": "Leisure" } }),
        json!({ "fromCity": "a", "by": "car", "stops": [], "type": work }),
        json!({ "fromCity": 1 }),
        json!([]),
    ] {
        let own = reads::<own::Trip>(&input);
        assert_eq!(own, reads::<others::Trip>(&input), "{input}");
    }
    assert!(reads::<own::Trip>(&json!({ "fromCity": "a", "stops": [{}], "type": work })).unwrap().contains("days: 7"));
    let pairs = json!([[1, "a"], [2, "b"]]);
    assert_eq!(reads::<own::Wrapped>(&pairs), reads::<others::Wrapped>(&pairs));
}

/// The crate by another name, as a program has it that re-exports it.
mod my {
    pub(crate) use windlass as agent;
}

#[derive(ToolInput)]
#[tool_input(crate = "my::agent::tool")]
struct City {
    /// Where.
    name: String,
}

#[tokio::test]
async fn a_tool_takes_it() {
    let weather = tool_fn("weather", "Current weather.", |city: City, _: ToolCx| async move {
        Ok(Json(json!({ "city": city.name, "degrees": 21 })))
    });
    let call = windlass::Script::new().turn(|turn| turn.tool_use("weather", json!({ "name": "Porto" })));
    let model = windlass::ScriptedModel::new(call.turn(|turn| turn.text("Sunny.")));
    let requests = model.clone();
    let rules = windlass::Permissions::new().allow(["weather"]);
    let result = windlass::query("How is it?").provider(model).tools(weather).permissions(rules).await.unwrap();
    assert!(result.outcome.is_success());
    let request = requests.requests().pop().unwrap();
    let read = request.messages.last().unwrap().content.iter().find_map(|block| block.as_tool_result().cloned());
    assert_eq!(read.unwrap().content.text(), r#"{"city":"Porto","degrees":21}"#);
}

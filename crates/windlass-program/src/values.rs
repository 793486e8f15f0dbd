//! Values of programs as JSON, and back.

use mlua::{LightUserData, Lua, Table, Value};
use serde_json::{Map, Number};
use std::ptr::without_provenance_mut;

/// Maximum nesting of values that leave a program.
const DEEPEST: usize = 64;
/// Maximum number of values in one that leaves a program.
const MOST_VALUES: usize = 200_000;
/// Maximum number of bytes of texts in a value that leaves a program.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Marker of a list without items, because a table without entries is an object.
pub(crate) fn empty_list() -> Value {
    Value::LightUserData(LightUserData(without_provenance_mut(1)))
}

/// Converts a value of a program to JSON.
///
/// # Errors
/// The value is no data, or too large, in words for the program.
pub(crate) fn to_json(value: &Value) -> Result<serde_json::Value, String> {
    Writer { values: 0, bytes: 0 }.value(value, 0)
}

struct Writer {
    values: usize,
    bytes: usize,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<serde_json::Value, String> {
        self.values += 1;
        if depth > DEEPEST {
            return Err(format!("a value nests deeper than {DEEPEST}"));
        }
        if self.values > MOST_VALUES {
            return Err(format!("a value has more than {MOST_VALUES} parts"));
        }
        Ok(match value {
            Value::Nil => serde_json::Value::Null,
            Value::Boolean(flag) => (*flag).into(),
            Value::Integer(number) => (*number).into(),
            Value::Number(number) => number_of(*number)?,
            Value::String(text) => self.text(&text.as_bytes())?.into(),
            Value::Table(table) => self.table(table, depth)?,
            other if *other == Value::NULL => serde_json::Value::Null,
            other if *other == empty_list() => serde_json::Value::Array(Vec::new()),
            other => return Err(format!("a {} is no data", other.type_name())),
        })
    }

    fn text(&mut self, bytes: &[u8]) -> Result<String, String> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MOST_BYTES {
            return Err(format!("a value has more than {MOST_BYTES} bytes"));
        }
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<serde_json::Value, String> {
        let count = table.raw_len();
        if count > 0 {
            let mut list = Vec::new();
            for at in 1..=count {
                let item: Value = table.raw_get(at).map_err(|error| error.to_string())?;
                list.push(self.value(&item, depth + 1)?);
            }
            // A list may have holes, which are null; anything else beside it would be lost.
            let is_place = |key: &Value| key.as_usize().is_some_and(|at| (1..=count).contains(&at));
            for entry in table.pairs::<Value, Value>() {
                if !entry.is_ok_and(|(key, _)| is_place(&key)) {
                    return Err("a table is a list or has names, not both".to_owned());
                }
            }
            return Ok(serde_json::Value::Array(list));
        }
        let mut object = Map::new();
        for entry in table.pairs::<Value, Value>() {
            let (key, item) = entry.map_err(|error| error.to_string())?;
            let Value::String(key) = key else {
                return Err(format!("a {} is no name in an object", key.type_name()));
            };
            let key = self.text(&key.as_bytes())?;
            object.insert(key, self.value(&item, depth + 1)?);
        }
        Ok(serde_json::Value::Object(object))
    }
}

/// Number without a fraction if it is whole.
fn number_of(number: f64) -> Result<serde_json::Value, String> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= LARGEST {
        return Ok((number as i64).into());
    }
    Number::from_f64(number).map(serde_json::Value::Number).ok_or_else(|| "a number is not finite".to_owned())
}

/// Converts JSON to a value of a program. Null members of an object are left out, like `nil`.
///
/// # Errors
/// The value does not fit into the memory of the program.
pub(crate) fn to_lua(lua: &Lua, value: &serde_json::Value) -> mlua::Result<Value> {
    Ok(match value {
        serde_json::Value::Null => Value::NULL,
        serde_json::Value::Bool(flag) => Value::Boolean(*flag),
        serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => Value::String(lua.create_string(text)?),
        serde_json::Value::Array(list) => {
            let table = lua.create_table()?;
            for item in list {
                table.raw_push(to_lua(lua, item)?)?;
            }
            Value::Table(table)
        }
        serde_json::Value::Object(object) => {
            let table = lua.create_table()?;
            for (key, item) in object.iter().filter(|(_, item)| !item.is_null()) {
                table.raw_set(key.as_str(), to_lua(lua, item)?)?;
            }
            Value::Table(table)
        }
    })
}

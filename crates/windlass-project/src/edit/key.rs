//! Changes of one setting in the text of a settings file.

use crate::object::{Object, list_text};
use windlass_types::{JsonError, JsonText};

/// Returns the text of a settings file with one member set to another value, or removed with `None`; `None` if that
/// makes no difference. The rest is unchanged: keys in their order, values as they are written. The empty text means a
/// missing file.
///
/// # Errors
/// The text is not a JSON object or has a key twice, the parent of the member is no object, or the value is not JSON.
/// The result may still be unusable as settings.
pub(crate) fn with_member(text: &str, members: &[String], value: Option<&str>) -> Result<Option<String>, JsonError> {
    let mut file = Object::default();
    if !text.trim().is_empty() {
        JsonText::parse_strict(text)?;
        file = serde_json::from_str(text)?;
    }
    if !change(&mut file, members, value, 1)? {
        return Ok(None);
    }
    Ok(Some(format!("{}\n", file.text(0))))
}

/// Returns `true` if the object has changed.
fn change(object: &mut Object, members: &[String], value: Option<&str>, depth: usize) -> Result<bool, JsonError> {
    let Some((member, deeper)) = members.split_first() else { return Ok(false) };
    if deeper.is_empty() {
        return match value {
            None => Ok(object.remove(member)),
            Some(value) if object.text_of(member) == Some(value) => Ok(false),
            Some(value) => object.set(member, format_value(value, depth)).map(|()| true),
        };
    }
    let mut inner: Object = object.get(member)?;
    if !change(&mut inner, deeper, value, depth.saturating_add(1))? {
        return Ok(false);
    }
    if inner.is_empty() {
        return Ok(object.remove(member));
    }
    object.set(member, inner.text(depth)).map(|()| true)
}

/// Formats a value: a list of texts has one text per line.
fn format_value(value: &str, depth: usize) -> String {
    match serde_json::from_str::<Vec<String>>(value) {
        Ok(items) => list_text(&items, depth),
        Err(_) => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, path: &str, value: Option<&str>) -> Option<String> {
        let members: Vec<String> = path.split('.').map(str::to_owned).collect();
        with_member(text, &members, value).unwrap()
    }

    #[test]
    fn the_rest_stays_as_it_is() {
        let text = "{\"zeta\": [1,  2],\n \"permissions\": {\"x\": {\"a\":1}, \"deny\": [\"A\"]}, \"model\": \"m\"}";
        let changed = with(text, "permissions.deny", Some("[\"A\",\"B\"]")).unwrap();
        assert_eq!(
            changed,
            "{\n  \"zeta\": [1,  2],\n  \"permissions\": {\n    \"x\": {\"a\":1},\n    \"deny\": [\n      \"A\",\n      \"B\"\n    ]\n  },\n  \
             \"model\": \"m\"\n}\n"
        );
        assert_eq!(with(text, "model", Some("\"m\"")), None);
        assert_eq!(with(text, "env.A", None), None);
        assert_eq!(with("", "env.A", Some("\"1\"")).unwrap(), "{\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n");
        assert_eq!(with("{\"env\":{\"A\":\"1\"},\"x\":2}", "env.A", None).unwrap(), "{\n  \"x\": 2\n}\n");
    }

    #[test]
    fn what_is_no_object_is_not_changed() {
        let member = ["env".to_owned(), "A".to_owned()];
        for text in ["[]", "{\"env\":1}", "{", "{\"a\":1,\"a\":2}"] {
            assert!(with_member(text, &member, Some("\"1\"")).is_err(), "{text}");
        }
        assert!(with_member("{}", &member, Some("x")).is_err());
    }
}

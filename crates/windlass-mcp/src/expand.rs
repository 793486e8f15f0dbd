//! Expansion of `${VAR}` in configurations.

/// Replaces `${VAR}` and `${VAR:-default}` by the values that `lookup` returns, as
/// [`parse_config`](crate::parse_config) does. Text of another form stays unchanged.
///
/// # Errors
/// Returns the name of a variable that is not set and has no default.
pub fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if is_name(name) {
            // As with the shell's `:-`, an empty variable is treated as unset.
            let value = lookup(name).filter(|value| default.is_none() || !value.is_empty());
            match (value, default) {
                (Some(value), _) => out.push_str(&value),
                (None, Some(default)) => out.push_str(default),
                (None, None) => return Err(name.to_owned()),
            }
            rest = behind;
        } else {
            out.push_str("${");
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(name: &str) -> bool {
    let starts = name.chars().next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic());
    starts && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in_place() {
        let lookup = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            "ODD" => Some("${A}".to_owned()),
            _ => None,
        };
        for (text, expected) in [
            ("", Ok("")),
            ("x", Ok("x")),
            ("${A}", Ok("1")),
            ("a${A}b${A}", Ok("a1b1")),
            ("${B}", Err("B")),
            ("${B:-2}", Ok("2")),
            ("${B:-}", Ok("")),
            ("${A:-2}", Ok("1")),
            ("${EMPTY}", Ok("")),
            ("${EMPTY:-2}", Ok("2")),
            // The value of a variable is not expanded again.
            ("${ODD}", Ok("${A}")),
            ("$A ${", Ok("$A ${")),
            ("${A", Ok("${A")),
            ("${not a name}", Ok("${not a name}")),
            ("${}", Ok("${}")),
            ("${${A}", Ok("${1")),
            ("${1}", Ok("${1}")),
            ("ä${A}ö", Ok("ä1ö")),
        ] {
            assert_eq!(expand(text, &lookup).as_deref().map_err(String::as_str), expected, "{text}");
        }
    }
}

//! Rules and commands of other agents in the form that they have here.

use serde_json::{Value, json};

/// Returns a rule of Cursor as a rule here: `globs` of its front matter become `paths`.
pub(super) fn rule_of_cursor(text: &str) -> Result<String, String> {
    let Some((head, body)) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) else {
        return Ok(text.to_owned());
    };
    let field = |name: &str| {
        let value = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map(str::trim).filter(|value| !value.is_empty())
    };
    let globs = field("globs").map(|globs| globs.trim_matches(['[', ']']).split(','));
    let paths: Vec<&str> = globs
        .into_iter()
        .flatten()
        .map(|glob| glob.trim().trim_matches(['"', '\'']))
        .filter(|glob| !glob.is_empty())
        .collect();
    if paths.is_empty() || field("alwaysApply") == Some("true") {
        return Ok(body.trim_start().to_owned());
    }
    Ok(format!("---\npaths: {}\n---\n{}", json!(paths), body.trim_start()))
}

/// Returns a command of Gemini as a command here.
pub(super) fn gemini_command(text: &str) -> Result<String, String> {
    let read: Value = basic_toml::from_str(text).map_err(|error| error.to_string())?;
    let Some(prompt) = read.get("prompt").and_then(Value::as_str) else { return Err("it has no prompt".to_owned()) };
    if prompt.contains("!{") {
        return Err("it runs programs (`!{…}`), which are written as !`…` here: copy it by hand".to_owned());
    }
    let prompt = prompt.replace("{{args}}", "$ARGUMENTS");
    let description =
        read.get("description").and_then(Value::as_str).map(|text| format!("---\ndescription: {}\n---\n", json!(text)));
    Ok(format!("{}{}\n", description.unwrap_or_default(), prompt.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_keep_the_files_that_they_are_for() {
        let rule = "---\ndescription: x\nglobs: src/*.ts, *.tsx\nalwaysApply: false\n---\n\nUse hooks.\n";
        assert_eq!(rule_of_cursor(rule).unwrap(), "---\npaths: [\"src/*.ts\",\"*.tsx\"]\n---\nUse hooks.\n");
        let always = "---\nglobs: *.ts\nalwaysApply: true\n---\nBe brief.\n";
        assert_eq!(rule_of_cursor(always).unwrap(), "Be brief.\n");
        assert_eq!(rule_of_cursor("Be brief.").unwrap(), "Be brief.");
    }

    #[test]
    fn commands_of_gemini_take_their_arguments_here() {
        let command = "description = \"Fix: it\"\nprompt = \"\"\"\nFix {{args}} now.\n\"\"\"\n";
        assert_eq!(gemini_command(command).unwrap(), "---\ndescription: \"Fix: it\"\n---\nFix $ARGUMENTS now.\n");
        assert!(gemini_command("prompt = \"!{git diff}\"").unwrap_err().contains("by hand"));
        assert!(gemini_command("description = \"x\"").is_err() && gemini_command("x").is_err());
    }
}

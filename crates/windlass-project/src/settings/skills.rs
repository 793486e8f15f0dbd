//! The keys of skills and commands.

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use windlass_types::{JsonText, names};

/// Users of a skill, the widest choice first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SkillOverride {
    /// Users and the model.
    On,
    /// Users and the model, which reads its name without a description.
    NameOnly,
    /// Users alone.
    UserInvocableOnly,
    /// None of them: the skill is not there.
    Off,
}

/// The keys `skillOverrides`, `disableBundledSkills` and `disableSkillShellExecution`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SkillSettings {
    /// Permitted users of skills, by skill name. An unknown word is treated as `off`.
    #[serde(default, rename = "skillOverrides", deserialize_with = "overrides")]
    pub overrides: BTreeMap<String, SkillOverride>,
    /// `true` if the skills bundled with windlass are left out.
    #[serde(default, rename = "disableBundledSkills", deserialize_with = "flag")]
    pub without_bundled: bool,
    /// `true` if the programs in the texts of commands and skills must not run.
    #[serde(default, rename = "disableSkillShellExecution", deserialize_with = "flag")]
    pub without_programs: bool,
}

fn overrides<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, SkillOverride>, D::Error> {
    let written = Option::<BTreeMap<String, JsonText>>::deserialize(deserializer)?.unwrap_or_default();
    let read =
        |(name, word): (String, JsonText)| (names::skill(&name).to_owned(), word.to().unwrap_or(SkillOverride::Off));
    Ok(written.into_iter().map(read).collect())
}

/// Reads a switch. `null` is treated like an absent value.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

//! Modes and config options of a session.

use crate::conversation::{AcpConversation, AcpModel};
use crate::error::AcpError;
use serde_json::{Value, json};
use windlass_conversation::{Request, SettingsChange};
use windlass_types::{Effort, PermissionMode};

/// Value of an option that leaves the choice to the configuration.
const DEFAULT: &str = "default";

/// Settings of a session as the client sees them.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) mode: PermissionMode,
    bypass_allowed: bool,
    auto_forbidden: bool,
    models: Vec<AcpModel>,
    model: Option<String>,
    effort: Option<Effort>,
}

/// Change of a setting that a client asks for.
#[derive(Debug)]
pub(crate) enum Change {
    Mode(PermissionMode),
    Model(String),
    Effort(Option<Effort>),
}

impl Settings {
    pub(crate) fn of(conversation: &AcpConversation) -> Self {
        let options = &conversation.options;
        Self {
            mode: options.permission_mode,
            bypass_allowed: options.bypass_allowed,
            auto_forbidden: options.auto_forbidden,
            models: conversation.models.clone(),
            model: conversation.model.clone(),
            effort: conversation.effort,
        }
    }

    /// The modes, and the current one.
    pub(crate) fn modes(&self) -> Value {
        let modes: Vec<Value> = self
            .offered()
            .map(|mode| {
                let (name, description) = described(mode);
                json!({ "id": mode.as_str(), "name": name, "description": description })
            })
            .collect();
        json!({ "currentModeId": self.mode.as_str(), "availableModes": modes })
    }

    /// All config options, the most important first.
    pub(crate) fn options(&self) -> Value {
        let mut options = vec![self.mode_option()];
        if let Some(model) = &self.model {
            let choices = self.models.iter().map(|model| choice(&model.name, &model.title, &model.description));
            options.push(select("model", "Model", "model", model, choices.collect()));
        }
        let efforts = self.current_model().map(|model| model.efforts.as_slice()).unwrap_or_default();
        if !efforts.is_empty() {
            let own = choice(DEFAULT, "Default", "The effort that the settings or the model choose");
            let efforts = efforts.iter().map(|effort| choice(effort.as_str(), effort_name(*effort), ""));
            let current = self.effort.map_or(DEFAULT, Effort::as_str);
            options.push(select(
                "effort",
                "Effort",
                "thought_level",
                current,
                [own].into_iter().chain(efforts).collect(),
            ));
        }
        Value::Array(options)
    }

    /// Updates that report the mode.
    pub(crate) fn mode_updates(&self) -> [Value; 2] {
        let mode = json!({ "sessionUpdate": "current_mode_update", "currentModeId": self.mode.as_str() });
        [mode, self.options_update()]
    }

    /// Update that reports all config options.
    pub(crate) fn options_update(&self) -> Value {
        json!({ "sessionUpdate": "config_option_update", "configOptions": self.options() })
    }

    /// The change of a mode that a client asks for.
    pub(crate) fn mode_change(&self, mode: &str) -> Result<Change, AcpError> {
        let found = self.offered().find(|offered| offered.as_str() == mode);
        found.map(Change::Mode).ok_or_else(|| {
            let all: Vec<&str> = self.offered().map(PermissionMode::as_str).collect();
            AcpError::invalid_params(format!("the mode {mode:?} is not offered: use one of {}", all.join(", ")))
        })
    }

    /// The change of a config option that a client asks for.
    pub(crate) fn change(&self, id: &str, value: &Value) -> Result<Change, AcpError> {
        let unusable = || AcpError::invalid_params(format!("the value {value} of the option {id:?} is not offered"));
        let value = value.as_str().ok_or_else(unusable)?;
        match id {
            "mode" => self.mode_change(value),
            "model" if self.models.iter().any(|model| model.name == value) => Ok(Change::Model(value.to_owned())),
            "effort" if value == DEFAULT => Ok(Change::Effort(None)),
            "effort" => {
                let efforts = self.current_model().map(|model| model.efforts.as_slice()).unwrap_or_default();
                let effort = efforts.iter().find(|effort| effort.as_str() == value);
                effort.map(|effort| Change::Effort(Some(*effort))).ok_or_else(unusable)
            }
            "model" => Err(unusable()),
            _ => Err(AcpError::invalid_params(format!("there is no option {id:?}: use mode, model or effort"))),
        }
    }

    /// Takes over a change, except that of a mode, which the conversation reports.
    pub(crate) fn take(&mut self, change: &Change) {
        match change {
            Change::Mode(_) => {}
            Change::Model(name) => {
                self.model = Some(name.clone());
                let efforts = self.current_model().map(|model| model.efforts.clone()).unwrap_or_default();
                self.effort = self.effort.filter(|effort| efforts.contains(effort));
            }
            Change::Effort(effort) => self.effort = *effort,
        }
    }

    /// The changes that lead to these settings from the ones that the session is configured with.
    pub(crate) fn chosen(&self) -> Vec<Change> {
        let model = self.model.clone().map(Change::Model);
        let effort = self.effort.map(|effort| Change::Effort(Some(effort)));
        [Change::Mode(self.mode)].into_iter().chain(model).chain(effort).collect()
    }

    /// Takes over a model that the session reports. Returns `true` if another one is shown now.
    pub(crate) fn model_reported(&mut self, id: &str) -> bool {
        let is_current = self.current_model().is_some_and(|model| is_called(model, id));
        let found = self.models.iter().find(|model| is_called(model, id)).filter(|_| !is_current);
        let Some(model) = found else { return false };
        self.model = Some(model.name.clone());
        true
    }

    fn current_model(&self) -> Option<&AcpModel> {
        let name = self.model.as_ref()?;
        self.models.iter().find(|model| model.name == *name)
    }

    fn offered(&self) -> impl Iterator<Item = PermissionMode> {
        PermissionMode::ALL.into_iter().filter(|mode| match mode {
            PermissionMode::BypassPermissions => self.bypass_allowed,
            PermissionMode::Auto => !self.auto_forbidden,
            _ => true,
        })
    }

    fn mode_option(&self) -> Value {
        let choices = self.offered().map(|mode| {
            let (name, description) = described(mode);
            choice(mode.as_str(), name, description)
        });
        select("mode", "Mode", "mode", self.mode.as_str(), choices.collect())
    }
}

impl Change {
    /// The request to the conversation.
    pub(crate) fn request(&self) -> Request {
        let mut change = SettingsChange::default();
        match self {
            Self::Mode(mode) => return Request::PermissionMode(*mode),
            Self::Model(name) => change.model = Some((name != DEFAULT).then(|| name.clone())),
            Self::Effort(effort) => change.effort = Some(*effort),
        }
        Request::Settings(change)
    }
}

fn is_called(model: &AcpModel, id: &str) -> bool {
    model.name == id || model.id.as_deref() == Some(id)
}

fn choice(value: &str, name: &str, description: &str) -> Value {
    let description = (!description.is_empty()).then_some(description);
    json!({ "value": value, "name": name, "description": description })
}

fn select(id: &str, name: &str, category: &str, current: &str, mut choices: Vec<Value>) -> Value {
    if !choices.iter().any(|choice| choice.get("value").and_then(Value::as_str) == Some(current)) {
        choices.insert(0, choice(current, current, ""));
    }
    json!({
        "id": id, "name": name, "category": category, "type": "select", "currentValue": current, "options": choices,
    })
}

/// Name and description of a mode for people.
pub(crate) fn described(mode: PermissionMode) -> (&'static str, &'static str) {
    match mode {
        PermissionMode::Default => ("Ask", "Reads in the workspace, and asks before everything else"),
        PermissionMode::AcceptEdits => ("Accept edits", "Edits files in the workspace without a question"),
        PermissionMode::Plan => ("Plan", "Reads only, and presents a plan"),
        PermissionMode::DontAsk => ("Don't ask", "Denies what it would ask about"),
        PermissionMode::Auto => ("Auto", "Accepts edits, and lets a model decide about other calls"),
        PermissionMode::BypassPermissions => ("Bypass permissions", "Asks about almost nothing. High risk"),
        _ => (mode.as_str(), ""),
    }
}

fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "Low",
        Effort::Medium => "Medium",
        Effort::High => "High",
        Effort::XHigh => "Extra high",
        Effort::Max => "Maximum",
        _ => effort.as_str(),
    }
}

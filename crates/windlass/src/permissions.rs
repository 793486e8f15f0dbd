//! Who may do what.

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_permission::{CanUseTool, Policy, PolicyConfig, RememberAnswer, RuleError, RuleOrigins, can_use_tool_fn};
use windlass_runtime::Classifier;
use windlass_types::{Behavior, PermissionAnswer, PermissionGroup, PermissionMode, PermissionRequest, RuleSource};

/// Who may do what: a mode, rules, and the host that is asked about the rest.
///
/// The default has no host to ask, so only reading inside the workspace is possible
/// until rules allow more.
#[derive(Clone, Default)]
#[must_use]
pub struct Permissions {
    pub(crate) mode: Option<PermissionMode>,
    pub(crate) bypass_allowed: bool,
    pub(crate) rules: Vec<Rules>,
    pub(crate) can_use_tool: Option<Arc<dyn CanUseTool>>,
    pub(crate) ask_via_events: bool,
    pub(crate) remember: Option<Arc<dyn RememberAnswer>>,
    pub(crate) wait: bool,
    pub(crate) protected: Vec<PathBuf>,
    /// File names of the program that runs the session.
    pub(crate) own_commands: Vec<String>,
    /// What holds for all calls of a kind.
    pub(crate) groups: Vec<(PermissionGroup, Behavior)>,
    /// Rules that limit the tools of the main agent to calls.
    pub(crate) limits: Vec<String>,
    pub(crate) auto: Auto,
}

/// Who is asked in the mode auto.
#[derive(Debug, Clone, Default)]
pub(crate) struct Auto {
    pub(crate) forbidden: bool,
    pub(crate) model: Option<String>,
    pub(crate) classifier: Option<Classifier>,
}

/// Rules of one source and behaviour.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) source: RuleSource,
    pub(crate) behavior: Behavior,
    pub(crate) rules: Vec<String>,
    /// Whether the session says which of them cannot be used: those of the program, which nobody else checks.
    pub(crate) noted: bool,
    /// Where patterns with a leading `/` start; the working directory if nobody says.
    pub(crate) anchor: Option<PathBuf>,
    /// Where they stand, as far as that is a file.
    pub(crate) origins: RuleOrigins,
}

impl Rules {
    fn new<R: Into<String>>(source: RuleSource, behavior: Behavior, rules: impl IntoIterator<Item = R>) -> Self {
        let rules = rules.into_iter().map(Into::into).collect();
        Self { source, behavior, rules, noted: false, anchor: None, origins: RuleOrigins::new() }
    }
}

impl Permissions {
    /// Asks nobody: what is not allowed by a rule or by the mode is denied.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks an async closure about every call that is neither allowed nor denied.
    pub fn ask<F, A>(answer: F) -> Self
    where
        F: Fn(PermissionRequest) -> A + Send + Sync + 'static,
        A: Future<Output = PermissionAnswer> + Send + 'static,
    {
        Self::new().asking(can_use_tool_fn(answer))
    }

    /// Leaves questions open until they are answered through a handle of the session:
    /// [`EventKind::PermissionRequested`](crate::EventKind::PermissionRequested) shows one,
    /// [`SessionHandle::open_questions`](crate::SessionHandle::open_questions) lists all,
    /// [`SessionHandle::answer`](crate::SessionHandle::answer) answers one by its id.
    ///
    /// ```
    /// use windlass::{EventKind, PermissionAnswer, Permissions, Script, ScriptedModel, query, tool_fn};
    /// use std::collections::BTreeMap;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let script = Script::new().turn(|turn| turn.tool_use("deploy", serde_json::json!({}))).turn(|turn| turn.text("Done."));
    /// let deploy = tool_fn("deploy", "Deploys.", |_: BTreeMap<String, String>, _| async { Ok("deployed") });
    /// let mut run = query("Deploy it")
    ///     .provider(ScriptedModel::new(script))
    ///     .tool(deploy)
    ///     .permissions(Permissions::ask_via_events())
    ///     .stream();
    /// while let Some(event) = run.try_next().await? {
    ///     if let EventKind::PermissionRequested(request) = event.kind {
    ///         run.handle().await?.answer(&request.id, PermissionAnswer::allow())?;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn ask_via_events() -> Self {
        Self::new().asking_via_events()
    }

    /// Leaves questions open until they are answered through a handle, see [`ask_via_events`](Self::ask_via_events).
    /// With a callback as well, the first answer counts.
    pub fn asking_via_events(mut self) -> Self {
        self.ask_via_events = true;
        self
    }

    /// Has runs wait for answers. A question is stored before it is asked and outlives the process: any process that shows
    /// its token can answer it later, with `Home::answer_question` or `windlass sessions answer`. A run that no one answers
    /// ends as [`Outcome::Pending`](crate::Outcome::Pending), and nothing of the calls in question has run. It continues with
    /// [`SessionBuilder::continue_run`](crate::SessionBuilder::continue_run): each call is judged anew, and an answer counts
    /// for exactly the call that was asked about. A new prompt withdraws the questions.
    ///
    /// The questions of agents wait as well, if the call that runs the agent waits for it and the session is kept: the run ends as
    /// pending with their questions, and when it is continued, the agent continues where it waited. What an agent in the background
    /// would ask is denied if no host answers it, and the agent reads that the main one can make the call.
    ///
    /// ```
    /// use windlass::{Home, Outcome, PermissionAnswer, Permissions, Script, ScriptedModel, query, session, tool_fn};
    /// use std::collections::BTreeMap;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (home, work) = (tempfile::tempdir()?, tempfile::tempdir()?);
    /// let home = Home::new(home.path());
    /// let deploy = || tool_fn("deploy", "Deploys.", |_: BTreeMap<String, String>, _| async { Ok("deployed") });
    /// let script = Script::new().turn(|turn| turn.tool_use("deploy", serde_json::json!({})));
    /// let result = query("Deploy it")
    ///     .provider(ScriptedModel::new(script))
    ///     .tool(deploy())
    ///     .permissions(Permissions::new().wait_for_answers())
    ///     .persist(home.clone())
    ///     .cwd(work.path())
    ///     .await?;
    /// assert!(matches!(result.outcome, Outcome::Pending { .. }));
    ///
    /// // Days later, in another process that was given the id and the token:
    /// let question = &result.pending_questions[0];
    /// let token = question.token.as_ref().ok_or("no token")?;
    /// home.answer_question(&result.session_id, &question.id, token.reveal(), PermissionAnswer::allow()).await?;
    ///
    /// // And the program that continues the session:
    /// let result = session()
    ///     .provider(ScriptedModel::new(Script::new().turn(|turn| turn.text("It is deployed."))))
    ///     .tool(deploy())
    ///     .persist(home)
    ///     .cwd(work.path())
    ///     .resume(result.session_id.as_str())
    ///     .continue_run()
    ///     .await?;
    /// assert_eq!(result.text, "It is deployed.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_for_answers(mut self) -> Self {
        self.wait = true;
        self
    }

    /// Whether questions can be answered at all.
    pub(crate) fn can_ask(&self) -> bool {
        self.ask_via_events || self.can_use_tool.is_some()
    }

    /// Asks an implementation of the port.
    pub fn asking(mut self, host: impl CanUseTool) -> Self {
        self.can_use_tool = Some(Arc::new(host));
        self
    }

    /// Asks a model about calls that rules leave undecided, and no person: the mode [`PermissionMode::Auto`]. The model
    /// can allow a call or leave it a question, which is a denial here. To have a person asked then, set the mode on
    /// permissions that ask: `Permissions::ask(..).mode(PermissionMode::Auto)`.
    ///
    /// ```
    /// use windlass::{Permissions, Script, ScriptedModel, query, tool_fn};
    /// use std::collections::BTreeMap;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let script = Script::new()
    ///     .turn(|turn| turn.tool_use("deploy", serde_json::json!({})))
    ///     // What the classifier answers: the session's own model, unless another one is named.
    ///     .turn(|turn| turn.text(r#"{"verdict":"ask","reason":"It reaches others"}"#))
    ///     .turn(|turn| turn.text("It was not allowed."));
    /// let deploy = tool_fn("deploy", "Deploys.", |_: BTreeMap<String, String>, _| async { Ok("deployed") });
    /// let result =
    ///     query("Look around").provider(ScriptedModel::new(script)).tool(deploy).permissions(Permissions::auto()).await?;
    /// assert_eq!(result.permission_denials.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn auto() -> Self {
        Self::new().mode(PermissionMode::Auto)
    }

    /// Sets the model that the mode auto asks, by a name that the session's provider knows. Default: the session's model.
    pub fn classifier_model(mut self, model: impl Into<String>) -> Self {
        self.auto.model = Some(model.into());
        self
    }

    /// Sets whom the mode auto asks: a model of another provider, or with another limit of time.
    pub fn classifier(mut self, classifier: Classifier) -> Self {
        self.auto.classifier = Some(classifier);
        self
    }

    /// Forbids the mode [`PermissionMode::Auto`]. A session that names it does not open, and nothing later can switch it on.
    pub fn forbid_auto(mut self) -> Self {
        self.auto.forbidden = true;
        self
    }

    /// Sets the mode. [`PermissionMode::BypassPermissions`] also needs
    /// [`Permissions::allow_bypass`]. Default: the one of the session's project, if it has one and that says one; else
    /// [`PermissionMode::Default`].
    pub fn mode(mut self, mode: PermissionMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Lets the session run without asking, when its mode says so. **High risk**:
    /// whatever text reaches the model can then run programs here. Deny rules,
    /// ask rules and the safety floor still hold.
    pub fn allow_bypass(mut self) -> Self {
        self.bypass_allowed = true;
        self
    }

    /// Allows calls by rule, such as `Bash(cargo test *)`, `Edit(src/**)` or `mcp__server`. A rule that
    /// cannot be used allows nothing; [`Run::notices`](crate::Run::notices) and `Session::notices` name it.
    pub fn allow<R: Into<String>>(self, rules: impl IntoIterator<Item = R>) -> Self {
        self.noted_rules(Behavior::Allow, rules)
    }

    /// Denies calls by rule. Nothing lifts a deny. With a rule that cannot be used, the session does not open
    /// ([`Error::Rule`](crate::Error::Rule)).
    pub fn deny<R: Into<String>>(self, rules: impl IntoIterator<Item = R>) -> Self {
        self.noted_rules(Behavior::Deny, rules)
    }

    /// Asks about calls by rule, whatever the mode and the allow rules say. With a rule that cannot be used, the
    /// session does not open.
    pub fn ask_about<R: Into<String>>(self, rules: impl IntoIterator<Item = R>) -> Self {
        self.noted_rules(Behavior::Ask, rules)
    }

    /// Says what holds for all calls of a kind, such as `(PermissionGroup::Edit, Behavior::Allow)`. A deny and a question
    /// count as those of [`deny`](Self::deny) and [`ask_about`](Self::ask_about) do. An allow covers calls for which only
    /// a rule is missing: none outside of the workspace, and none that is not understood. Of two verdicts on one kind the
    /// stricter one counts.
    pub fn group(mut self, group: PermissionGroup, behavior: Behavior) -> Self {
        self.groups.push((group, behavior));
        self
    }

    fn noted_rules<R: Into<String>>(mut self, behavior: Behavior, rules: impl IntoIterator<Item = R>) -> Self {
        self.rules.push(Rules { noted: true, ..Rules::new(RuleSource::CliArg, behavior, rules) });
        self
    }

    /// Checks rules without opening a session. Returns warnings about usable ones.
    ///
    /// # Errors
    /// One of them cannot be used; the text names it.
    pub fn check_rules(behavior: Behavior, rules: &[String]) -> Result<Vec<String>, String> {
        // Where the rules start does not matter for whether they can be used.
        let root = Path::new("/");
        let mut policy = Policy::new(PolicyConfig::new(root));
        let odd = policy.add_rules(RuleSource::CliArg, behavior, rules, root).map_err(|error| error.to_string())?;
        match odd.iter().find(|warning| warning.ignored) {
            Some(warning) => Err(format!("permission rule `{}` {}", warning.rule, warning.problem)),
            None => Ok(odd.iter().map(ToString::to_string).collect()),
        }
    }

    /// Gives a policy the rules. Notices name those of the program that cannot be used.
    pub(crate) fn add_rules(
        &self,
        policy: &mut Policy,
        cwd: &Path,
        notices: &mut Vec<String>,
    ) -> Result<(), RuleError> {
        for (group, behavior) in &self.groups {
            policy.set_group(*group, *behavior);
        }
        policy.limit_tools(&self.limits, cwd)?;
        for set in &self.rules {
            let anchor = set.anchor.as_deref().unwrap_or(cwd);
            for warning in policy.add_rules(set.source, set.behavior, &set.rules, anchor)? {
                if set.noted && warning.ignored {
                    notices.push(warning.to_string());
                }
                tracing::warn!(%warning, "a permission rule has no effect");
            }
            policy.locate_rules(set.source, set.behavior, &set.origins);
        }
        Ok(())
    }

    /// Protects more paths, and what lies below them: writing there is asked about in every mode. What settings and
    /// records of trust are read from belongs here, if it has no name that is protected anyway.
    pub fn protecting(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.protected.extend(paths);
        self
    }

    /// Names the program that runs the session by its file name, if that is not `windlass`. Commands of it that write settings, trust,
    /// servers, notes or sessions (`windlass trust`, `windlass config set`) ask in every mode, as writing the files does.
    pub fn own_command(mut self, name: impl Into<String>) -> Self {
        self.own_commands.push(name.into());
        self
    }

    /// Drops the allow rules that were added so far, for hosts whose administrators alone may allow something.
    pub fn without_allow_rules(mut self) -> Self {
        self.rules.retain(|set| set.behavior != Behavior::Allow);
        self.groups.retain(|(_, behavior)| *behavior != Behavior::Allow);
        self
    }

    /// Adds rules of any source. Their patterns with a leading `/` start at the working directory. An allow rule
    /// that cannot be used allows nothing, and a `tracing` event says so; with a deny or ask rule that cannot be
    /// used, the session does not open.
    pub fn with_rules<R: Into<String>>(
        mut self,
        source: RuleSource,
        behavior: Behavior,
        rules: impl IntoIterator<Item = R>,
    ) -> Self {
        self.rules.push(Rules::new(source, behavior, rules));
        self
    }

    /// Adds rules of any source whose patterns with a leading `/` start at `anchor`, such as the directory of
    /// the settings file that holds them. Rules that an answer adds to that source later start there, too.
    pub fn with_rules_at<R: Into<String>>(
        mut self,
        anchor: impl Into<PathBuf>,
        source: RuleSource,
        behavior: Behavior,
        rules: impl IntoIterator<Item = R>,
    ) -> Self {
        self.rules.push(Rules { anchor: Some(anchor.into()), ..Rules::new(source, behavior, rules) });
        self
    }

    /// Says where the rules stand that were added last.
    #[cfg(feature = "project")]
    pub(crate) fn standing_in(mut self, origins: RuleOrigins) -> Self {
        if let Some(last) = self.rules.last_mut() {
            last.origins = origins;
        }
        self
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permissions")
            .field("mode", &self.mode)
            .field("bypass_allowed", &self.bypass_allowed)
            .field("rules", &self.rules)
            .field("asks", &self.can_ask())
            .field("auto", &self.auto)
            .finish()
    }
}

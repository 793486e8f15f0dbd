//! Permission options of a session.

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_permission::{CanUseTool, Policy, PolicyConfig, RememberAnswer, RuleError, RuleOrigins, can_use_tool_fn};
use windlass_runtime::Classifier;
use windlass_types::{Behavior, PermissionAnswer, PermissionGroup, PermissionMode, PermissionRequest, RuleSource};

/// Permissions of a session: a mode, rules, and the host that answers permission requests.
///
/// The default has no host to ask, so only reads inside the workspace are possible until rules allow more.
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
    /// Decisions for all calls of a kind.
    pub(crate) groups: Vec<(PermissionGroup, Behavior)>,
    /// Rules that limit the tools of the main agent to certain calls.
    pub(crate) limits: Vec<String>,
    pub(crate) auto: Auto,
}

/// Options of the mode auto.
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
    /// `true` if the session reports which rules are unusable: those of the program, which nothing else checks.
    pub(crate) noted: bool,
    /// Directory at which patterns with a leading `/` start; `None`: the working directory.
    pub(crate) anchor: Option<PathBuf>,
    /// Positions of the rules in their files, if known.
    pub(crate) origins: RuleOrigins,
}

impl Rules {
    fn new<R: Into<String>>(source: RuleSource, behavior: Behavior, rules: impl IntoIterator<Item = R>) -> Self {
        let rules = rules.into_iter().map(Into::into).collect();
        Self { source, behavior, rules, noted: false, anchor: None, origins: RuleOrigins::new() }
    }
}

impl Permissions {
    /// Asks nobody: calls that neither a rule nor the mode allows are denied.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks an async closure about every call that is neither allowed nor denied.
    pub fn ask<F, A>(answer: F) -> Self
    where
        F: Fn(PermissionRequest) -> A + Send + Sync + 'static,
        A: Future<Output = PermissionAnswer> + Send + 'static,
    {
        Self::new().host(can_use_tool_fn(answer))
    }

    /// Asks a host about every call that is neither allowed nor denied: an implementation of the port [`CanUseTool`],
    /// or the readers of events ([`QuestionEvents`]). With both, the first answer is used.
    pub fn host(mut self, host: impl Into<PermissionHost>) -> Self {
        match host.into().0 {
            Some(host) => self.can_use_tool = Some(host),
            None => self.ask_via_events = true,
        }
        self
    }

    /// Has runs wait for answers. A permission request is stored before it is asked and outlives the process: any
    /// process with its token can answer it later, with `Home::answer_question` or `windlass sessions answer`. An
    /// unanswered run ends as [`Outcome::Pending`](crate::Outcome::Pending) before any of the calls in question has
    /// run. [`Prompt::continue_run`](crate::Prompt::continue_run) continues it: each call is judged
    /// anew, and an answer applies to exactly the call of its request. A new prompt withdraws the requests.
    ///
    /// Requests of agents wait as well, if the call that runs the agent waits for it and the session is stored. The run
    /// ends as pending with their requests, and the agent resumes at the same point when the run is continued. A
    /// request of an agent in the background is denied if no host answers it; the agent reads that the main agent can
    /// make the call.
    ///
    /// ```
    /// use windlass::{Home, Outcome, PermissionAnswer, Permissions, Prompt, Script, ScriptedModel, query, session, tool_fn};
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
    ///     .tools(deploy())
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
    ///     .tools(deploy())
    ///     .persist(home)
    ///     .cwd(work.path())
    ///     .resume(&result.session_id)
    ///     .query(Prompt::continue_run())
    ///     .await?;
    /// assert_eq!(result.text, "It is deployed.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_for_answers(mut self) -> Self {
        self.wait = true;
        self
    }

    /// `true` if permission requests can be answered at all.
    pub(crate) fn can_ask(&self) -> bool {
        self.ask_via_events || self.can_use_tool.is_some()
    }

    /// Asks a model instead of a person about calls that rules leave undecided: the mode [`PermissionMode::Auto`]. The
    /// model allows a call or leaves it undecided, which is a denial here. To ask a person then, set the mode on
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
    ///     query("Look around").provider(ScriptedModel::new(script)).tools(deploy).permissions(Permissions::auto()).await?;
    /// assert_eq!(result.permission_denials.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn auto() -> Self {
        Self::new().mode(PermissionMode::Auto)
    }

    /// Sets the classifier model of the mode auto, by a name that the session's provider knows. Default: the session's
    /// model.
    pub fn classifier_model(mut self, model: impl Into<String>) -> Self {
        self.auto.model = Some(model.into());
        self
    }

    /// Sets the classifier of the mode auto: a model of another provider, or with another time limit.
    pub fn classifier(mut self, classifier: Classifier) -> Self {
        self.auto.classifier = Some(classifier);
        self
    }

    /// Forbids the mode [`PermissionMode::Auto`]. A session that requests it does not open, and nothing can enable it
    /// later.
    pub fn forbid_auto(mut self) -> Self {
        self.auto.forbidden = true;
        self
    }

    /// Sets the mode. [`PermissionMode::BypassPermissions`] also needs [`Permissions::allow_bypass`]. Default: the mode
    /// set by the session's project, else [`PermissionMode::Default`].
    pub fn mode(mut self, mode: PermissionMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Permits the mode that runs calls without permission requests. **High risk**: any text that reaches the model can
    /// then run programs here. Deny rules, ask rules and the safety floor still apply.
    pub fn allow_bypass(mut self) -> Self {
        self.bypass_allowed = true;
        self
    }

    /// Allows calls by rule, such as `Bash(cargo test *)`, `Edit(src/**)` or `mcp__server`. An unusable rule allows
    /// nothing; [`Run::notices`](crate::Run::notices) and `Session::notices` name it.
    pub fn allow<R: Into<String>>(self, rules: impl IntoIterator<Item = R>) -> Self {
        self.noted_rules(Behavior::Allow, rules)
    }

    /// Denies calls by rule. Nothing lifts a deny. An unusable rule keeps the session from opening
    /// ([`Error::Rule`](crate::Error::Rule)).
    pub fn deny<R: Into<String>>(self, rules: impl IntoIterator<Item = R>) -> Self {
        self.noted_rules(Behavior::Deny, rules)
    }

    /// Asks about calls by rule, whatever the mode and the allow rules decide. An unusable rule keeps the session from
    /// opening.
    pub fn ask_about<R: Into<String>>(self, rules: impl IntoIterator<Item = R>) -> Self {
        self.noted_rules(Behavior::Ask, rules)
    }

    /// Sets the decision for all calls of a kind, such as `(PermissionGroup::Edit, Behavior::Allow)`. A deny and an ask
    /// work like those of [`deny`](Self::deny) and [`ask_about`](Self::ask_about). An allow covers only calls that lack
    /// nothing but a rule: none outside of the workspace, and none that the analysis does not understand. Of two
    /// decisions on one kind the stricter one applies.
    pub fn group(mut self, group: PermissionGroup, behavior: Behavior) -> Self {
        self.groups.push((group, behavior));
        self
    }

    fn noted_rules<R: Into<String>>(mut self, behavior: Behavior, rules: impl IntoIterator<Item = R>) -> Self {
        self.rules.push(Rules { noted: true, ..Rules::new(RuleSource::CliArg, behavior, rules) });
        self
    }

    /// Checks rules without opening a session. Returns warnings about usable rules.
    ///
    /// # Errors
    /// A rule is unusable; the text names it.
    pub fn check_rules(behavior: Behavior, rules: &[String]) -> Result<Vec<String>, String> {
        // The anchor of the rules does not matter for their validity.
        let root = Path::new("/");
        let mut policy = Policy::new(PolicyConfig::new(root));
        let warnings =
            policy.add_rules(RuleSource::CliArg, behavior, rules, root).map_err(|error| error.to_string())?;
        match warnings.iter().find(|warning| warning.ignored) {
            Some(warning) => Err(format!("permission rule `{}` {}", warning.rule, warning.problem)),
            None => Ok(warnings.iter().map(ToString::to_string).collect()),
        }
    }

    /// Adds the rules to a policy. Notices name the program's unusable rules.
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

    /// Protects more paths, and the paths below them: writing there needs a permission request in every mode. Use it
    /// for the sources of settings and trust records whose names are not protected anyway.
    pub fn protecting(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.protected.extend(paths);
        self
    }

    /// Names the program that runs the session by its file name, if that is not `windlass`. Commands of that program
    /// that write settings, trust, servers, notes or sessions (`windlass trust`, `windlass config set`) ask in every
    /// mode, like writing the files.
    pub fn own_command(mut self, name: impl Into<String>) -> Self {
        self.own_commands.push(name.into());
        self
    }

    /// Drops the allow rules that were added so far, for hosts that reserve allow rules for administrators.
    pub fn without_allow_rules(mut self) -> Self {
        self.rules.retain(|set| set.behavior != Behavior::Allow);
        self.groups.retain(|(_, behavior)| *behavior != Behavior::Allow);
        self
    }

    /// Adds rules of any source. Patterns with a leading `/` start at the working directory. An unusable allow rule
    /// allows nothing, and a `tracing` event reports it; an unusable deny or ask rule keeps the session from opening.
    pub fn with_rules<R: Into<String>>(
        mut self,
        source: RuleSource,
        behavior: Behavior,
        rules: impl IntoIterator<Item = R>,
    ) -> Self {
        self.rules.push(Rules::new(source, behavior, rules));
        self
    }

    /// Adds rules of any source whose patterns with a leading `/` start at `anchor`, such as the directory of their
    /// settings file. Rules that an answer later adds to that source start there, too.
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

    /// Sets the file positions of the rules that were added last.
    pub(crate) fn standing_in(mut self, origins: RuleOrigins) -> Self {
        if let Some(last) = self.rules.last_mut() {
            last.origins = origins;
        }
        self
    }
}

/// Argument of [`Permissions::host`].
pub struct PermissionHost(Option<Arc<dyn CanUseTool>>);

impl<T: CanUseTool> From<T> for PermissionHost {
    fn from(host: T) -> Self {
        Self(Some(Arc::new(host)))
    }
}

impl From<QuestionEvents> for PermissionHost {
    fn from(_: QuestionEvents) -> Self {
        Self(None)
    }
}

impl fmt::Debug for PermissionHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionHost").field("reads_events", &self.0.is_none()).finish()
    }
}

/// Permission requests as events that are left open until they are answered through a handle of the session:
/// [`EventKind::PermissionRequested`](crate::EventKind::PermissionRequested) shows one,
/// [`SessionHandle::open_questions`](crate::SessionHandle::open_questions) lists all,
/// [`SessionHandle::answer`](crate::SessionHandle::answer) answers one by its id.
///
/// ```
/// use windlass::{EventKind, PermissionAnswer, Permissions, Script, ScriptedModel, query, tool_fn};
/// use windlass::permission::QuestionEvents;
/// use std::collections::BTreeMap;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = Script::new().turn(|turn| turn.tool_use("deploy", serde_json::json!({}))).turn(|turn| turn.text("Done."));
/// let deploy = tool_fn("deploy", "Deploys.", |_: BTreeMap<String, String>, _| async { Ok("deployed") });
/// let mut run = query("Deploy it")
///     .provider(ScriptedModel::new(script))
///     .tools(deploy)
///     .permissions(Permissions::new().host(QuestionEvents))
///     .stream();
/// while let Some(event) = run.try_next().await? {
///     if let EventKind::PermissionRequested(request) = event.kind {
///         run.handle().await?.answer(&request.id, PermissionAnswer::allow())?;
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct QuestionEvents;

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

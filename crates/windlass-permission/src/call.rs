//! A call made ready to be judged: its paths with their links, its command, its input.

use crate::command::{Part, View};
use crate::facts::{CallFacts, CommandFacts};
use crate::found::Found;
use crate::path::normalize;
use crate::touch::Touch;
use crate::usage::Usage;
use crate::workspace::Workspace;
use crate::{made, names, views};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use windlass_types::Access;

/// A call ready to be judged.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) facts: &'a CallFacts,
    pub(crate) tool: &'a str,
    /// Paths that the call accesses, except those of the commands of an understood text.
    pub(crate) touches: Vec<Touch>,
    /// Commands of an understood text, with their touches.
    pub(crate) parts: Option<Vec<(Part<'a>, Vec<Touch>)>>,
    fields: OnceCell<BTreeMap<String, serde_json::Value>>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(facts: &'a CallFacts, workspace: &Workspace) -> Self {
        let links = workspace.links();
        let tool = names::canonical(&facts.tool);
        let mut call =
            Self { facts, tool, touches: Vec::with_capacity(facts.paths.len()), parts: None, fields: OnceCell::new() };
        let writes = matches!(facts.access, Access::Writes(_)) || names::is_edit_tool(tool);
        // A search reads the whole tree it is pointed at.
        let tree = names::searches_trees(tool);
        for fact in &facts.paths {
            let usage = Usage { read: true, write: writes || fact.write, tree, ..Usage::default() };
            let mut touch = Touch::new(&normalize(&facts.cwd, &fact.requested), usage, links);
            touch.route.follow(fact, links);
            call.touches.push(touch);
        }
        if let Some(command) = &facts.command {
            call.add_command(command, workspace);
        }
        call
    }

    fn add_command(&mut self, command: &'a CommandFacts, workspace: &Workspace) {
        let links = workspace.links();
        let facts = Found::new(command, links);
        let view = View::new(&command.analysis, &self.facts.cwd, workspace.home());
        self.touches.extend(view.found.iter().map(|spec| facts.touch_of(spec)));
        let touches_of = |part: &Part<'_>| part.specs.iter().map(|spec| facts.touch_of(spec)).collect();
        let touches: Option<Vec<Vec<Touch>>> = view.parts.as_ref().map(|parts| parts.iter().map(touches_of).collect());
        for fact in facts.unnamed() {
            let usage = Usage { read: true, write: fact.write, ..Usage::default() };
            let mut extra = Touch::new(&normalize(&self.facts.cwd, &fact.requested), usage, links);
            extra.route.follow(fact, links);
            self.touches.push(extra);
        }
        let end = |path: &Path| facts.end(path);
        let plain = |part: &Part<'_>| part.command.assignments().is_empty();
        let stays = view.bases.len() == 1 && view.parts.as_ref().is_some_and(|parts| parts.iter().all(plain));
        for found in command.analysis.found() {
            let shown = views::shown(found.words(), &view.bases, workspace.directories(), &end);
            let touch = |shown: views::Shown| Touch {
                tracked: command.tracked.clone().filter(|_| shown.tracked && stays),
                ..Touch::new(&shown.path, Usage { read: true, tree: shown.tree, ..Usage::default() }, links)
            };
            self.touches.extend(shown.into_iter().map(touch));
        }
        let written = Usage { write: true, ..Usage::default() };
        self.touches.extend(facts.overwritten.iter().map(|fact| facts.followed(fact, written)));
        self.touches.extend(made::brought(&view.copies, &facts, links));
        self.parts = view.parts.zip(touches).map(|(parts, touches)| parts.into_iter().zip(touches).collect());
        if let Some(parts) = &mut self.parts {
            self.touches.extend(made::settle(parts, &facts, links));
        }
    }

    /// Returns everything the call touches.
    pub(crate) fn all_touches(&self) -> impl Iterator<Item = &Touch> {
        let named = self.touches.iter().chain(self.parts.iter().flatten().flat_map(|(_, touches)| touches));
        named.flat_map(|touch| std::iter::once(touch).chain(&touch.stands_for))
    }

    /// Returns a direct field of the input, if it is a text.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.field(field)?.as_str()
    }

    /// Returns a direct field of the input.
    pub(crate) fn field(&self, name: &str) -> Option<&serde_json::Value> {
        self.fields.get_or_init(|| self.facts.input.to().unwrap_or_default()).get(name)
    }

    /// Returns `true` if only the user's answer can let this call run.
    pub(crate) fn asks_the_user(&self) -> bool {
        self.facts.requires_user_interaction || names::asks_the_user(self.tool)
    }
}

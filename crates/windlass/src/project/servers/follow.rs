//! Servers of files and lists of settings that change while sessions are open.

use super::{Gate, ProjectServers, about, grouped};

use tokio::task::JoinSet;
use windlass_project::{Layer, LeftOutServer, Origin, Resolved, ServerDefinition, ServerFiles, Servers};

impl ProjectServers {
    /// `true` if servers may come from files.
    pub(in crate::project) fn follows_files(&self) -> bool {
        self.0.sources.lock().is_some()
    }

    /// Reads the files that define servers again, if one of them was added, removed or changed. Returns their content
    /// and the changed files.
    pub(in crate::project) fn look(&self) -> Option<(ServerFiles, Vec<(Layer, Origin)>)> {
        let read = &self.0.read;
        let sources = self.0.sources.lock();
        let known = sources.as_ref()?;
        let newer = known.look(&read.places, &read.settings)?;
        let changed = known.changed(&newer);
        Some((newer, changed))
    }

    /// Activates the definitions, except those of these layers.
    pub(in crate::project) fn take(&self, newer: ServerFiles, refused: &[Layer]) {
        let mut sources = self.0.sources.lock();
        let Some(known) = sources.as_mut() else { return };
        let new = newer.notes().iter().filter(|note| !known.notes().contains(note));
        let new: Vec<String> = new.map(ToString::to_string).collect();
        known.take(newer, refused);
        drop(sources);
        new.into_iter().for_each(|note| self.tell(note));
    }

    /// Starts, restarts and ends servers according to the files and these settings. A change is applied as a whole,
    /// whether the future is polled or not; the future is ready when removed servers have ended. Must be called inside
    /// a tokio runtime.
    pub(in crate::project) fn follow(&self, resolved: &Resolved) -> impl Future<Output = ()> + use<> {
        let read = &self.0.read;
        let servers = self.0.sources.lock().as_ref().map(|files| files.servers(&read.places, &read.settings, resolved));
        let gate = Gate::new(resolved, read);
        let this = self.clone();
        let task = tokio::spawn(async move { this.put_in_place(gate, servers).await });
        async move { drop(task.await) }
    }

    async fn put_in_place(self, gate: Gate, wanted: Option<Servers>) {
        // One change after another: the last one wins.
        let _turn = self.0.renewing.lock().await;
        *self.0.gate.lock() = gate;
        let mut gone = self.keep_out();
        let change = wanted.as_ref().map(|wanted| self.0.files.lock().change_of_files(&wanted.servers));
        let mut before = Vec::new();
        for name in change.iter().flat_map(|change| &change.go) {
            if let Some(server) = self.0.files.lock().remove(name) {
                gone.push(name.clone());
                before.push(server);
            }
        }
        // The program of a restarted server may hold resources that the next one needs.
        self.end(gone).await;
        self.let_in();
        let tried = self.0.files.lock().retry();
        let come = change.map(|change| change.come).unwrap_or_default();
        self.0.files.lock().add(come.iter().cloned());
        if self.0.files.lock().are_open() {
            self.begin_but_for(&tried);
        }
        let Servers { left_out, notes, .. } = wanted.unwrap_or_default();
        let notes = self.0.files.lock().note(notes);
        notes.iter().for_each(|note| self.tell(note.to_string()));
        self.tell_of_files(&before, &come, left_out);
    }

    /// Removes servers that settings no longer permit. Returns their names.
    fn keep_out(&self) -> Vec<String> {
        let mut gone = Vec::new();
        for status in self.set().status() {
            let Ok(config) = self.set().config(&status.name) else { continue };
            let Some(why) = self.refusal(&status.name, &config) else { continue };
            let of_file = self.0.files.lock().bar(&status.name, &why);
            match of_file {
                Some(left) => self.tell(stopped(&left.server, &why)),
                None => {
                    self.tell(format!("the MCP server {:?} is stopped: {why}", status.name));
                    self.0.kept_out.lock().insert(status.name.clone(), (config, why));
                }
            }
            gone.push(status.name);
        }
        gone
    }

    async fn end(&self, names: Vec<String>) {
        let mut ending = JoinSet::new();
        for name in names {
            let set = self.set().clone();
            ending.spawn(async move { set.remove(&name).await });
        }
        while ending.join_next().await.is_some() {}
    }

    /// Begins the servers of the program that settings kept out and permit now.
    fn let_in(&self) {
        let kept_out = self.0.kept_out.lock().clone();
        for (name, (config, _)) in kept_out {
            if self.refusal(&name, &config).is_none() && self.connect(&name, config).is_ok() {
                self.tell(format!("the MCP server {name:?} is started: settings let it in now"));
            }
        }
    }

    fn tell_of_files(&self, before: &[ServerDefinition], come: &[ServerDefinition], left_out: Vec<LeftOutServer>) {
        let new = self.0.files.lock().leave_out(left_out);
        for server in before {
            let why_not = || new.iter().find(|left| left.server.name == server.name);
            let text = match (come.iter().find(|come| come.name == server.name), why_not()) {
                (Some(_), _) => continue,
                (None, Some(left)) => stopped(server, &left.reason),
                (None, None) => stopped(server, "it is not defined any more"),
            };
            self.tell(text);
        }
        let had = |server: &ServerDefinition| before.iter().any(|before| before.name == server.name);
        let unreported = new.iter().filter(|left| !had(&left.server));
        grouped(unreported.map(about)).into_iter().for_each(|note| self.tell(note));
        for server in come.iter().filter(|server| self.0.files.lock().has_begun(server)) {
            let (name, path) = (&server.name, server.path.display());
            let what = if had(server) { "has changed and is started anew" } else { "is new and is started" };
            self.tell(format!("the MCP server {name:?} of {path} {what}"));
        }
    }
}

fn stopped(server: &ServerDefinition, why: &str) -> String {
    format!("the MCP server {:?} of {} is stopped: {why}", server.name, server.path.display())
}

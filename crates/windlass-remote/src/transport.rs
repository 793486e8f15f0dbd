//! Programs that run remote commands.

use std::ffi::{OsStr, OsString};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use windlass_process::Child;

use crate::ConnectError;
use crate::quote::quote;

/// A program on this machine that runs a command elsewhere, with its streams.
///
/// The program is started with the environment of this process, none of which reaches the remote side by itself. The
/// remote command is always the same short line; scripts, paths, commands and their environment follow on its input. So
/// they appear in no list of processes, and no login shell reads them.
#[derive(Debug, Clone)]
pub struct Transport {
    program: OsString,
    options: Vec<OsString>,
    target: Target,
    connect_time: Duration,
}

#[derive(Debug, Clone)]
enum Target {
    /// Arguments are passed unchanged: `docker exec -i CONTAINER`.
    Container(String),
    /// Arguments are joined for the remote login shell: `ssh HOST`.
    Host(String),
    /// Arguments are passed unchanged, after those of the program.
    Plain,
}

impl Transport {
    /// Default time limit of a connection.
    pub const CONNECT_TIME: Duration = Duration::from_secs(30);

    /// A running container, by its name or id: `docker exec -i CONTAINER …`.
    pub fn docker(container: impl Into<String>) -> Self {
        Self::of("docker", Target::Container(container.into()))
    }

    /// Another machine, by its name for `ssh`: `HOST`, `USER@HOST`, or an alias of its configuration. There are no
    /// prompts: keys must exist, and the host must be known. Dead connections are noticed after 45 seconds.
    pub fn ssh(host: impl Into<String>) -> Self {
        let mut ssh = Self::of("ssh", Target::Host(host.into()));
        for option in ["BatchMode=yes", "ServerAliveInterval=15", "ServerAliveCountMax=3"] {
            ssh.options.extend(["-o".into(), option.into()]);
        }
        ssh
    }

    /// Any program that runs the words after its own arguments as a command, exactly as they are, and passes streams
    /// on: `podman exec -i CONTAINER`, `nsenter …`, `sudo -u someone`.
    pub fn program<A: Into<OsString>>(program: impl Into<OsString>, args: impl IntoIterator<Item = A>) -> Self {
        let mut plain = Self::of(program, Target::Plain);
        plain.options.extend(args.into_iter().map(Into::into));
        plain
    }

    fn of(program: impl Into<OsString>, target: Target) -> Self {
        Self { program: program.into(), options: Vec::new(), target, connect_time: Self::CONNECT_TIME }
    }

    /// Replaces the usual program, for example by `/opt/bin/ssh`, or `podman` instead of `docker`.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<OsString>) -> Self {
        self.program = program.into();
        self
    }

    /// Adds options before the container or host, such as `["-p", "2222"]`, or `["--user", "build"]`.
    #[must_use]
    pub fn with_options<A: Into<OsString>>(mut self, options: impl IntoIterator<Item = A>) -> Self {
        self.options.extend(options.into_iter().map(Into::into));
        self
    }

    /// Sets the time limit of a connection, and after that of each answer for a file.
    #[must_use]
    pub fn with_connect_time(mut self, time: Duration) -> Self {
        self.connect_time = time;
        self
    }

    /// Name of the place for people: `the container web`, `build.example.org`.
    pub fn place(&self) -> String {
        match &self.target {
            Target::Container(name) => format!("the container {name}"),
            Target::Host(name) => name.clone(),
            Target::Plain => format!("what {} reaches", self.program.display()),
        }
    }

    /// Name that distinguishes the place from others.
    pub(crate) fn full_name(&self) -> String {
        match &self.target {
            Target::Container(name) => format!("docker:{name}"),
            Target::Host(name) => format!("ssh:{name}"),
            Target::Plain => {
                let words = std::iter::once(&self.program).chain(&self.options);
                format!("program:{}", words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
            }
        }
    }

    pub(crate) fn connect_time(&self) -> Duration {
        self.connect_time
    }

    /// Refuses a name that the program would take for an option, or that no container and host has.
    pub(crate) fn check(&self) -> Result<(), ConnectError> {
        let (Target::Container(name) | Target::Host(name)) = &self.target else { return Ok(()) };
        let is_plain = |c: char| c.is_alphanumeric() || "._-@:[]%".contains(c);
        match !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain) {
            true => Ok(()),
            false => Err(ConnectError::Unusable(format!("{name:?} is not the name of a container or a host"))),
        }
    }

    /// Starts a remote shell that runs the next `script` bytes of its input as a script.
    pub(crate) fn spawn(&self, script: usize) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(self.words(script));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The end of its input ends it and its remote program; killed before it has passed that on, it might leave a
        // program there.
        Child::spawn(command).map(Child::outliving)
    }

    fn words(&self, script: usize) -> Vec<OsString> {
        // Read in one go, or by parts, but never beyond its end. `dd` is the one program that does that everywhere.
        let read = format!("eval \"$(dd bs={script} count=1 iflag=fullblock 2>/dev/null)\"");
        let mut words = Vec::new();
        match &self.target {
            Target::Container(name) => {
                words.extend(["exec", "-i"].map(OsString::from));
                words.extend(self.options.iter().cloned());
                words.extend([name, "/bin/sh", "-c", &read].map(OsString::from));
            }
            Target::Host(name) => {
                words.push("-T".into());
                words.extend(self.options.iter().cloned());
                // The first of two values is used.
                let seconds = self.connect_time.as_secs().max(1);
                words.extend(["-o".into(), format!("ConnectTimeout={seconds}").into()]);
                words.extend(["--", name].map(OsString::from));
                // One word: `ssh` would join several with blanks. The line has no line end, quote or backslash, so
                // shells of every kind read it alike.
                let mut line = b"exec /bin/sh -c ".to_vec();
                line.extend(quote(read.as_bytes()));
                words.push(String::from_utf8_lossy(&line).into_owned().into());
            }
            Target::Plain => {
                words.extend(self.options.iter().cloned());
                words.extend(["/bin/sh", "-c", &read].map(OsString::from));
            }
        }
        words
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(transport: &Transport) -> Vec<String> {
        transport.words(7).iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_words_are_those_of_the_programs() {
        let read = "eval \"$(dd bs=7 count=1 iflag=fullblock 2>/dev/null)\"";
        let docker = Transport::docker("web").with_options(["--user", "build"]);
        assert_eq!(shown(&docker), ["exec", "-i", "--user", "build", "web", "/bin/sh", "-c", read]);
        let ssh = Transport::ssh("me@host").with_options(["-p", "22"]);
        let words = shown(&ssh);
        assert_eq!(words.first().map(String::as_str), Some("-T"));
        let end = ["-p", "22", "-o", "ConnectTimeout=30", "--", "me@host", &format!("exec /bin/sh -c '{read}'")];
        assert_eq!(words.get(words.len() - 7..), Some(end.map(String::from).as_slice()));
        assert_eq!(
            shown(&Transport::program("podman", ["exec", "-i", "c"])),
            ["exec", "-i", "c", "/bin/sh", "-c", read]
        );
    }

    #[test]
    fn names_that_are_options_are_refused() {
        for name in ["", "-oProxyCommand=id", "a b", "a\nb", "a;b", "$(id)"] {
            assert!(Transport::ssh(name).check().is_err() && Transport::docker(name).check().is_err(), "{name:?}");
        }
        for name in ["web", "me@host.example", "10.0.0.1", "[::1]", "a_b-c.1"] {
            assert!(Transport::ssh(name).check().is_ok(), "{name}");
        }
    }
}

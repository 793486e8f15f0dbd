//! Effects of known programs, with a sentence for each.

use windlass_types::CallEffect::{self, Elevates, Network, Reads, Removes, Runs, Writes};
use windlass_types::RiskGrade::{self, High, Low, Medium};

/// Effect of a program with the sub-command and options of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Purpose {
    pub(super) summary: &'static str,
    pub(super) risk: RiskGrade,
    pub(super) effects: &'static [CallEffect],
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    programs: &'static [&'static str],
    /// First arguments that are no options, one of them; empty for any.
    commands: &'static [&'static str],
    /// Options, one of them; empty for any.
    options: &'static [&'static str],
    purpose: Purpose,
}

/// Returns the effect of a command; `None` if its program is not in the table. The first row that fits decides.
pub(super) fn purpose(program: &str, arguments: &[&str]) -> Option<Purpose> {
    let program = program.strip_suffix(".exe").unwrap_or(program);
    let operands = operands(program, arguments);
    let fits = |row: &&Row| {
        row.programs.contains(&program)
            && (row.commands.is_empty() || row.commands.iter().any(|command| starts_with(&operands, command)))
            && (row.options.is_empty() || arguments.iter().any(|argument| has(argument, row.options)))
    };
    TABLE.iter().find(fits).map(|row| row.purpose)
}

/// `true` if the operands begin with the words of a sub-command.
fn starts_with(operands: &[&str], command: &str) -> bool {
    command.split(' ').enumerate().all(|(at, word)| operands.get(at) == Some(&word))
}

fn has(argument: &str, options: &[&str]) -> bool {
    options.iter().any(|option| match option.strip_prefix("--") {
        Some(_) => is_option(argument, &[option], &[]),
        None => match option.strip_prefix('-').map(|letters| letters.chars().collect::<Vec<_>>()) {
            Some(letters) => !argument.starts_with("--") && is_option(argument, &[], &letters),
            // A text that the argument begins with.
            None => argument.starts_with(option),
        },
    })
}

/// Returns the arguments that are no options, nor the values of options before a sub-command.
fn operands<'a>(program: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    let with_value: &[&str] = match program {
        "git" => &["-C", "-c", "--git-dir", "--work-tree"],
        "kubectl" => &["-n", "--namespace", "--context"],
        "docker" | "podman" => &["-H", "--context"],
        "npm" | "pnpm" | "yarn" => &["--prefix", "-C", "--cwd", "--dir"],
        "cargo" => &["--config", "-Z"],
        "make" => &["-C", "-f", "-j"],
        _ => &[],
    };
    let mut operands = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if with_value.contains(argument) {
            arguments.next();
        } else if !argument.starts_with(['-', '+']) {
            operands.push(*argument);
        }
    }
    operands
}

const fn row(
    programs: &'static [&'static str],
    commands: &'static [&'static str],
    options: &'static [&'static str],
    (risk, effects): (RiskGrade, &'static [CallEffect]),
    summary: &'static str,
) -> Row {
    Row { programs, commands, options, purpose: Purpose { summary, risk, effects } }
}

const LOOKS: (RiskGrade, &[CallEffect]) = (Low, &[Reads]);
const CHANGES: (RiskGrade, &[CallEffect]) = (Medium, &[Writes]);
const LOSES: (RiskGrade, &[CallEffect]) = (High, &[Removes]);
const REMOVES: (RiskGrade, &[CallEffect]) = (Medium, &[Removes]);
const RUNS: (RiskGrade, &[CallEffect]) = (Medium, &[Runs]);
const LOADS: (RiskGrade, &[CallEffect]) = (Medium, &[Network, Writes]);
const INSTALLS: (RiskGrade, &[CallEffect]) = (Medium, &[Network, Writes, Runs]);
const SENDS: (RiskGrade, &[CallEffect]) = (Medium, &[Network]);
const PUBLISHES: (RiskGrade, &[CallEffect]) = (High, &[Network, Writes]);
const REPLACES: (RiskGrade, &[CallEffect]) = (High, &[Network, Removes]);
const FOREIGN: (RiskGrade, &[CallEffect]) = (High, &[Network, Runs]);
const SYSTEM: (RiskGrade, &[CallEffect]) = (High, &[Writes, Runs]);
const ROOT: (RiskGrade, &[CallEffect]) = (High, &[Elevates]);

const GIT: &[&str] = &["git"];
const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];
const PIP: &[&str] = &["pip", "pip3", "pipx"];
const CARGO: &[&str] = &["cargo"];
const GO: &[&str] = &["go"];
const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl"];
const SYSTEM_PACKAGES: &[&str] =
    &["apt", "apt-get", "aptitude", "brew", "dnf", "yum", "zypper", "pacman", "apk", "snap", "flatpak", "dpkg", "rpm"];

/// Programs, sub-commands and options, and what they do. The first row that fits decides.
const TABLE: &[Row] = &[
    // Version control.
    row(GIT, &["reset"], &["--hard"], LOSES, "Discards changes that are not committed."),
    row(GIT, &["checkout"], &["--force", "-f"], LOSES, "Discards changes that are not committed."),
    row(GIT, &["checkout ."], &[], LOSES, "Discards changes that are not committed."),
    row(GIT, &["checkout"], &["--"], LOSES, "Discards changes that are not committed."),
    row(GIT, &["restore"], &["--staged"], CHANGES, "Takes changes out of the next commit."),
    row(GIT, &["restore"], &[], LOSES, "Discards changes that are not committed."),
    row(GIT, &["switch"], &["--force", "-f", "--discard-changes"], LOSES, "Discards changes that are not committed."),
    row(GIT, &["clean"], &["-n", "--dry-run"], LOOKS, "Lists files that git does not track."),
    row(GIT, &["clean"], &[], LOSES, "Removes files that git does not track."),
    row(GIT, &["stash drop", "stash clear"], &[], LOSES, "Removes changes that were put aside."),
    row(GIT, &["stash list", "stash show"], &[], LOOKS, "Shows changes that were put aside."),
    row(GIT, &["stash"], &[], CHANGES, "Puts changes aside, or takes them back."),
    row(GIT, &["branch"], &["-D", "--delete", "-d"], LOSES, "Deletes a branch."),
    row(GIT, &["tag"], &["-d", "--delete"], LOSES, "Deletes a tag."),
    row(
        GIT,
        &["push"],
        &["--force", "-f", "--force-with-lease", "--mirror", "--delete", "-d", "+"],
        REPLACES,
        "Replaces or deletes commits in another repository.",
    ),
    row(GIT, &["push"], &[], PUBLISHES, "Sends commits to another repository."),
    row(GIT, &["commit"], &["--amend"], CHANGES, "Replaces the last commit."),
    row(GIT, &["commit"], &[], CHANGES, "Makes a commit."),
    row(GIT, &["add", "rm", "mv"], &[], CHANGES, "Changes what the next commit holds."),
    row(GIT, &["rebase", "filter-branch", "filter-repo"], &[], (High, &[Writes, Removes]), "Rewrites commits."),
    row(
        GIT,
        &["reset", "revert", "merge", "cherry-pick", "am", "apply"],
        &[],
        CHANGES,
        "Changes the history or the files of the repository.",
    ),
    row(GIT, &["checkout", "switch"], &[], CHANGES, "Changes to another branch or state."),
    row(
        GIT,
        &["pull", "fetch", "clone", "submodule", "remote", "lfs"],
        &[],
        LOADS,
        "Exchanges commits with another repository.",
    ),
    row(GIT, &["config"], &[], SYSTEM, "Changes the configuration of git, which can run programs."),
    row(GIT, &["gc", "prune", "reflog"], &[], LOSES, "Removes commits that nothing refers to."),
    row(
        GIT,
        &["status", "diff", "log", "show", "blame", "grep", "ls-files", "rev-parse", "describe", "branch", "tag"],
        &[],
        LOOKS,
        "Reads the repository.",
    ),
    row(GIT, &[], &[], (Medium, &[Reads, Writes]), "Works on the repository."),
    row(&["gh", "glab"], &[], &[], PUBLISHES, "Uses your account at the host of the repository."),
    // Packages of languages.
    row(
        NODE,
        &["publish", "unpublish", "deprecate", "dist-tag"],
        &[],
        PUBLISHES,
        "Publishes a package for all to use.",
    ),
    row(
        NODE,
        &["install", "i", "ci", "add", "update", "upgrade", "up"],
        &[],
        INSTALLS,
        "Downloads packages and may run their scripts.",
    ),
    row(NODE, &["uninstall", "remove", "rm", "un"], &[], REMOVES, "Removes packages of the project."),
    row(NODE, &["dlx", "exec", "x", "create", "init"], &[], FOREIGN, "Downloads a program and runs it."),
    row(NODE, &["test", "t"], &[], RUNS, "Runs the tests of the project."),
    row(NODE, &["login", "logout", "token", "owner", "access"], &[], PUBLISHES, "Uses your account at the registry."),
    row(NODE, &[], &[], RUNS, "Runs a script of the project."),
    row(
        &["npx", "bunx", "pnpx", "uvx", "pipx"],
        &[],
        &[],
        FOREIGN,
        "Downloads a program, if it is missing, and runs it.",
    ),
    row(PIP, &["uninstall"], &[], REMOVES, "Removes packages."),
    row(PIP, &["install", "download", "wheel"], &[], INSTALLS, "Downloads packages and may run their scripts."),
    row(&["uv"], &["publish"], &[], PUBLISHES, "Publishes a package for all to use."),
    row(&["uv"], &["run"], &[], RUNS, "Runs a program of the project."),
    row(
        &["uv", "poetry", "pdm", "conda", "mamba"],
        &[],
        &[],
        INSTALLS,
        "Downloads packages and may run their scripts.",
    ),
    row(&["twine", "flit", "hatch"], &["upload", "publish"], &[], PUBLISHES, "Publishes a package for all to use."),
    row(&["gem", "bundle", "composer"], &["push", "release"], &[], PUBLISHES, "Publishes a package for all to use."),
    row(
        &["gem", "bundle", "composer"],
        &["install", "update", "require", "add"],
        &[],
        INSTALLS,
        "Downloads packages and may run their scripts.",
    ),
    row(CARGO, &["publish", "yank", "owner", "login"], &[], PUBLISHES, "Publishes a package for all to use."),
    row(CARGO, &["install"], &[], INSTALLS, "Downloads a program and builds it, which runs its build scripts."),
    row(CARGO, &["add", "remove", "update", "fetch", "vendor"], &[], LOADS, "Changes the dependencies of the project."),
    row(CARGO, &["test", "t", "nextest", "bench"], &[], RUNS, "Builds the project and runs its tests."),
    row(CARGO, &["run", "r"], &[], RUNS, "Builds the project and runs its program."),
    row(CARGO, &["clean"], &[], REMOVES, "Removes what was built."),
    row(CARGO, &["fmt"], &[], CHANGES, "Formats the source files."),
    row(CARGO, &[], &[], RUNS, "Builds the project, which runs its build scripts."),
    row(GO, &["install", "get", "mod"], &[], INSTALLS, "Downloads packages."),
    row(GO, &["test", "run", "generate"], &[], RUNS, "Builds the project and runs programs of it."),
    row(GO, &[], &[], RUNS, "Builds or checks the project."),
    // Packages of the system.
    row(SYSTEM_PACKAGES, &["search", "list", "show", "info"], &[], LOOKS, "Looks packages of the system up."),
    row(SYSTEM_PACKAGES, &[], &[], (High, &[Network, Writes, Runs]), "Installs or removes packages of the system."),
    // Builds and tests.
    row(
        &[
            "make",
            "gmake",
            "ninja",
            "just",
            "task",
            "rake",
            "gradle",
            "gradlew",
            "mvn",
            "mvnw",
            "bazel",
            "cmake",
            "meson",
            "msbuild",
            "dotnet",
            "xcodebuild",
        ],
        &[],
        &[],
        RUNS,
        "Runs a build of the project.",
    ),
    row(
        &["pytest", "tox", "nox", "jest", "vitest", "mocha", "phpunit", "rspec", "ctest", "playwright", "cypress"],
        &[],
        &[],
        RUNS,
        "Runs the tests of the project.",
    ),
    row(
        &["tsc", "eslint", "prettier", "ruff", "black", "isort", "mypy", "rustfmt", "gofmt", "clang-format"],
        &[],
        &[],
        CHANGES,
        "Checks or formats source files.",
    ),
    // Code.
    row(
        &["python", "python3", "node", "deno", "ruby", "perl", "php", "lua", "Rscript", "julia", "osascript"],
        &[],
        &["-c", "-e", "-E", "-r", "--eval", "-p", "--print"],
        RUNS,
        "Runs code that stands in the command.",
    ),
    row(&["python", "python3"], &[], &["-m"], RUNS, "Runs a module of Python."),
    row(
        &["python", "python3", "node", "deno", "ruby", "perl", "php", "lua", "Rscript", "julia"],
        &[],
        &[],
        RUNS,
        "Runs a script.",
    ),
    row(
        &["bash", "sh", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "cmd"],
        &[],
        &[],
        RUNS,
        "Runs a script of the shell.",
    ),
    row(&["eval", "source", "."], &[], &[], RUNS, "Runs commands of a text or a file."),
    // Files.
    row(&["rm", "srm", "trash"], &[], &["-r", "-R", "--recursive"], LOSES, "Removes folders with all that is in them."),
    row(&["shred", "srm"], &[], &[], LOSES, "Overwrites and removes files."),
    row(&["rm", "rmdir", "unlink", "trash"], &[], &[], (Medium, &[Removes]), "Removes files."),
    row(&["find", "fd"], &[], &["-delete"], LOSES, "Removes the files that it finds."),
    row(
        &[
            "find",
            "fd",
            "grep",
            "rg",
            "ag",
            "cat",
            "head",
            "tail",
            "less",
            "more",
            "ls",
            "tree",
            "du",
            "df",
            "wc",
            "stat",
            "file",
            "diff",
            "cmp",
            "sort",
            "uniq",
            "cut",
            "jq",
            "strings",
            "xxd",
            "hexdump",
            "md5sum",
            "sha256sum",
            "realpath",
            "readlink",
            "which",
            "egrep",
            "fgrep",
            "zcat",
            "column",
            "tr",
            "nl",
            "comm",
            "basename",
            "dirname",
        ],
        &[],
        &[],
        LOOKS,
        "Reads files.",
    ),
    row(&["sed", "perl"], &[], &["-i", "--in-place"], CHANGES, "Changes files in place."),
    row(&["sed", "awk", "gawk", "mawk"], &[], &[], LOOKS, "Reads files and prints parts of them."),
    row(&["truncate"], &[], &[], LOSES, "Cuts files."),
    row(
        &["dd", "mkfs", "fdisk", "parted", "wipefs"],
        &[],
        &[],
        (High, &[Writes, Removes]),
        "Writes to files or devices without regard to their content.",
    ),
    row(&["mv"], &[], &[], CHANGES, "Moves files, and may replace others."),
    row(&["cp", "install"], &[], &[], CHANGES, "Copies files, and may replace others."),
    row(&["ln"], &[], &[], CHANGES, "Makes links."),
    row(&["mkdir", "touch", "mktemp"], &[], &[], CHANGES, "Creates files or folders."),
    row(&["tee", "patch"], &[], &[], CHANGES, "Writes files."),
    row(&["chmod", "chown", "chgrp", "setfacl", "chattr"], &[], &[], CHANGES, "Changes who may use files."),
    row(
        &["tar", "unzip", "zip", "gzip", "gunzip", "7z", "bunzip2", "xz"],
        &[],
        &[],
        CHANGES,
        "Packs or unpacks files.",
    ),
    // Other machines.
    row(&["ssh", "mosh"], &[], &[], FOREIGN, "Runs commands on another machine."),
    row(
        &["scp", "sftp", "rsync", "rclone"],
        &[],
        &["--delete"],
        REPLACES,
        "Copies files, and removes others at the target.",
    ),
    row(&["scp", "sftp", "rsync", "rclone"], &[], &[], PUBLISHES, "Copies files, also to or from other machines."),
    row(
        &["nc", "ncat", "netcat", "telnet", "socat", "ftp"],
        &[],
        &[],
        (High, &[Network]),
        "Exchanges data with another machine.",
    ),
    row(&["ping", "dig", "nslookup", "host", "traceroute", "whois"], &[], &[], SENDS, "Contacts other machines."),
    row(
        &["aws", "gcloud", "az", "doctl", "heroku", "vercel", "netlify", "fly", "flyctl", "wrangler", "firebase"],
        &[],
        &[],
        PUBLISHES,
        "Uses your account at a cloud service.",
    ),
    row(
        &["terraform", "tofu", "pulumi"],
        &["plan", "validate", "show", "preview", "fmt"],
        &[],
        SENDS,
        "Compares infrastructure with its description.",
    ),
    row(&["terraform", "tofu", "pulumi"], &[], &[], REPLACES, "Changes or destroys infrastructure."),
    row(
        &["kubectl", "helm", "oc"],
        &["get", "describe", "logs", "list", "status", "version"],
        &[],
        SENDS,
        "Reads the state of a cluster.",
    ),
    row(&["kubectl", "helm", "oc"], &[], &[], REPLACES, "Changes what runs in a cluster."),
    // Containers, services, databases.
    row(
        CONTAINERS,
        &["ps", "images", "logs", "inspect", "version", "info", "stats"],
        &[],
        LOOKS,
        "Shows containers or images.",
    ),
    row(
        CONTAINERS,
        &[
            "rm",
            "rmi",
            "prune",
            "system prune",
            "volume rm",
            "volume prune",
            "image prune",
            "container prune",
            "compose down",
        ],
        &[],
        LOSES,
        "Removes containers, images or their data.",
    ),
    row(CONTAINERS, &["push"], &[], PUBLISHES, "Publishes an image."),
    row(CONTAINERS, &["pull", "build", "compose build", "buildx"], &[], INSTALLS, "Downloads or builds an image."),
    row(CONTAINERS, &[], &[], RUNS, "Runs or changes containers."),
    row(&["docker-compose"], &[], &[], RUNS, "Runs or changes containers."),
    row(&["systemctl", "service", "launchctl", "rc-service"], &[], &[], SYSTEM, "Controls services of the system."),
    row(&["crontab", "at", "batch"], &[], &[], SYSTEM, "Has programs run later."),
    row(&["shutdown", "reboot", "poweroff", "halt"], &[], &[], SYSTEM, "Turns the machine off or starts it anew."),
    row(
        &["mount", "umount", "sysctl", "iptables", "nft", "ufw", "useradd", "usermod", "userdel", "passwd"],
        &[],
        &[],
        SYSTEM,
        "Changes the system.",
    ),
    row(&["kill", "pkill", "killall"], &[], &[], (Medium, &[Removes]), "Ends processes."),
    row(
        &["psql", "mysql", "mariadb", "sqlite3", "mongosh", "mongo", "redis-cli", "sqlcmd", "clickhouse-client"],
        &[],
        &[],
        (Medium, &[Reads, Writes]),
        "Sends statements to a database.",
    ),
    row(&["dropdb", "mysqladmin"], &[], &[], LOSES, "Removes a database."),
    row(&["sudo", "doas", "su", "pkexec", "runas"], &[], &[], ROOT, "Runs a program with the rights of another user."),
    // No effect of their own.
    row(
        &[
            "echo", "printf", "true", "false", "test", "[", "pwd", "cd", "date", "sleep", "env", "export", "set",
            "unset", "wait", "type", "command", "time", "timeout", "nice", "nohup", "xargs", "uname", "whoami", "id",
            "hostname", ":", "exit", "read", "printenv", "ps", "builtin", "exec", "stdbuf", "setsid", "local", "shift",
            "return", "ulimit", "umask",
        ],
        &[],
        &[],
        (Low, &[]),
        "Prints a text, or prepares other commands.",
    ),
];

/// Returns `true` if an argument is one of these options, with a value or in a cluster of letters.
pub(super) fn is_option(argument: &str, long: &[&str], short: &[char]) -> bool {
    if argument.starts_with("--") {
        let name = argument.split('=').next().unwrap_or(argument);
        return long.contains(&name);
    }
    argument.strip_prefix('-').is_some_and(|letters| letters.contains(short))
}

"""Runs servers of windlass through the server scenarios of the official conformance package, and shows a table.

Usage: serving.py WINDLASS SERVER PACKAGES. SERVER is the example `conformance_server` of windlass-mcp-server,
which has what the scenarios ask for; WINDLASS serves its own tools. A scenario fails if a check of it has failed or warned,
unless that check is in EXCEPTIONS.
"""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import bearer
import conformance
from conformance import ALPHA, SKILLS, STABLE, entry, listed, matches

TOKEN = "0123456789abcdef0123456789abcdef"
# The version of the package, and the revision of the protocol that its scenarios are asked for, or those of extensions.
EXTENSION = "extension"
SETS = [(STABLE, None), (ALPHA, "2025-11-25"), (ALPHA, "2026-07-28"), (ALPHA, EXTENSION)]
# What a server without the fixtures of the package can be asked.
OWN = [
    "server-initialize", "server-session-lifecycle", "logging-set-level", "ping", "tools-list", "dns-rebinding-protection",
    "server-sse-multiple-streams", "http-header-validation", "input-required-result-unsupported-methods",
]
ORIGINS = ["--origin", "http://localhost:*", "--origin", "http://127.0.0.1:*"]
# By scenario and check: what may fail, and why.
EXCEPTIONS = {
    ("tools-call-with-logging", "tools-call-with-logging"):
        "rmcp sends lines of the log on another stream than the answer, and the package waits 200 ms for them",
}
# Scenarios of extensions that are not offered, or that the package does not check yet: most of their checks are left out.
LEFT_OUT = {
    "sep-2640-*": SKILLS,
    "tasks-status-notifications": "the package does not check it yet, and changes of tasks are not reported: clients ask",
}


def started(command, work):
    """A server, and the port that it listens on."""
    env = {
        "PATH": os.environ["PATH"], "HOME": work, "CLAUDE_CONFIG_DIR": os.path.join(work, "home"), "WINDLASS_MCP_TOKEN": TOKEN,
    }
    log = open(os.path.join(work, "stderr"), "w")
    server = subprocess.Popen(command, cwd=work, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
    return server, int(re.search(r":(\d+)/", server.stdout.readline()).group(1))


def played(packages, version, revision, port, name):
    """What the package says of a server: the checks by scenario."""
    folder = os.path.join(packages, "results", version, f"serving-{name}-{revision or 'default'}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [*entry(packages, version), "server", "--url", f"http://127.0.0.1:{port}/mcp", "--output-dir", folder]
    # The package has no suite of those of extensions.
    suites = [["--suite", "all", *(["--spec-version", revision] if revision else [])]]
    if revision == EXTENSION:
        suites = [["--scenario", scenario] for scenario in listed(packages, version, "Server", revision)]
    with open(os.path.join(folder, "log"), "w") as log:
        for suite in suites:
            subprocess.run([*command, *suite], stdout=log, stderr=log)
    found = {}
    for place in sorted(os.listdir(folder)):
        scenario = re.fullmatch(r"server-(.*?)-\d{4}-\d\d-\d\dT.*", place)
        if scenario:
            with open(os.path.join(folder, place, "checks.json")) as file:
                found[scenario.group(1)] = json.load(file)
    return found


def verdict(scenario, checks):
    failed = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    left = [check for check in failed if (scenario, check["id"]) not in EXCEPTIONS]
    if left:
        return "FAILED: " + "; ".join(f"{check['id']}: {check.get('errorMessage') or check['description']}" for check in left)[:400]
    reason = next((why for pattern, why in LEFT_OUT.items() if matches(pattern, scenario)), None)
    if reason:
        return f"excepted: {reason}"
    if failed:
        return "excepted: " + "; ".join(sorted({EXCEPTIONS[scenario, check["id"]] for check in failed}))
    return "ok"


def counted_of(checks):
    return [check for check in checks if check["status"] in conformance.COUNTED]


def is_asked(scenario, patterns):
    return any(matches(pattern, scenario) for pattern in patterns)


def failures(found, patterns):
    """The scenarios that failed."""
    asked = [(scenario, counted_of(checks)) for scenario, checks in found.items() if is_asked(scenario, patterns)]
    return [scenario for scenario, counted in asked if verdict(scenario, counted).startswith("FAILED")]


def serve(job):
    """A server of its own for each set of scenarios: what one of them leaves is not seen by another."""
    packages, name, command, version, revision = job
    began = time.monotonic()
    work = os.path.realpath(tempfile.mkdtemp(prefix="windlass-serving-"))
    server, port = started(command, work)
    try:
        proxy = bearer.Proxy(port, TOKEN)
        found = played(packages, version, revision, proxy.port, name)
        assert server.poll() is None, "the server has ended"
        assert found, "the package has tried nothing"
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(work, ignore_errors=True)
    return found, time.monotonic() - began


def main(windlass, example, packages):
    servers = {
        "application": ([os.path.abspath(example)], ["*"]),
        "command": ([os.path.abspath(windlass), "mcp", "serve", "--http", "127.0.0.1:0", *ORIGINS], OWN),
    }
    jobs = [
        (packages, name, command, version, revision) for name, (command, _) in servers.items() for version, revision in SETS
        # They are about tools that the command does not have.
        if revision != EXTENSION or name == "application"
    ]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("WINDLASS_JOBS", "3"))) as pool:
        for job, (found, seconds) in zip(jobs, pool.map(serve, jobs)):
            _, name, _, version, revision = job
            if bad_ones := failures(found, servers[name][1]):
                # The package has limits of time that a busy machine does not keep: once more, with less beside it.
                print(f"{name} is tried again: {', '.join(bad_ones)}", flush=True)
                found, seconds = serve(job)
            good = total = green = asked = 0
            for scenario, checks in found.items():
                if not is_asked(scenario, servers[name][1]):
                    continue
                counted = counted_of(checks)
                ok = sum(check["status"] == "SUCCESS" for check in counted)
                said = verdict(scenario, counted)
                asked, green, bad = asked + 1, green + (said == "ok"), bad + said.startswith("FAILED")
                good, total = good + ok, total + len(counted)
                if said != "ok":
                    print(f"{name:12} {version:15} {revision or '':10} {scenario:42} {ok:2}/{len(counted):2} {said}")
            head = f"{name:12} {version:15} {revision or '':10}"
            print(f"{head} {green} of {asked} scenarios, {good} of {total} checks, {seconds:.1f} s", flush=True)
    print(f"serving: {bad} scenarios failed")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main(*sys.argv[1:])

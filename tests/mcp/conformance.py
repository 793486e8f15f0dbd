"""Runs windlass through the client scenarios of the official conformance package, and shows a table.

Usage: conformance.py WINDLASS PACKAGES [SCENARIO ..]. PACKAGES holds a folder for each version of the package; a `*` in the
name of a scenario stands for anything. A scenario fails if a check of it has failed, unless that check is in EXCEPTIONS.
"""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STABLE, ALPHA = "0.1.16", "0.2.0-alpha.12"
# The version of the package, and the revision of the protocol that its scenarios are asked for.
SETS = [(STABLE, None), (ALPHA, "2025-11-25"), (ALPHA, "2026-07-28"), (ALPHA, "extension")]
SKILLS = "skills that come as resources are an extension that windlass does not have"
# By scenario, which may end in `*`, and by the set if it is about one alone: the checks that may fail, `*` for all of them, and why.
EXCEPTIONS = {
    ("auth/dpop*", None): {"*": "tokens that are bound to a key (DPoP) are an extension that windlass does not have"},
    ("sep-2640-client-*", None): {"*": SKILLS},
    ("json-schema-2020-12-preservation", "2026-07-28"): {
        "sep-2106-client-composition-keywords-preserved":
            "the Messages API refuses compositions at the top of a schema: its models read them in the description",
    },
}
COUNTED = ("SUCCESS", "FAILURE", "WARNING")


def entry(packages, version):
    return [
        "node", "--import", os.path.join(HERE, "node18.mjs"),
        os.path.join(packages, version, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
    ]


def listed(packages, version, side, revision):
    """The scenarios of a package for a side, `Client` or `Server`, that are about a revision."""
    text = subprocess.run([*entry(packages, version), "list"], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^(\w[\w ]*) scenarios.*:$", text, flags=re.M)
    found = re.findall(r"- (\S+) \[(.*)\]", parts[parts.index(side) + 1])
    return [name for name, about in found if not revision or revision in about.split(",")]


def matches(pattern, scenario):
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), scenario) is not None


def checks(folder):
    for place, _, files in os.walk(folder):
        if "checks.json" in files:
            with open(os.path.join(place, "checks.json")) as file:
                return json.load(file)
    return []


def excepted(scenario, revision, check):
    for (name, about), why in EXCEPTIONS.items():
        if matches(name, scenario) and about in (revision, None) and (check in why or "*" in why):
            return why.get(check) or why["*"]
    return None


def play(job):
    packages, windlass, out, version, revision, scenario = job
    folder = os.path.join(out, version, revision or "default", scenario.replace("/", "-"))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    began = time.monotonic()
    command = [
        *entry(packages, version), "client", "--command", f"{sys.executable} {os.path.join(HERE, 'client.py')}",
        "--scenario", scenario, "--timeout", "60000", "--output-dir", folder,
    ]
    command += ["--spec-version", revision] if revision and revision[0].isdigit() else []
    env = {**os.environ, "WINDLASS": windlass}
    with open(os.path.join(folder, "log"), "w") as log:
        code = subprocess.run(command, env=env, stdout=log, stderr=log).returncode
    counted = [check for check in checks(folder) if check["status"] in COUNTED]
    return version, revision, scenario, counted, code, time.monotonic() - began


def verdict(version, revision, scenario, counted, code):
    failed = [check for check in counted if check["status"] == "FAILURE"]
    reasons = {excepted(scenario, revision, check["id"]) for check in failed}
    if not failed and (not counted or code):
        # It ended in another way than the scenario wants it to, or saw nothing.
        reason = excepted(scenario, revision, "end")
        return f"excepted: {reason}" if reason else "FAILED: the client did not do what the scenario needs"
    if not failed:
        return "ok"
    if None in reasons:
        found = [check for check in failed if excepted(scenario, revision, check["id"]) is None]
        return "FAILED: " + "; ".join(f"{check['id']}: {check.get('errorMessage') or check['description']}" for check in found)[:400]
    return "excepted: " + "; ".join(sorted(reasons))


def main(windlass, packages, *wanted):
    out = os.path.join(packages, "results")
    jobs = [
        (packages, os.path.abspath(windlass), out, version, revision, scenario)
        for version, revision in SETS for scenario in listed(packages, version, "Client", revision)
        if not wanted or any(matches(pattern, scenario) for pattern in wanted)
    ]
    passed = total = bad = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("WINDLASS_JOBS", "3"))) as pool:
        for job, played in zip(jobs, pool.map(play, jobs)):
            if verdict(*played[:5]).startswith("FAILED"):
                # Servers of the package have limits of time that a busy machine does not keep: once more, with less beside it.
                print(f"{played[2]} is tried again: {verdict(*played[:5])}", flush=True)
                played = play(job)
            version, revision, scenario, counted, code, seconds = played
            good = sum(check["status"] == "SUCCESS" for check in counted)
            passed, total = passed + good, total + len(counted)
            said = verdict(version, revision, scenario, counted, code)
            bad += said.startswith("FAILED")
            print(f"{version:15} {revision or '':10} {scenario:42} {good:2}/{len(counted):2} {seconds:5.1f} s {said}", flush=True)
    print(f"conformance: {passed} of {total} checks in {len(jobs)} scenarios, {bad} scenarios failed")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main(*sys.argv[1:])

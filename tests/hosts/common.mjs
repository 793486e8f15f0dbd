// What the TypeScript suites share. Each is run as `SUITE.mjs WINDLASS NODE_MODULES PYTHON [NAME ..]`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [program, modules, python, ...wanted] = process.argv.slice(2);
export const CLI = resolve(program);
export const sdk = await import(pathToFileURL(join(resolve(modules), "@anthropic-ai/claude-agent-sdk/sdk.mjs")));
export const { query } = sdk;

/** A prompt that tells the server of wire.py what the model says. */
export const play = (...messages) => "script:" + JSON.stringify(messages);
export const text = (said) => [{ text: said }];
export const tool = (name, input) => [{ tool: name, input }];
export const attempts = (...steps) => ({ attempts: steps, key: crypto.randomUUID() });
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export class World {
  constructor(url) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "windlass-hosts-")));
    this.cwd = join(this.root, "work");
    mkdirSync(this.cwd);
    this.env = {
      PATH: process.env.PATH,
      HOME: this.root,
      CLAUDE_CONFIG_DIR: join(this.root, "home"),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "dummy",
    };
    this.stderr = "";
  }
  options(more = {}) {
    const stderr = (line) => { this.stderr += line; };
    return { pathToClaudeCodeExecutable: CLI, cwd: this.cwd, env: this.env, stderr, ...more };
  }
  path(name) {
    return join(this.cwd, name);
  }
  write(name, content) {
    writeFileSync(this.path(name), content);
    return this.path(name);
  }
  read(name) {
    return readFileSync(this.path(name), "utf8");
  }
  exists(name) {
    return existsSync(this.path(name));
  }
  files() {
    return readdirSync(this.cwd).sort();
  }
}

export async function collect(stream) {
  const messages = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

/** The messages of a run whose result is an error, and what the SDK throws after it. */
export async function failing(stream) {
  const messages = [];
  try {
    for await (const message of stream) messages.push(message);
  } catch (error) {
    return [messages, String(error)];
  }
  assert.fail("nothing was thrown");
}

export function result(messages) {
  const results = messages.filter((message) => message.type === "result");
  assert.equal(results.length, 1);
  return results[0];
}

// What others wrote, from between the lines of its mark.
export function framed(said) {
  const pattern = /^Between the two lines with ([0-9a-f]{16}) [^\n]*\n--- begin \1\n(.*)\n--- end \1$/s;
  const found = pattern.exec(said.trim());
  if (!found) throw new Error(`there is no frame: ${said}`);
  return found[2];
}

export function system(messages, subtype) {
  return messages.filter((message) => message.type === "system" && message.subtype === subtype);
}

export function blocks(messages, type) {
  const content = (message) => (Array.isArray(message.message?.content) ? message.message.content : []);
  return messages.flatMap(content).filter((block) => block.type === type);
}

export async function until(holds, seconds = 20, what = "it") {
  const end = Date.now() + seconds * 1000;
  while (!holds()) {
    assert.ok(Date.now() < end, `${what} did not happen within ${seconds} s`);
    await sleep(10);
  }
}

/** Prompts that a test gives one by one. */
export function conversation() {
  const waiting = [];
  let wake = () => {};
  let ended = false;
  async function* prompts() {
    for (;;) {
      while (waiting.length) yield waiting.shift();
      if (ended) return;
      await new Promise((done) => { wake = done; });
    }
  }
  return {
    prompts: prompts(),
    say(content, more = {}) {
      waiting.push({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, ...more });
      wake();
    },
    end() {
      ended = true;
      wake();
    },
  };
}

/** The messages up to the next result. */
export async function turn(stream) {
  const messages = [];
  for (;;) {
    const { value, done } = await stream.next();
    assert.ok(!done, "the stream ended");
    messages.push(value);
    if (value.type === "result") return messages;
  }
}

/** A conversation of many turns with one process: `say` gives the messages of a turn, `end` those after it. */
export function session(options) {
  const talk = conversation();
  const stream = query({ prompt: talk.prompts, options });
  return {
    stream,
    talk,
    say(content) {
      talk.say(content);
      return turn(stream);
    },
    end() {
      talk.end();
      return collect(stream);
    },
  };
}

/** The processes, beside this one, whose directory is in a folder. */
function within(folder) {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && Number(pid) !== process.pid && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

/** Runs the tests and ends the process. */
export async function main(tests) {
  const wire = join(dirname(fileURLToPath(import.meta.url)), "wire.py");
  const server = spawn(python, [wire], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));
  let failed = 0;
  for (const [name, run] of Object.entries(tests)) {
    if (wanted.length && !wanted.includes(name)) continue;
    const world = new World(url);
    const began = Date.now();
    let verdict = "ok";
    let timer;
    const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error("it took longer than 60 s")), 60_000); });
    try {
      await Promise.race([run(world), late]);
      // Whatever a test does, nothing of it goes on after it.
      await until(() => !within(world.root).length, 10, "the end of all processes");
      rmSync(world.root, { recursive: true, force: true });
    } catch (error) {
      failed += 1;
      verdict = `FAILED in ${world.root}\n${error.stack}\n${world.stderr}`;
    }
    clearTimeout(timer);
    console.log(`${name} ${((Date.now() - began) / 1000).toFixed(2)} s ${verdict}`);
  }
  server.kill();
  console.log(`${basename(process.argv[1])}: ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

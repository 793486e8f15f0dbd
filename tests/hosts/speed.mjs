// How much windlass adds to what the TypeScript Agent SDK takes by itself; see speed.py.
// Usage: speed.mjs WINDLASS STANDIN MODEL NODE_MODULES

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [windlass, standin, model, modules] = process.argv.slice(2).map((path) => resolve(path));
const load = (name) => import(pathToFileURL(join(modules, name)));
const { createSdkMcpServer, query, tool } = await load("@anthropic-ai/claude-agent-sdk/sdk.mjs");
const { z } = await load("zod/index.js");
const [SESSIONS, TURNS, WARM, STARTS] = [10, 25, 5, 60];
// Calls of the tool in one prompt: one figure is what each of them adds.
const CALLS = 5;

const add = () => tool("add", "Adds.", { a: z.number(), b: z.number() }, async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));

function options(program, url, root, more = {}) {
  return {
    pathToClaudeCodeExecutable: program,
    cwd: root,
    model: "claude-sonnet-4-5",
    allowedTools: ["mcp__calc__add"],
    settingSources: [],
    env: { PATH: process.env.PATH, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "dummy", CLAUDE_CONFIG_DIR: root, HOME: root },
    ...more,
  };
}

/** A live client: `turn` gives a prompt and the milliseconds until its result. */
function client(program, url, root) {
  let give;
  let next = new Promise((done) => { give = done; });
  async function* prompts() {
    for (;;) {
      const prompt = await next;
      if (prompt === null) return;
      next = new Promise((done) => { give = done; });
      yield { type: "user", message: { role: "user", content: prompt }, parent_tool_use_id: null };
    }
  }
  const mcpServers = { calc: createSdkMcpServer({ name: "calc", tools: [add()] }) };
  const stream = query({ prompt: prompts(), options: options(program, url, root, { mcpServers }) });
  return {
    async turn(prompt, tools) {
      const began = performance.now();
      give(prompt);
      let called = 0;
      for (;;) {
        const { value } = await stream.next();
        if (value.type === "assistant") called += value.message.content.filter((block) => block.type === "tool_use").length;
        if (value.type === "result") {
          const spent = performance.now() - began;
          assert.deepEqual([value.result, called], ["Hello.", tools]);
          return spent;
        }
      }
    },
    async end() {
      give(null);
      while (!(await stream.next()).done);
    },
  };
}

async function modelTime(url) {
  const { nanoseconds, calls } = await (await fetch(url)).json();
  return [nanoseconds / 1e6, calls];
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function report(row, target, ours, theirs, model) {
  const more = ours - theirs - model;
  const met = target === null ? "" : more <= target ? "met" : "MISSED";
  const cells = [theirs.toFixed(2), ours.toFixed(2), model.toFixed(3), more.toFixed(2)].map((cell) => cell.padStart(9));
  console.log(`${row.padEnd(42)} ${(target?.toFixed(1) ?? "").padStart(6)} ${cells.join(" ")}  ${met}`);
}

/** Medians of windlass and the stand-in, and what the model took of the former. */
async function turns(url, root, prompt, tools) {
  const spent = [[], []];
  let model = 0;
  // Sessions stay short: long ones measure the size of their requests.
  for (let number = 0; number < SESSIONS; number++) {
    const [ours, theirs] = [client(windlass, url, root), client(standin, url, root)];
    for (let number = 0; number < WARM + TURNS; number++) {
      if (number === WARM) await modelTime(url);
      const pair = [await ours.turn(prompt, tools), await theirs.turn(prompt, tools)];
      if (number >= WARM) pair.forEach((time, at) => spent[at].push(time));
    }
    model += (await modelTime(url))[0];
    await Promise.all([ours.end(), theirs.end()]);
  }
  return [...spent.map(median), model / (SESSIONS * TURNS)];
}

/** One prompt in a program of its own: until its first message, and until the end. */
async function start(program, url, root) {
  const began = performance.now();
  let first;
  let result;
  for await (const message of query({ prompt: "hello", options: options(program, url, root) })) {
    first ??= performance.now() - began;
    if (message.type === "result") result = performance.now() - began;
  }
  return [first, result];
}

const server = spawn(model, { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));
const root = mkdtempSync(join(tmpdir(), "windlass-speed-"));
try {
  console.log(`${"milliseconds, TypeScript SDK".padEnd(42)}  limit  stand-in  windlass     model      more`);
  const none = await turns(url, root, "hello", 0);
  report("next prompt in a live client", 1, ...none);
  const some = await turns(url, root, `add up ${CALLS}`, CALLS);
  report("a call of an SDK tool, to the next answer", 1, ...some.map((more, at) => (more - none[at]) / CALLS));
  const spent = [[], []];
  await modelTime(url);
  for (let number = 0; number < STARTS + 5; number++) {
    for (const [at, program] of [windlass, standin].entries()) {
      const times = await start(program, url, root);
      if (number >= 5) spent[at].push(times);
    }
  }
  const [each, calls] = await modelTime(url);
  for (const [at, row] of ["start of a session, to the first message", "– to the result"].entries()) {
    const [ours, theirs] = spent.map((one) => median(one.map((times) => times[at])));
    report(row, null, ours, theirs, at ? each / calls : 0);
  }
} finally {
  server.kill();
  rmSync(root, { recursive: true, force: true });
}

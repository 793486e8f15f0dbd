// Every frame that windlass can write is yielded by the TypeScript Agent SDK: the corpus
// of the mapper (WINDLASS_FRAMES), and what frames.py has recorded (WINDLASS_LIVE).

import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { collect, main, query } from "./common.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const CORPUS = resolve(process.env.WINDLASS_FRAMES ?? "target/hosts/frames.jsonl");
const LIVE = resolve(process.env.WINDLASS_LIVE ?? "target/hosts/live.jsonl");
const python = process.argv[4];
// Not for the users of the SDK.
const CONSUMED = new Set(["control_request", "control_response", "control_cancel_request", "keep_alive", "transcript_mirror"]);

/** Gives a file to the SDK instead of windlass: what it yields, and the frames of the file. */
async function play(world, path) {
  const program = join(world.root, "player");
  writeFileSync(program, `#!/bin/sh\nexec '${resolve(python)}' '${HERE}/player.py' '${path}'\n`);
  chmodSync(program, 0o755);
  const yielded = await collect(query({ prompt: "x", options: world.options({ pathToClaudeCodeExecutable: program }) }));
  const frames = readFileSync(path, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return { yielded, frames: frames.filter((frame) => !CONSUMED.has(frame.type) && !frame.sdk_host_only) };
}

await main({
  async the_sdk_yields_the_corpus(world) {
    const { yielded, frames } = await play(world, CORPUS);
    assert.deepEqual(yielded, frames);
  },

  async the_sdk_yields_what_the_program_writes(world) {
    const { yielded, frames } = await play(world, LIVE);
    assert.deepEqual(yielded, frames);
  },
});

// File checkpoints through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { linkSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { conversation, main, play, query, text, tool, turn } from "./common.mjs";

const ON = { enableFileCheckpointing: true, permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
const FIRST = "11111111-bbbb-4111-8111-111111111111";
const SECOND = "22222222-bbbb-4222-8222-222222222222";

/** Two prompts that change files, and the end of the conversation. */
async function changed(world, options = ON) {
  const talk = conversation();
  const stream = query({ prompt: talk.prompts, options: world.options(options) });
  world.write("file", "one\ntwo\n");
  const edit = (old_string, new_string) => tool("Edit", { file_path: world.path("file"), old_string, new_string });
  const write = (name, content) => tool("Write", { file_path: world.path(name), content });
  const read = tool("Read", { file_path: world.path("file") });
  talk.say(play(read, edit("two", "2"), write("made", "made\n"), text("ok")), { uuid: FIRST });
  await turn(stream);
  talk.say(play(edit("one", "1\n1.5"), write("deep/er", "x\n"), text("ok")), { uuid: SECOND });
  await turn(stream);
  assert.equal(world.read("file"), "1\n1.5\n2\n");
  const end = async () => {
    talk.end();
    for await (const _ of stream);
  };
  return { stream, end };
}

await main({
  async a_dry_run_says_what_a_rewind_does(world) {
    const { stream, end } = await changed(world);
    const would = await stream.rewindFiles(FIRST, { dryRun: true });
    assert.equal(world.read("file"), "1\n1.5\n2\n");
    const files = ["deep/er", "file", "made"].map((name) => world.path(name));
    assert.deepEqual(would, { canRewind: true, filesChanged: files, insertions: 2, deletions: 5 });
    const { undoMessageId, ...did } = await stream.rewindFiles(FIRST);
    assert.deepEqual(did, would);
    assert.deepEqual(world.files(), ["file"]);
    assert.equal(world.read("file"), "one\ntwo\n");
    assert.deepEqual((await stream.rewindFiles(FIRST)).filesChanged, []);
    // Rewinds can be taken back.
    await stream.rewindFiles(undoMessageId);
    assert.equal(world.read("file"), "1\n1.5\n2\n");
    await stream.rewindFiles(SECOND);
    assert.equal(world.read("file"), "one\n2\n");
    assert.deepEqual(world.files(), ["file", "made"]);
    await end();
  },

  async what_cannot_be_is_said(world) {
    const { stream, end } = await changed(world);
    const unknown = "33333333-bbbb-4333-8333-333333333333";
    const would = await stream.rewindFiles(unknown, { dryRun: true });
    assert.equal(would.canRewind, false);
    assert.match(would.error, /33333333/);
    await assert.rejects(stream.rewindFiles(unknown), /33333333/);
    await end();
  },

  async links_are_counted_and_left(world) {
    const { stream, end } = await changed(world);
    const outside = join(world.root, "outside");
    mkdirSync(outside);
    renameSync(world.path("deep"), join(world.root, "deep"));
    symlinkSync(outside, world.path("deep"));
    linkSync(world.path("made"), join(outside, "er"));
    const did = await stream.rewindFiles(FIRST);
    assert.equal(did.skippedLinks, 2);
    assert.deepEqual(did.filesChanged, [world.path("file")]);
    assert.equal(world.read("../outside/er"), "made\n");
    await end();
  },

  async without_the_option_there_is_nothing_to_rewind(world) {
    const { stream, end } = await changed(world, { ...ON, enableFileCheckpointing: false });
    const would = await stream.rewindFiles(FIRST, { dryRun: true });
    assert.equal(would.canRewind, false);
    assert.match(would.error, /not enabled/);
    await end();
  },
});

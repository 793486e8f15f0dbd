// Slash commands, notes and settings that change through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { collect, main, play, query, result, session, system, text, tool, turn } from "./common.mjs";

const OWN = ["clear", "compact", "context", "cost", "continue-run", "memory"];
const BUNDLED = ["commit", "explain-test", "review", "write-skill"];

await main({
  async commands_are_listed_and_carried_out(world) {
    const { stream, say, end } = session(world.options());
    const listed = await stream.supportedCommands();
    assert.deepEqual(listed.map((command) => command.name), [...OWN, ...BUNDLED]);
    assert.ok(listed.every((command) => command.description && (command.builtin ?? false) === OWN.includes(command.name)));
    const first = await say(play(text("one")));
    assert.deepEqual(system(first, "init")[0].slash_commands, [...OWN, ...BUNDLED]);
    const cost = await say("/cost");
    assert.deepEqual([result(cost).local_command, result(cost).num_turns], ["cost", 0]);
    assert.match(result(cost).result, /^Total cost: \$/);
    assert.equal(result(await say(play(text("two")))).result, "two");
    await end();
  },

  async clear_tells_the_new_session(world) {
    const { talk, stream, say, end } = session(world.options());
    const before = result(await say(play(text("one")))).session_id;
    const uuid = crypto.randomUUID();
    talk.say("/clear", { uuid });
    const messages = await turn(stream);
    const reset = messages.find((message) => message.type === "conversation_reset");
    assert.equal(reset.user_message_uuid, uuid);
    assert.notEqual(reset.new_conversation_id, before);
    const next = await say(play([{ say: "texts" }]));
    assert.equal(system(next, "init")[0].session_id, reset.new_conversation_id);
    assert.equal(result(next).result, "");
    await end();
    const resumed = await collect(query({ prompt: play([{ say: "texts" }]), options: world.options({ resume: before }) }));
    assert.equal(result(resumed).session_id, before);
  },

  async messages_are_followed_to_their_end(world) {
    const { talk, stream, end } = session(world.options());
    const uuid = crypto.randomUUID();
    talk.say(play(text("one")), { uuid });
    const messages = await turn(stream);
    assert.equal(result(messages).user_message_uuid, uuid);
    const lives = [...messages, ...(await end())].filter((message) => message.type === "command_lifecycle");
    assert.deepEqual(lives.map((life) => life.state), ["queued", "started", "completed"]);
    assert.ok(lives.every((life) => life.command_uuid === uuid));
  },

  async settings_change_while_the_session_is_open(world) {
    const { stream, say, end } = session(world.options({ allowedTools: ["Bash"] }));
    const list = () => say(play(tool("Bash", { command: "touch a" }), text("done")));
    await list();
    assert.deepEqual(world.files(), ["a"]);
    await stream.applyFlagSettings({ permissions: { deny: ["Bash(touch *)"] } });
    assert.equal(result(await list()).permission_denials.length, 1);
    await stream.applyFlagSettings({ permissions: { deny: null } });
    assert.equal(result(await list()).permission_denials.length, 0);
    await assert.rejects(stream.applyFlagSettings({ outputStyle: "x" }), /outputStyle/);
    await end();
  },

  async the_context_is_told(world) {
    const { stream, say, end } = session(world.options());
    await say(play(text("one")));
    const usage = await stream.getContextUsage();
    const ids = usage.categories.map((row) => row.id);
    assert.deepEqual(ids, ["system_prompt", "system_tools", "messages", "free_space"]);
    assert.ok(usage.isAutoCompactEnabled);
    await end();
  },
});

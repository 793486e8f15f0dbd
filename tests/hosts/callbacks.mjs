// Permissions and hooks that the TypeScript Agent SDK's host decides.

import assert from "node:assert/strict";
import { blocks, collect, main, play, query, result, session, system, text, tool } from "./common.mjs";

const run = (world, steps, more) => collect(query({ prompt: play(...steps), options: world.options(more) }));
const touch = (name) => tool("Bash", { command: `touch ${name}` });

await main({
  async can_use_tool(world) {
    const asked = [];
    const canUseTool = async (name, input, context) => {
      asked.push([input.command, context.toolUseID, context.suggestions.length > 0]);
      if (input.command.includes("deny")) return { behavior: "deny", message: "not this one" };
      if (input.command.includes("change")) return { behavior: "allow", updatedInput: { command: "touch changed-by-host" } };
      return { behavior: "allow", updatedInput: input };
    };
    const messages = await run(world, [touch("plain"), touch("deny-me"), touch("change-me"), text("ok")], { canUseTool });
    assert.deepEqual(asked.map(([command]) => command), ["touch plain", "touch deny-me", "touch change-me"]);
    assert.ok(asked.every(([, id, suggested]) => id.startsWith("toolu_") && suggested));
    assert.deepEqual(world.files(), ["changed-by-host", "plain"]);
    assert.match(JSON.stringify(blocks(messages, "tool_result")[1]), /not this one/);
    assert.equal(result(messages).permission_denials.length, 1);
  },

  async an_answer_may_change_permissions(world) {
    const asked = [];
    const canUseTool = async (name, input, { suggestions }) => {
      asked.push(input.command);
      const rules = [{ toolName: "Bash", ruleContent: "touch *" }];
      assert.ok(suggestions.every((one) => one.type));
      return {
        behavior: "allow",
        updatedInput: input,
        updatedPermissions: [{ type: "addRules", rules, behavior: "allow", destination: "session" }],
      };
    };
    await run(world, [touch("a"), touch("b"), text("ok")], { canUseTool });
    assert.deepEqual(asked, ["touch a"]);
    assert.deepEqual(world.files(), ["a", "b"]);
  },

  async a_callback_that_fails_denies(world) {
    const canUseTool = async () => { throw new Error("broken callback"); };
    const messages = await run(world, [touch("a"), [{ say: "results" }]], { canUseTool });
    assert.match(result(messages).result, /broken callback/);
    assert.deepEqual(world.files(), []);
  },

  async a_denial_may_stop_the_run(world) {
    const canUseTool = async () => ({ behavior: "deny", message: "stop it all", interrupt: true });
    const { say, end } = session(world.options({ canUseTool }));
    const stopped = result(await say(play(touch("a"), text("never"))));
    assert.deepEqual([stopped.subtype, stopped.is_error, stopped.terminal_reason], ["error_during_execution", true, "aborted_tools"]);
    assert.equal(result(await say(play(text("again")))).result, "again");
    await end();
  },

  async rules_decide_before_the_callback(world) {
    const canUseTool = async () => assert.fail("the host was asked");
    const rules = { allowedTools: ["Bash(touch *)"], disallowedTools: ["Bash(rm *)"] };
    const messages = await run(world, [touch("a"), tool("Bash", { command: "rm a" }), text("ok")], { canUseTool, ...rules });
    assert.deepEqual(world.files(), ["a"]);
    assert.equal(system(messages, "permission_denied").length, 1);
  },

  async without_a_callback_nothing_is_asked(world) {
    const messages = await run(world, [touch("a"), text("ok")], {});
    assert.deepEqual(world.files(), []);
    assert.equal(result(messages).permission_denials[0].tool_input.command, "touch a");
  },

  async hooks(world) {
    const seen = [];
    const pre = async (input, id) => {
      seen.push(input.hook_event_name);
      assert.ok(id.startsWith("toolu_"));
      const deny = input.tool_input.command.includes("forbidden");
      return {
        hookSpecificOutput: deny
          ? { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "the hook says no" }
          : { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: { command: "echo rewritten" } },
      };
    };
    const post = async (input) => {
      seen.push(input.hook_event_name);
      assert.match(JSON.stringify(input.tool_response), /rewritten/);
      return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "context of the hook" } };
    };
    const failure = async (input) => {
      seen.push(input.hook_event_name);
      return {};
    };
    const submit = async (input) => {
      seen.push(input.hook_event_name);
      return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "context of the prompt" } };
    };
    const stops = [];
    const stop = async (input) => {
      stops.push(input.stop_hook_active);
      return input.stop_hook_active ? {} : { decision: "block", reason: "go on a little" };
    };
    const hooks = {
      UserPromptSubmit: [{ hooks: [submit] }],
      PreToolUse: [{ matcher: "Bash", hooks: [pre] }],
      PostToolUse: [{ hooks: [post] }],
      PostToolUseFailure: [{ matcher: "Read", hooks: [failure] }],
      Stop: [{ hooks: [stop] }],
    };
    const steps = [
      touch("forbidden"),
      touch("made"),
      tool("Read", { file_path: world.path("missing") }),
      text("first end"),
      [{ say: "texts" }],
    ];
    const messages = await run(world, steps, { hooks });
    assert.deepEqual(seen, ["UserPromptSubmit", "PreToolUse", "PreToolUse", "PostToolUse", "PostToolUseFailure"]);
    assert.deepEqual(world.files(), []);
    assert.match(JSON.stringify(blocks(messages, "tool_result")[0]), /the hook says no/);
    for (const part of [/context of the hook/, /context of the prompt/, /go on a little/]) assert.match(result(messages).result, part);
    assert.deepEqual(stops, [false, true]);
  },

  async a_prompt_hook_blocks(world) {
    const hooks = { UserPromptSubmit: [{ hooks: [async () => ({ decision: "block", reason: "not today" })] }] };
    const messages = await run(world, [text("never")], { hooks });
    assert.deepEqual([result(messages).subtype, result(messages).num_turns], ["success", 0]);
    assert.equal(blocks(messages, "text").length, 0);
    assert.match(system(messages, "informational")[0].content, /not today/);
  },

  async a_hook_stops_the_run(world) {
    const hooks = { PostToolUse: [{ hooks: [async () => ({ continue: false, stopReason: "that is enough" })] }] };
    const messages = await run(world, [tool("Glob", { pattern: "*" }), text("never")], { hooks });
    assert.equal(result(messages).terminal_reason, "hook_stopped");
    assert.equal(blocks(messages, "text").length, 0);
  },

  async hooks_that_fail(world) {
    const broken = async () => { throw new Error("broken hook"); };
    const slow = () => new Promise(() => {});
    const steps = [tool("Bash", { command: "pwd" }), [{ say: "results" }]];
    for (const [hook, more, expected] of [
      [broken, {}, world.cwd],
      [broken, { onFailure: "block" }, "The hook hook_0 failed"],
      [slow, { timeout: 0.2 }, "The hook hook_0"],
    ]) {
      const hooks = { PreToolUse: [{ hooks: [hook], ...more }] };
      const told = result(await run(world, steps, { hooks })).result;
      assert.ok(told.includes(expected), told);
      // It may hold secrets.
      assert.ok(!told.includes("broken hook"), told);
    }
  },
});

// Agents below the main one, through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { blocks, collect, main, play, query, result, sdk, session, system, text, tool, turn, until } from "./common.mjs";

const RESULTS = [{ say: "results" }];
const TEXTS = [{ say: "texts" }];
const looker = (more = {}) => ({ looker: { description: "Looks", prompt: "You only look.", ...more } });

/** A call that gives an agent a task: what its model says. */
const agent = (steps, more = {}) =>
  tool("Agent", { description: "Look around", prompt: play(...steps), subagent_type: "looker", ...more });

/** Options with which a call waits for its agent. */
const waiting = (world, more = {}) =>
  world.options({ agents: looker(), env: { ...world.env, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1" }, ...more });

const below = (messages) => messages.filter((message) => message.parent_tool_use_id);
const calls = (messages, name) => blocks(messages, "tool_use").filter((block) => block.name === name);
const waitsFor = (name) => `until [ -e ${name} ]; do sleep 0.02; done`;

async function* once(content) {
  yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
}

/** Hooks that write down what they are asked, and what they answer. */
function callbacks(answers = {}) {
  const asked = [];
  const hook = async (given) => {
    asked.push(given);
    const said = answers[given.hook_event_name];
    return (Array.isArray(said) ? said.shift() : said) ?? {};
  };
  return {
    of: (event) => asked.filter((given) => given.hook_event_name === event),
    hooks: (matcher, ...events) => Object.fromEntries(events.map((event) => [event, [{ matcher, hooks: [hook] }]])),
  };
}

await main({
  async what_a_call_waits_for_is_told_below_it(world) {
    const steps = [[{ text: "I look." }, ...tool("Bash", { command: "touch made" })], text("It is there.")];
    for (const forwardSubagentText of [false, true]) {
      const options = waiting(world, { allowedTools: ["Bash"], forwardSubagentText, includePartialMessages: true });
      const messages = await collect(query({ prompt: play(agent(steps), RESULTS), options }));
      const [call] = calls(messages, "Agent");
      const nested = below(messages);
      assert.ok(nested.every((message) => message.parent_tool_use_id === call.id));
      assert.ok(nested.every((message) => message.subagent_type === "looker" && message.agent_id));
      const kinds = nested.map((message) => message.message.content[0].type);
      assert.deepEqual(kinds, forwardSubagentText ? ["text", "tool_use", "tool_result", "text"] : ["tool_use", "tool_result"]);
      const [init, ...others] = system(messages, "init");
      assert.deepEqual([others.length, init.tools.includes("Task"), init.tools.includes("Agent")], [0, true, false]);
      assert.deepEqual([...init.agents].sort(), ["Explore", "Plan", "general-purpose", "looker"]);
      const end = result(messages);
      assert.match(end.result, /It is there\./);
      const [used] = Object.values(end.modelUsage);
      assert.deepEqual([used.inputTokens, end.usage.input_tokens, end.num_turns], [40, 20, 2]);
      assert.deepEqual(world.files(), ["made"]);
    }
  },

  async hooks_and_questions_name_the_agent(world) {
    const heard = callbacks({
      SubagentStart: { hookSpecificOutput: { hookEventName: "SubagentStart", additionalContext: "The wind is cold." } },
      SubagentStop: [{ decision: "block", reason: "Look once more." }],
    });
    const asked = [];
    const canUseTool = async (_name, input, { agentID, toolUseID }) => {
      asked.push([input.command, agentID, toolUseID]);
      return { behavior: "allow", updatedInput: input };
    };
    const steps = [tool("Bash", { command: "touch a" }), text("Nothing."), TEXTS];
    const hooks = {
      ...heard.hooks("looker", "SubagentStart", "SubagentStop"),
      ...heard.hooks(undefined, "PreToolUse", "Stop", "UserPromptSubmit"),
    };
    const options = waiting(world, { canUseTool, hooks });
    const prompt = once(play(agent(steps), tool("Bash", { command: "touch b" }), RESULTS));
    const messages = await collect(query({ prompt, options }));
    const said = JSON.stringify(blocks(messages, "tool_result"));
    assert.match(said, /The wind is cold\./);
    assert.match(said, /Look once more\./);
    const [start] = heard.of("SubagentStart");
    assert.equal(start.agent_type, "looker");
    const stops = heard.of("SubagentStop");
    assert.deepEqual(stops.map((stop) => [stop.agent_id, stop.agent_type, stop.stop_hook_active]), [
      [start.agent_id, "looker", false],
      [start.agent_id, "looker", true],
    ]);
    assert.equal(stops[0].last_assistant_message, "Nothing.");
    assert.ok(existsSync(stops[0].agent_transcript_path), stops[0].agent_transcript_path);
    assert.match(readFileSync(stops[0].agent_transcript_path, "utf8"), /Look once more\./);
    assert.deepEqual([heard.of("Stop").length, heard.of("UserPromptSubmit").length], [1, 1]);
    const before = heard.of("PreToolUse").map((given) => [given.tool_name, given.agent_id, given.agent_type]);
    assert.deepEqual(before, [
      ["Agent", undefined, undefined],
      ["Bash", start.agent_id, "looker"],
      ["Bash", undefined, undefined],
    ]);
    const [first, second] = calls(messages, "Bash");
    assert.deepEqual(asked, [["touch a", start.agent_id, first.id], ["touch b", undefined, second.id]]);
  },

  async an_agent_works_in_the_background(world) {
    const { stream, say, end } = session(world.options({ agents: looker(), allowedTools: ["Bash"] }));
    const steps = [tool("Bash", { command: waitsFor("go") }), text("It went.")];
    const first = await say(play(agent(steps), text("It looks."), TEXTS));
    assert.equal(result(first).result, "It looks.");
    const [call] = calls(first, "Agent");
    const [started] = system(first, "task_started");
    assert.deepEqual(
      [started.task_type, started.subagent_type, started.tool_use_id, started.is_backgrounded, started.spawn_depth],
      ["local_agent", "looker", call.id, true, 1],
    );
    const [now] = system(first, "background_tasks_changed");
    assert.deepEqual(now.tasks.map((task) => [task.task_id, task.subagent_type]), [[started.task_id, "looker"]]);
    world.write("go", "");
    const second = await turn(stream);
    const all = [...first, ...second];
    const progress = system(all, "task_progress").at(-1);
    assert.deepEqual([progress.task_id, progress.last_tool_name, progress.usage.tool_uses], [started.task_id, "Bash", 1]);
    const [ended] = system(second, "task_notification");
    assert.deepEqual([ended.task_id, ended.status, ended.usage.tool_uses], [started.task_id, "completed", 1]);
    assert.match(readFileSync(ended.output_file, "utf8"), /It went\./);
    assert.ok(below(all).length && below(all).every((message) => message.agent_id === started.task_id));
    assert.deepEqual(result(second).origin, { kind: "task-notification" });
    assert.match(result(second).result, /It went\./);
    await end();
  },

  async a_string_prompt_waits_for_it(world) {
    const steps = play(agent([tool("Bash", { command: "sleep 0.4" }), text("Slept.")]), text("It sleeps."), TEXTS);
    const messages = await collect(query({ prompt: steps, options: world.options({ agents: looker(), allowedTools: ["Bash"] }) }));
    const results = messages.filter((message) => message.type === "result").map((message) => message.result);
    assert.equal(results.length, 2);
    assert.match(results[1], /Slept\./);
  },

  async the_host_stops_it(world) {
    const { stream, say, end } = session(world.options({ agents: looker(), allowedTools: ["Bash"] }));
    const first = await say(play(agent([tool("Bash", { command: "touch begun; sleep 61.5" })]), text("It looks.")));
    const [started] = system(first, "task_started");
    await until(() => world.exists("begun"), 20, "the command");
    await stream.stopTask(started.task_id);
    for (;;) {
      const { value } = await stream.next();
      if (value.subtype !== "task_notification") continue;
      assert.deepEqual([value.task_id, value.status], [started.task_id, "stopped"]);
      break;
    }
    assert.match(result(await say(play(TEXTS))).result, /<status>stopped<\/status>/);
    await end();
  },

  async an_interrupt_takes_the_question_of_an_agent_back(world) {
    let signalled;
    const asked = new Promise((done) => { signalled = done; });
    let aborted = false;
    const canUseTool = (_name, _input, { signal }) => new Promise((_, fail) => {
      signalled();
      signal.addEventListener("abort", () => { aborted = true; fail(new Error("aborted")); });
    });
    const { stream, talk, say, end } = session(waiting(world, { canUseTool }));
    talk.say(play(agent([tool("Bash", { command: "touch a" }), text("never")]), text("never")));
    await asked;
    await stream.interrupt();
    const stopped = result(await turn(stream));
    assert.deepEqual([stopped.subtype, stopped.is_error, aborted], ["error_during_execution", true, true]);
    assert.deepEqual(world.files(), []);
    assert.equal(result(await say(play(text("And on.")))).result, "And on.");
    await end();
  },

  async the_host_is_told_which_agents_there_are(world) {
    for (const [more, expected] of [
      [{}, ["Explore", "Plan", "general-purpose", "looker"]],
      [{ tools: ["Read"] }, []],
    ]) {
      const { stream, end } = session(world.options({ agents: looker({ model: "haiku" }), ...more }));
      const agents = await stream.supportedAgents();
      assert.deepEqual(agents.map((one) => one.name).sort(), expected);
      const own = agents.find((one) => one.name === "looker");
      if (own) assert.deepEqual(own, { name: "looker", description: "Looks", model: "haiku" });
      await end();
    }
  },

  async conversations_of_agents_are_found(world) {
    const messages = await collect(query({ prompt: play(agent([text("One.")]), text("Done.")), options: waiting(world) }));
    const id = result(messages).session_id;
    process.env.CLAUDE_CONFIG_DIR = world.env.CLAUDE_CONFIG_DIR;
    const found = await sdk.listSubagents(id, { dir: world.cwd });
    assert.equal(found.length, 1);
    const said = await sdk.getSubagentMessages(id, found[0], { dir: world.cwd });
    delete process.env.CLAUDE_CONFIG_DIR;
    assert.equal(said[0].parent_tool_use_id, calls(messages, "Agent")[0].id);
    assert.match(JSON.stringify(said), /One\./);
  },
});

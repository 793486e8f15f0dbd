// What `initialize` says and what its options do, through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { collect, main, play, query, result, sdk, session, system, text } from "./common.mjs";

const UNKNOWN = "99999999-9999-4999-8999-999999999999";

function put(world, name, content) {
  const path = join(world.root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

const ask = async (world, prompt, more = {}) => result(await collect(query({ prompt, options: world.options(more) })));

main({
  async what_a_session_is_set_up_with(world) {
    put(world, "home/output-styles/short.md", "---\nname: Short\n---\nAnswer in three words.");
    put(world, "home/settings.json", { outputStyle: "Short", apiKeyHelper: "echo key" });
    const env = { ...world.env, ANTHROPIC_API_KEY: "" };
    const { stream, say, end } = session(world.options({ env }));
    const started = await stream.initializationResult();
    assert.deepEqual([started.output_style, started.available_output_styles.at(-1)], ["Short", "Short"]);
    assert.equal((await stream.accountInfo()).apiKeySource, "apiKeyHelper");
    const opus = (await stream.supportedModels()).find((model) => model.value === "opus");
    assert.deepEqual([opus.supportsEffort, opus.supportsAutoMode, opus.resolvedModel], [true, true, "claude-opus-5-5"]);
    assert.ok(opus.supportedEffortLevels.includes("high"));
    const messages = await say(play([{ say: "system" }]));
    assert.match(result(messages).result, /three words/);
    const { output_style, apiKeySource } = system(messages, "init")[0];
    assert.deepEqual([output_style, apiKeySource], ["Short", "apiKeyHelper"]);
    await end();
  },

  async skills_of_the_host_are_the_only_ones(world) {
    for (const name of ["one", "two"]) put(world, `home/skills/${name}/SKILL.md`, `---\ndescription: The skill ${name}.\n---\nText.`);
    for (const [skills, listed] of [[undefined, ["one", "two"]], [["two"], ["two"]], [[], []]]) {
      const said = (await ask(world, play([{ say: "messages" }]), { skills, settingSources: ["user"] })).result;
      assert.deepEqual(["one", "two"].filter((name) => said.includes(`The skill ${name}.`)), listed);
    }
  },

  async verbatim_prompts_mention_nothing(world) {
    world.write("notes.md", "Remember the milk.");
    for (const verbatimPrompts of [false, true]) {
      const said = (await ask(world, "see @notes.md " + play([{ say: "messages" }]), { verbatimPrompts })).result;
      assert.equal(said.includes("the milk"), !verbatimPrompts);
    }
  },

  async options_of_questions_have_the_previews_that_the_host_shows(world) {
    for (const [toolConfig, format] of [[undefined, null], [{ askUserQuestion: { previewFormat: "html" } }, /HTML/], [{ askUserQuestion: { previewFormat: "markdown" } }, /Markdown/]]) {
      const said = (await ask(world, play([{ say: "question" }]), { toolConfig, canUseTool: async () => ({ behavior: "deny", message: "no" }) })).result;
      const preview = JSON.parse(said).input_schema.properties.questions.items.properties.options.items.properties.preview;
      if (format) assert.match(preview.description, format);
      else assert.equal(preview, undefined);
    }
    let asked;
    const canUseTool = async (name, input) => {
      asked = input.questions[0].options[0].preview;
      return { behavior: "allow", updatedInput: { ...input, answers: { "Which?": "a" } } };
    };
    const options = [{ label: "a", description: "A", preview: "<b>a</b>" }, { label: "b", description: "B" }];
    const call = { tool: "AskUserQuestion", input: { questions: [{ question: "Which?", header: "Which", options, multiSelect: false }] } };
    await ask(world, play([call], text("ok")), { canUseTool, toolConfig: { askUserQuestion: { previewFormat: "html" } } });
    assert.equal(asked, "<b>a</b>");
  },

  async a_title_of_the_host_is_that_of_the_session(world) {
    const { session_id } = await ask(world, play(text("ok")), { title: "Milk and eggs" });
    process.env.CLAUDE_CONFIG_DIR = world.env.CLAUDE_CONFIG_DIR;
    try {
      assert.equal((await sdk.getSessionInfo(session_id, { dir: world.cwd })).customTitle, "Milk and eggs");
    } finally {
      delete process.env.CLAUDE_CONFIG_DIR;
    }
  },

  async what_a_session_cannot_do_is_refused_by_its_name(world) {
    for (const option of [{ promptSuggestions: true }, { agentProgressSummaries: true }, { toolAliases: { A: "B" } }, { planModeInstructions: "Draw." }]) {
      const { stream, end } = session(world.options(option));
      await assert.rejects(stream.initializationResult(), new RegExp(Object.keys(option)[0]));
      await end().catch(() => {});
    }
  },

  async a_session_that_is_not_there_fails_at_the_start(world) {
    const { stream, end } = session(world.options({ resume: UNKNOWN }));
    await assert.rejects(stream.initializationResult(), /No conversation found with session ID|Query closed before response received/);
    await end().catch(() => {});
    assert.match(world.stderr, new RegExp(`No conversation found with session ID: ${UNKNOWN}`));
  },

  async half_a_character_in_a_prompt_is_replaced(world) {
    assert.match((await ask(world, "before \ud83d after " + play([{ say: "texts" }]))).result, /before \ufffd after/);
  },

  async the_answer_of_a_local_command_is_a_message(world) {
    const { say, end } = session(world.options());
    await say(play(text("ok")));
    const messages = await say("/cost");
    assert.match(system(messages, "local_command_output")[0].content, /^Total cost: \$/);
    await end();
  },
});

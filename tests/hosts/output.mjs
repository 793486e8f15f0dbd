// Structured output through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { blocks, collect, failing, main, play, query, result, text, tool } from "./common.mjs";

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const outputFormat = { type: "json_schema", schema };
const give = (output) => tool("StructuredOutput", output);
const run = (world, steps, more) => query({ prompt: play(...steps), options: world.options({ outputFormat, ...more }) });

await main({
  async the_output_is_data_and_text(world) {
    const end = result(await collect(run(world, [give({ n: 7 })])));
    assert.deepEqual([end.structured_output, end.result, end.subtype], [{ n: 7 }, '{"n": 7}', "success"]);
  },

  async what_does_not_fit_is_tried_again(world) {
    const messages = await collect(run(world, [text("Seven."), give({ n: "seven" }), give({ n: 7 })]));
    assert.deepEqual(result(messages).structured_output, { n: 7 });
    assert.equal(blocks(messages, "tool_result").filter((block) => block.is_error).length, 1);
  },

  async attempts_end(world) {
    const [messages] = await failing(run(world, Array(9).fill(text("no"))));
    const end = result(messages);
    assert.deepEqual([end.subtype, end.terminal_reason], ["error_max_structured_output_retries", "structured_output_retry_exhausted"]);
  },

  async hooks_answer_questions(world) {
    const asked = [];
    const hook = async (input) => {
      asked.push([input.hook_event_name, input.tool_name]);
      return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } } };
    };
    const hooks = { PermissionRequest: [{ matcher: "Bash", hooks: [hook] }] };
    await collect(run(world, [tool("Bash", { command: "touch a" }), text("ok")], { hooks, outputFormat: undefined }));
    assert.deepEqual(asked, [["PermissionRequest", "Bash"]]);
    assert.deepEqual(world.files(), ["a"]);
  },
});

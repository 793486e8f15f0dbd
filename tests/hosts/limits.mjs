// What the headers of a subscription say of its allowance, through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { attempts, collect, main, play, query, result, text, tool } from "./common.mjs";

const RESET = 1795170000;
const used = (utilization, status) => ({
  "anthropic-ratelimit-unified-status": status,
  "anthropic-ratelimit-unified-representative-claim": "seven_day",
  "anthropic-ratelimit-unified-7d-utilization": `${utilization}`,
  "anthropic-ratelimit-unified-7d-reset": `${RESET}`,
  "anthropic-ratelimit-unified-overage-status": "allowed",
});
const headed = (headers, step) => [{ headers }, ...step];

const run = (world, ...steps) => collect(query({ prompt: play(...steps), options: world.options() }));
const limits = (messages) =>
  messages.filter((message) => message.type === "rate_limit_event").map((message) => message.rate_limit_info);

await main({
  async a_warning_comes_once(world) {
    const warned = used(0.82, "allowed_warning");
    const messages = await run(world, headed(warned, tool("Glob", { pattern: "*" })), headed(warned, text("end")));
    assert.deepEqual(limits(messages), [
      {
        status: "allowed_warning",
        resetsAt: RESET,
        rateLimitType: "seven_day",
        utilization: 0.82,
        overageStatus: "allowed",
        isUsingOverage: false,
      },
    ]);
    assert.equal(result(messages).result, "end");
  },

  async a_refusal_tells_that_the_allowance_is_used_up(world) {
    const headers = used(1, "rejected");
    const refused = { status: 429, error: "rate_limit_error", retry_after: 0, headers };
    // The repeat is served although the allowance is used up: it is paid for.
    const messages = await run(world, attempts(refused, headed(headers, text("end"))));
    assert.deepEqual(limits(messages).map(({ status, isUsingOverage }) => [status, isUsingOverage]), [
      ["rejected", false],
      ["rejected", true],
    ]);
    assert.equal(result(messages).result, "end");
  },
});

// A turn of the Agent SDK with the program of the installed package: `sdk_turn.mjs MODULES URL PROMPT HOME`, where MODULES
// has both packages.
import { createRequire } from 'node:module';

const [modules, url, prompt, home] = process.argv.slice(2);
const require = createRequire(`${modules}/x.js`);
const { query } = await import(require.resolve('@anthropic-ai/claude-agent-sdk'));
const env = { PATH: process.env.PATH, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'dummy', HOME: home };
const options = { pathToClaudeCodeExecutable: require('windlass').binaryPath(), cwd: home, env, settingSources: [] };
for await (const message of query({ prompt, options })) {
  if (message.type === 'result') console.log(message.result);
}

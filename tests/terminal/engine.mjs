// Plays recorded bytes and sizes into @xterm/headless, and prints all rows that it keeps, wrapped ones joined.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [, , record, engine] = process.argv;
const require = createRequire(resolve(engine, "node_modules/"));
const { Terminal } = require("@xterm/headless");
const terminal = new Terminal({ cols: 80, rows: 24, scrollback: 50000, allowProposedApi: true });
for (const part of JSON.parse(readFileSync(record, "utf8"))) {
  if (part.bytes === undefined) {
    terminal.resize(part.columns, part.rows);
  } else {
    await new Promise((done) => terminal.write(Buffer.from(part.bytes, "hex"), done));
  }
}
const buffer = terminal.buffer.normal;
let row = "";
for (let at = 0; at < buffer.length; at += 1) {
  const line = buffer.getLine(at);
  if (!line.isWrapped && at > 0) {
    console.log(row.trimEnd());
    row = "";
  }
  row += line.translateToString(false);
}
console.log(row.trimEnd());

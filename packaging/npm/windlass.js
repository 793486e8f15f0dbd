#!/usr/bin/env node
// Starts the windlass of the package for this platform, which npm has installed beside this one.
'use strict';
const { spawn } = require('node:child_process');
const { binaryPath } = require('./index.js');

let program;
try {
  program = binaryPath();
} catch (error) {
  console.error(`windlass: ${error.message}`);
  process.exit(1);
}

const words = process.argv.slice(2);
if (typeof process.execve === 'function' && process.platform !== 'win32') {
  // The program takes the place of this process: signals, memory and exit code are its own.
  process.execve(program, [program, ...words], process.env);
}
const child = spawn(program, words, { stdio: 'inherit', windowsHide: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // A terminal sends SIGINT to both; the program decides what it means.
  process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
}
child.on('error', (error) => {
  console.error(`windlass: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code ?? 1);
  }
});

'use strict';
const fs = require('node:fs');
const path = require('node:path');

/** Name of the C library that this Node.js is linked with, on Linux. */
function libc() {
  const header = process.report?.getReport?.()?.header;
  return header?.glibcVersionRuntime ? 'gnu' : 'musl';
}

/** Names of the platform packages that can hold the program, best first. */
function platformPackages() {
  const base = `@windlass-rs/cli-${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return [base];
  // A program of musl is linked statically, so it runs beside either C library.
  return libc() === 'gnu' ? [`${base}-gnu`, `${base}-musl`] : [`${base}-musl`];
}

/**
 * Path of the windlass program, for `pathToClaudeCodeExecutable` of the Claude Agent SDK.
 *
 * `WINDLASS_BINARY` names another program.
 * @returns {string} an absolute path
 * @throws if no package for this platform is installed
 */
function binaryPath() {
  if (process.env.WINDLASS_BINARY) return path.resolve(process.env.WINDLASS_BINARY);
  const file = process.platform === 'win32' ? 'windlass.exe' : 'windlass';
  const names = platformPackages();
  for (const name of names) {
    let root;
    try {
      root = path.dirname(require.resolve(`${name}/package.json`));
    } catch {
      continue;
    }
    const program = path.join(root, 'bin', file);
    if (fs.existsSync(program)) return program;
  }
  throw new Error(
    `the package ${names.join(' or ')} is not installed. Install windlass again without --omit=optional; if there is ` +
      'no package for this platform, build the program with `cargo install windlass-cli` and set WINDLASS_BINARY',
  );
}

module.exports = { binaryPath };

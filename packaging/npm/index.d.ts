/**
 * Path of the windlass program, for `pathToClaudeCodeExecutable` of the Claude Agent SDK.
 *
 * `WINDLASS_BINARY` names another program.
 * @throws if no package for this platform is installed
 */
export function binaryPath(): string;

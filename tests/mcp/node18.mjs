// The conformance package imports a function that Node has from version 22 on, for a command that is not used here.
import { register } from 'node:module';

const source = (text) => 'data:text/javascript,' + encodeURIComponent(text);
const fs = source(`export * from 'node:fs';
export { default } from 'node:fs';
export const globSync = () => { throw new Error('globSync is not in this version of Node'); };`);
register(source(`export async function resolve(name, context, next) {
  const isOurs = name === 'fs' && context.parentURL?.includes('/conformance/dist/');
  return isOurs ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);
}`));

import { spawn } from 'node:child_process';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** Runs a command as an operator would, beside the service on `dataDir` or alone. */
export async function runScript(
  dataDir: string,
  command: string,
  args: readonly string[],
  { input = '', env = {} }: { readonly input?: string; readonly env?: Record<string, string> } = {},
): Promise<Ran> {
  const script = path.join(import.meta.dirname, '../../scripts', `${command}.ts`);
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, DEPOSIT_DATA_DIR: dataDir, ...env },
  });
  child.stdin.end(input);
  const exited = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  const [out, err] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  return { code: await exited, out: out.toString(), err: err.toString() };
}

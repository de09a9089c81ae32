import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { NotMeasured } from '../frame/not-measured.ts';

/**
 * Runs a program to its end and discards its output. @throws {NotMeasured} there is no such program; else an error
 * with its output.
 */
export async function ended(
  program: string,
  args: readonly string[],
  { cwd, input }: { readonly cwd?: string; readonly input?: string } = {},
): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'ignore', 'pipe'] });
  const said = text(child.stderr);
  child.stdin.on('error', () => undefined); // it may end before it has read all
  child.stdin.end(input);
  const [code] = (await once(child, 'exit').catch(() => {
    throw new NotMeasured(`There is no ${program} here.`);
  })) as [number | null];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${(await said).trim()}`);
}

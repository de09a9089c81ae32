import { type FileHandle, open } from 'node:fs/promises';
import type { ExecutionContext } from 'ava';

type Call = 'read' | 'writev' | 'write' | 'datasync' | 'sync' | 'truncate';

/** Returns whether the call with this number, from 1, fails. */
type Fails = (count: number) => boolean;

/** Makes calls of file handles fail with EIO until the test ends or `works` is called. Tests must be serial. */
export async function failFileCalls(
  t: ExecutionContext,
  call: Call,
  fails: Fails = () => true,
): Promise<{ readonly failed: () => number; readonly works: () => void }> {
  await using handle = await open(import.meta.filename, 'r');
  const prototype = Object.getPrototypeOf(handle) as Record<Call, (...args: unknown[]) => Promise<unknown>>;
  const original = prototype[call];
  let [count, failed] = [0, 0];
  prototype[call] = async function (this: FileHandle, ...args) {
    count += 1;
    if (!fails(count)) return original.apply(this, args);
    failed += 1;
    throw Object.assign(new Error(`EIO: i/o error, ${call}`), { code: 'EIO' });
  };
  const works = (): void => {
    prototype[call] = original;
  };
  t.teardown(works);
  return { failed: () => failed, works };
}

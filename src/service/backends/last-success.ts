import path from 'node:path';
import { clock } from '../../tools/clock.ts';
import { ignoreNotWritable } from '../../tools/files/access.ts';
import { describeFsError } from '../../tools/files/describe-fs-error.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';

/** Work of operators whose last success is recorded. */
export const CHORES = ['backup', 'verification'] as const;
type Chore = (typeof CHORES)[number];

/**
 * Records in the data folder that a backup was complete, or that a verification of everything found nothing. Does
 * nothing where the user may not write, as an auditor. Resolves to the reason if it could not be recorded, for example
 * on a full disk: the outcome of the work is the same.
 */
export async function recordSuccess(dataDir: string, chore: Chore): Promise<string | undefined> {
  try {
    await record(dataDir, fileOf(dataDir, chore)).catch(ignoreNotWritable);
    return undefined;
  } catch (error) {
    const reason = describeFsError(error) ?? (error as Error).message;
    return `${reason} So "deposit-service status" does not show this ${chore}.`;
  }
}

async function record(dataDir: string, file: string): Promise<void> {
  await writeFileAtomic(file, `${clock.date().toISOString()}\n`, { durable: true });
  const { uid, gid } = await files.stat(dataDir);
  if (process.getuid?.() === 0) await files.chown(file, uid, gid); // else the service could not read it
}

/** Returns the time of the last success on this node, RFC 3339; `null` if none is recorded. */
export function lastSuccess(dataDir: string, chore: Chore): string | null {
  try {
    const text = files.readFileSync(fileOf(dataDir, chore), 'utf8').trim();
    return Number.isNaN(Date.parse(text)) ? null : text;
  } catch {
    return null; // missing, or not readable for this user
  }
}

function fileOf(dataDir: string, chore: Chore): string {
  return path.join(dataDir, `last-${chore}`);
}

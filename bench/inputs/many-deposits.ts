import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ended } from './ended.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');

/** Resolves to a folder with a log like the service's own; it is reused until the code that writes logs changes. */
export async function manyDeposits(
  folder: string,
  { count, varied = false }: { readonly count: number; readonly varied?: boolean },
  tell: (progress: string) => void,
): Promise<string> {
  const [mark, code] = [path.join(folder, 'made-by'), codeOfLogs()];
  if (existsSync(mark) && readFileSync(mark, 'utf8') === code) return folder;
  tell(`making a log of ${count.toLocaleString('en')} deposits`);
  rmSync(folder, { recursive: true, force: true });
  const program = path.join(ROOT, 'bench', 'generate-log.ts');
  const args = ['--deposits', String(count), '--data-dir', folder, ...(varied ? ['--varied'] : [])];
  await ended(process.execPath, [program, ...args]);
  writeFileSync(mark, code);
  return folder;
}

/** Returns a digest of the code that decides the content of a log. */
function codeOfLogs(): string {
  const deciding = [
    'bench/{generate-log,inputs/deposit-traits}.ts',
    'testing/processes/seeded-random.ts',
    'src/domain/**/*.ts',
    'src/event-log/{integrity/hash-chain,sqlite/schema}.ts',
  ];
  const files = globSync(deciding, { cwd: ROOT });
  return hash(
    'sha256',
    files
      .toSorted()
      .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
      .join('\0'),
  );
}

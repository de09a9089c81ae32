import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { ResumableUploads } from '../../../src/modules/resumable-uploads/resumable-uploads.ts';
import { type Logger, silentLogger } from '../../../src/tools/logger.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';

const LIMITS = { maxSize: 2 ** 20, perClient: 1, totalSize: 2 ** 20, expiry: 3_600_000 };
const OWNER = { client: 'alice', collection: 'software' } as const;

type Warned = { readonly records?: readonly string[] };

test('records of a newer release are retained with their bytes, and named', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'uploads');
  const warnings: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: ({ records }: Warned, message) => warnings.push({ records: records?.toSorted(), message }),
  };
  await using first = await ResumableUploads.open({ folder, limits: LIMITS, logger });
  const { id, record } = await first.create({ ...OWNER, length: 10, metadata: null });
  t.deepEqual(warnings, []);
  const newer = [
    { state: { status: 'of another release' } },
    { length: '10' },
    { createdAt: '' },
    { id: randomUUID() },
  ];
  const texts = ['{', '{}', ...newer.map((changes) => JSON.stringify({ ...record, ...changes }))];
  const unknown: Record<string, string> = {};
  for (const text of texts) {
    const name = randomUUID();
    unknown[`${name}.json`] = text.replace(id, name);
    unknown[`${name}.bytes`] = 'bytes';
  }
  const left = [`${randomUUID()}.bytes`, `${id}.json.new`]; // by a crash
  for (const name of left) await writeFile(path.join(folder, name), 'x');
  for (const [name, text] of Object.entries(unknown)) await writeFile(path.join(folder, name), text);
  await using next = await ResumableUploads.open({ folder, limits: LIMITS, logger });
  const names = await readdir(folder);
  t.deepEqual(names.sort(), [`${id}.bytes`, `${id}.json`, ...Object.keys(unknown)].sort());
  for (const [name, text] of Object.entries(unknown))
    t.is(await readFile(path.join(folder, name), 'utf8'), text);
  const records = names.filter((name) => name.endsWith('.json') && name in unknown);
  t.deepEqual(warnings, [{ records, message: 'unreadable upload records' }]);
  t.truthy(next.find(id, OWNER));
  for (const name of records) t.is(next.find(name.replace('.json', ''), OWNER), undefined);
});

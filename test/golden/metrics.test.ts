import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { Exposition } from '../../testing/service/exposition.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { assertGolden } from './golden-file.ts';

/** Returns type, help and the names of the labels of each metric, and the bounds of its buckets. */
function described({ types, helps, samples }: Exposition): string {
  const metrics = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const parts = metrics.map(([name, type]) => {
    const own = samples.filter(({ metric }) => metric === name);
    const names = own.map((sample) => `${sample.name}{${Object.keys(sample.labels).toSorted().join()}}`);
    const bounds = own.map(({ labels }) => labels['le']).filter((bound) => bound !== undefined);
    return [
      `# ${type} ${name}`,
      helps.get(name) ?? 'no help',
      ...new Set(names),
      ...(bounds.length > 0 ? [`le: ${[...new Set(bounds)].join(' ')}`] : []),
      '',
    ].join('\n');
  });
  return parts.join('\n');
}

/** Returns a text in lower case, without marks, and without separators of thousands. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('`', '')
    .replaceAll(/(?<=\d),(?=\d)/g, '');
}

test('the metrics after a deposit have the names, types, labels and help of the transcript', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  let exposition = await Exposition.of(service.folder);
  // The histogram of garbage collections has no buckets before the first one, to which each request contributes.
  while (!exposition.samples.some(({ metric }) => metric === 'nodejs_gc_duration_seconds'))
    exposition = await Exposition.of(service.folder);
  await assertGolden(t, 'metrics.txt', described(exposition));
  const manual = plain(await readFile(path.join(import.meta.dirname, '../../docs/metrics.md'), 'utf8'));
  for (const [name, help] of exposition.helps)
    if (name.startsWith('deposit_')) t.true(manual.includes(`| ${plain(help)}`), `${name}: ${help}`);
});

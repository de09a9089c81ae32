import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { archivePart, entryPart } from '../../testing/http/deposit-bodies.ts';
import { CorpusService } from './corpus-service.ts';
import { costlyArchives } from './costly-archives.ts';
import { entryOf } from './entry-text.ts';
import { runCases } from './run-cases.ts';

test('bombs and floods of members are rejected, and archives just below a limit are loaded', async (t) => {
  t.timeout(300_000);
  await using service = await CorpusService.start();
  const trials = costlyArchives.map(({ name, expected, bytes, mediaType }) => {
    const run = async () => {
      const archive = archivePart(bytes(), name, mediaType);
      // It took seconds; wait until the connections that were closed meanwhile are known.
      await setTimeout(50);
      return service.deposit(archive, entryPart(entryOf('')));
    };
    return { name, expected, run };
  });
  t.deepEqual(await runCases(trials, 1), []);
  t.true(await service.isReady());
  const peak = await service.peakMemory();
  t.log(`The peak of the service was ${Math.round(peak)} MiB.`);
  t.true(peak < 640, `${peak} MiB`);
});

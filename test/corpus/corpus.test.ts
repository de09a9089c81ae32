import test from 'ava';
import { archivePart, entryPart, helloZip } from '../../testing/http/deposit-bodies.ts';
import { CorpusService } from './corpus-service.ts';
import { entryOf } from './entry-text.ts';
import { everyArchive } from './every-archive.ts';
import { malformedEntries } from './malformed-entries.ts';
import { oddEntries } from './odd-entries.ts';
import { runCases } from './run-cases.ts';

const everyEntry = [...malformedEntries, ...oddEntries];
const completeEntry = entryPart(entryOf(''));

/** Time limit of all cases together, on a busy machine. */
const TEST_TIMEOUT_MS = 300_000;

let service: CorpusService;
test.before(async () => {
  service = await CorpusService.start();
});
test.after.always(() => service[Symbol.asyncDispose]());

test.serial('a hostile entry is refused, an odd one is accepted, and none does harm', async (t) => {
  t.timeout(TEST_TIMEOUT_MS);
  const trials = everyEntry.map(({ name, expected, bytes, mediaType }) => {
    const headers = { ...completeEntry.headers, 'Content-Type': mediaType };
    return { name, expected, run: () => service.deposit(archivePart(helloZip), { headers, body: bytes() }) };
  });
  t.deepEqual(await runCases(trials), []);
  t.true(everyEntry.length >= 140);
});

test.serial('a hostile archive is rejected, an odd one is loaded, and none does harm', async (t) => {
  t.timeout(TEST_TIMEOUT_MS);
  const trials = everyArchive.map(({ name, expected, bytes, mediaType }) => {
    return {
      name,
      expected,
      run: () => service.deposit(archivePart(bytes(), name, mediaType), completeEntry),
    };
  });
  t.deepEqual(await runCases(trials), []);
  t.true(everyArchive.length >= 400);
});

test.serial('after all cases the service is healthy and has used little memory', async (t) => {
  t.true(await service.isReady());
  const peak = await service.peakMemory();
  t.log(`The peak was ${Math.round(peak)} MiB.`);
  t.true(peak < 400, `${peak} MiB`);
});

test('each case has a unique name', (t) => {
  const names = [...everyArchive, ...everyEntry].map(({ name }) => name);
  t.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

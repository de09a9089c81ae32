import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { entryTurns, understandEntry } from '../../src/http/requests/receive-entry.ts';
import { xmlLimits } from '../../testing/documents/read-entry.ts';

const ALICE = { client: 'alice', domain: null };
const PARTS = {
  depositNamespace: 'https://deposit.example/schema',
  xmlLimits,
  entryTurns: entryTurns(),
};
const [ENTRIES, BYTES] = [30, 800_000];

function liveBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('the facts and terms of an entry do not retain its document', async (t) => {
  const before = liveBytes();
  const kept: unknown[] = [];
  for (let entry = 0; entry < ENTRIES; entry += 1) {
    const document = `<entry xmlns="http://www.w3.org/2005/Atom" xmlns:dcterms="http://purl.org/dc/terms/">
      <title>Paint</title><author><name>Alice-Liddell</name></author>
      <id>https://forge.example/project/${entry}</id><dcterms:creator>Alice-Liddell</dcterms:creator>
      <x>${'y '.repeat(BYTES / 2)}</x></entry>`;
    const { facts, terms } = await understandEntry(Buffer.from(document), 'utf-8', ALICE, PARTS);
    kept.push(facts, terms);
  }
  const growth = liveBytes() - before;
  t.is(kept.length, 2 * ENTRIES);
  t.true(growth < (ENTRIES * BYTES) / 4, `${growth} bytes for ${ENTRIES} entries of ${BYTES} bytes`);
});

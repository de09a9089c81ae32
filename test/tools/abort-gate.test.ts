import test from 'ava';
import { AbortGate } from '../../src/tools/concurrency/abort-gate.ts';

test('finished work counts, and running and later work is aborted', async (t) => {
  const cutOff = new AbortGate();
  t.is(await cutOff.race(Promise.resolve(1)), 1);
  await t.throwsAsync(cutOff.race(Promise.reject(new Error('its own'))), { message: 'its own' });
  const never = new Promise<void>(() => undefined);
  const waiting = [cutOff.race(never), cutOff.race(never)];
  cutOff.abort(new Error('cut'));
  for (const one of [...waiting, cutOff.race(never)]) await t.throwsAsync(one, { message: 'cut' });
});

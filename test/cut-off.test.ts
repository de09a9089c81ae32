import test from 'ava';
import { CutOff } from '../src/cut-off.ts';

test('work that is over counts, work under way and work that comes later is cut off', async (t) => {
  const cutOff = new CutOff();
  t.is(await cutOff.unless(Promise.resolve(1)), 1);
  await t.throwsAsync(cutOff.unless(Promise.reject(new Error('its own'))), { message: 'its own' });
  const never = new Promise<void>(() => undefined);
  const waiting = [cutOff.unless(never), cutOff.unless(never)];
  cutOff.cut(new Error('cut'));
  for (const one of [...waiting, cutOff.unless(never)]) await t.throwsAsync(one, { message: 'cut' });
});

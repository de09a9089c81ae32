import test from 'ava';
import { losesNoPuts } from './killed-puts.ts';

test('every put acknowledged before a SIGKILL is stored completely', async (t) => {
  await losesNoPuts(t, [120, 250, 400]);
});

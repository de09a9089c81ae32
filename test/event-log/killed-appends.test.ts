import test from 'ava';
import { losesNoEvents } from './killed-appends.ts';
import { upTo } from './log-under-test.ts';

test('no acknowledged event is lost when the process is killed at any moment', async (t) => {
  await losesNoEvents(
    t,
    upTo(6).map((round) => 20 + round * 37),
  );
});

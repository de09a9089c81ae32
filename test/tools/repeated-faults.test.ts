import test from 'ava';
import { clock } from '../../src/tools/clock.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { RepeatedFaults } from '../../src/tools/repeated-faults.ts';

test('a fault is news once, after an interval, for another reason, and after it was over', (t) => {
  let now = 1000;
  runInWorld({ clock: { ...clock, monotonic: () => now } }, () => {
    const faults = new RepeatedFaults<string>(60_000);
    t.false(faults.isOver('a'), 'nothing was logged');
    t.true(faults.isNews('a', 'full'));
    t.true(faults.isNews('b', 'full'), 'each subject counts for itself');
    now += 59_999;
    t.false(faults.isNews('a', 'full'));
    now += 1;
    t.true(faults.isNews('a', 'full'), 'it lasts');
    t.true(faults.isNews('a', 'gone'));
    t.true(faults.isOver('a'));
    t.deepEqual([...faults.subjects], ['b']);
    t.true(faults.isNews('a', 'gone'));
  });
});

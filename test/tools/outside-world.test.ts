import test from 'ava';
import { CLOCK_OF_NODE, clock } from '../../src/tools/clock.ts';
import { files } from '../../src/tools/files.ts';
import { type Clock, runInWorld } from '../../src/tools/outside-world.ts';
import { random } from '../../src/tools/random.ts';

function clockThatSays(time: number): Clock {
  return { ...CLOCK_OF_NODE, now: () => time };
}

test('two nodes of one process have their own clocks, also after awaits and timers', async (t) => {
  const timeOf = async (): Promise<readonly number[]> => {
    const before = clock.now();
    await clock.sleep(1);
    const { promise, resolve } = Promise.withResolvers<number>();
    clock.setTimeout(() => resolve(clock.now()), 1);
    return [before, await promise];
  };
  const nodes = [100, 200].map((time) => runInWorld({ clock: clockThatSays(time) }, timeOf));
  t.deepEqual(await Promise.all(nodes), [
    [100, 100],
    [200, 200],
  ]);
});

test('a node uses the tools of Node unless it has its own', (t) => {
  runInWorld({ clock: clockThatSays(7) }, () => {
    t.is(clock.now(), 7);
    t.regex(random.uuid(), /^[\da-f]{8}-[\da-f]{4}-4/);
    t.true(files.existsSync(import.meta.filename));
  });
  t.true(Math.abs(clock.now() - Date.now()) < 60_000);
});

test('a file function that Node rejects throws as in Node', async (t) => {
  t.throws(() => files.readFileSync('/no/such/file'), { code: 'ENOENT' });
  await t.throwsAsync(files.readFile('/no/such/file'), { code: 'ENOENT' });
  t.is(typeof files.constants.O_RDWR, 'number');
});

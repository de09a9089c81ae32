import type { ReadPart, Refusal, RefusedPart } from '../disk/disk.ts';
import type { Scene } from '../history/scene.ts';
import type { SeededRandom } from '../world/seeded-random.ts';
import type { CallName } from '../world/world.ts';
import { CRASH_POINTS } from './crash-points.ts';
import { defineFault } from './fault-definition.ts';

type Down = { readonly down: number };
type Lasting = { readonly time: number; readonly part: RefusedPart };

/** How long it is waited for the call at which a process or its machine dies. */
const ARMED_MS = 8000;
const OF_DISKS = CRASH_POINTS.filter(({ role, call }) => role === 'embedded' || call === 'view save');

/** The machine loses its power, and its disk what was not synced. */
export const powerCut = defineFault<Down>({
  draw: (random) => ({ down: random.between(200, 8000) }),
  begin: ({ down }, scene) => scene.cutPower(0, { down, seen: 1 }),
  duration: ({ down }) => down,
});

/** A process, or its machine, dies right after a call to the disk; `skip` calls later than the first one. */
export const diskCrashPoint = defineFault<
  Down & { readonly call: CallName; readonly skip: number; readonly isPowerCut: boolean }
>({
  draw: (random) => ({
    call: random.pick(OF_DISKS).call,
    skip: random.chance(0.3) ? 0 : random.int(60),
    isPowerCut: random.chance(0.7),
    down: random.between(200, 4000),
  }),
  begin: ({ call, skip, isPowerCut, down }, scene) => {
    const armed = { host: 0, call, moment: 'done', skip, until: ARMED_MS } as const;
    scene.killAfter(armed, { down, seen: 1 }, isPowerCut);
    return true;
  },
  duration: ({ down }) => ARMED_MS + down,
});

/** No write finds room, on the whole disk or on that of a part; removals do. */
export const fullDisk = defineFault<Lasting>({
  draw: drawLasting,
  begin: (parameters, scene) => refuseFor(scene, 'full', parameters),
  duration: ({ time }) => time,
});

/** The disk answers every write with an I/O error. */
export const refusedWrites = defineFault<Lasting>({
  draw: drawLasting,
  begin: (parameters, scene) => refuseFor(scene, 'failing', parameters),
  duration: ({ time }) => time,
});

/**
 * One read of a part of the disk fails, `skip` reads later than the first one. The next read succeeds. Some come when the
 * node starts: it is restarted for them.
 */
export const failedRead = defineFault<
  Down & { readonly part: ReadPart; readonly skip: number; readonly isAtStart: boolean }
>({
  draw: (random) => {
    const part = random.pick<ReadPart>(['event-log', 'archives', 'views', 'reactors']);
    const isAtStart = part === 'reactors' || random.chance(0.3); // positions are read only then
    return {
      part,
      isAtStart,
      skip: random.int(part === 'reactors' ? 3 : 30),
      down: random.between(200, 2000),
    };
  },
  begin: ({ part, skip, isAtStart, down }, scene) => {
    const { disk } = scene;
    if (!disk) return false;
    if (isAtStart) scene.kill(0, { down, seen: 1 });
    const failing = disk.failRead(part, skip);
    scene.later(ARMED_MS, () => failing[Symbol.dispose]());
    return true;
  },
  duration: ({ down }) => ARMED_MS + down,
});

function drawLasting(random: SeededRandom): Lasting {
  const part = random.pick<RefusedPart>(['all', 'all', 'event-log', 'archives', 'views']);
  return { time: random.between(200, 10_000), part };
}

function refuseFor(scene: Scene, how: Refusal, { time, part }: Lasting): boolean {
  const refusal = scene.disk?.refuse(how, part);
  scene.later(time, () => refusal?.[Symbol.dispose]());
  return refusal !== undefined;
}

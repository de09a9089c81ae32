import { STOP_LIMIT_MS } from '../history/stop-limit.ts';
import type { CallMoment, CallName } from '../world/world.ts';
import { CRASH_POINTS } from './crash-points.ts';
import { defineFault } from './fault-definition.ts';

type Outage = { readonly down: number };
type OfHost = { readonly host: number };
/** `seen`: milliseconds until the servers notice: at once for a process, later for a machine. */
type Crash = OfHost & Outage & { readonly seen: number };

/** A process is killed, or its machine dies, and is started again. */
export const crash = defineFault<Crash>({
  draw: (random) => ({
    host: random.int(4),
    down: random.between(200, 8000),
    seen: random.chance(0.7) ? random.between(0.1, 5) : random.between(5000, 15_000),
  }),
  begin: ({ host, down, seen }, scene) => scene.kill(host, { down, seen }),
  duration: ({ down, seen }) => Math.max(down, seen),
});

/** How long it is waited for the call after which a process crashes. */
const ARMED_MS = 8000;

/** Calls that a process makes when it starts, and seldom again: it is restarted for them. */
const OF_CLUSTERS = CRASH_POINTS.filter(({ role }) => role !== 'embedded');

const AT_STARTS: ReadonlySet<CallName> = new Set(['subscribe', 'consume']);

/** A process crashes at a certain call; `skip` calls later than the first one. */
export const crashPoint = defineFault<
  Crash & { readonly call: CallName; readonly moment: CallMoment; readonly skip: number }
>({
  draw: (random) => {
    const { call, moment, role } = random.pick(OF_CLUSTERS);
    const host = (role === 'reactors' ? 2 : role === 'http' ? 0 : random.int(2) * 2) + random.int(2);
    const skip = AT_STARTS.has(call) || random.chance(0.5) ? 0 : random.int(12);
    return { host, call, moment, skip, down: random.between(200, 4000), seen: random.between(0.1, 5) };
  },
  begin: ({ host, call, moment, skip, down, seen }, scene) => {
    if (AT_STARTS.has(call)) scene.kill(host, { down: 200, seen });
    scene.killAfter({ host, call, moment, skip, until: ARMED_MS }, { down, seen });
    return true;
  },
  duration: ({ down, seen }) => ARMED_MS + Math.max(down, seen),
});

/** No reactor runs for some time. */
export const reactorsAway = defineFault<Outage>({
  draw: (random) => ({ down: random.between(1000, 15_000) }),
  begin: ({ down }, scene) => {
    const killed = scene.reactorHosts.map((host) => scene.kill(host, { down, seen: 1 }));
    return killed.includes(true);
  },
  duration: ({ down }) => down,
});

/** A node is stopped in order, and started again, as in an upgrade: at once, or at its next write. */
export const restart = defineFault<OfHost & Outage & { readonly isAtWrite?: boolean }>({
  draw: (random) => ({
    host: random.int(4),
    down: random.between(100, 5000),
    isAtWrite: random.chance(0.5),
  }),
  begin: ({ host, down, isAtWrite }, scene) =>
    isAtWrite ? scene.restartAtWrite(host, down, ARMED_MS) : scene.restart(host, down),
  duration: ({ down, isAtWrite }) => (isAtWrite ? ARMED_MS : 0) + STOP_LIMIT_MS + down,
});

/** A process is stopped and continued, as by SIGSTOP and SIGCONT. */
export const pause = defineFault<OfHost & { readonly time: number }>({
  draw: (random) => ({ host: random.int(4), time: random.between(100, 15_000) }),
  begin: ({ host, time }, scene) => scene.pause(host, time),
  duration: ({ time }) => time,
});

/** The clock of a host is set forward or back, up to ten minutes, for good. */
export const clock = defineFault<OfHost & { readonly by: number }>({
  draw: (random) => ({ host: random.int(4), by: random.pick([-1, 1]) * random.between(500, 600_000) }),
  begin: ({ host, by }, scene) => scene.moveClock(host, by),
  duration: () => 0,
});

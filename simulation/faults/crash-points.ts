import type { CallMoment, CallName } from '../world/world.ts';

/** Which nodes make a call: those that serve HTTP, run reactors, or are embedded, or any of a cluster. */
type Caller = 'http' | 'reactors' | 'embedded' | 'any';

export type CrashPoint = {
  readonly call: CallName;
  readonly moment: CallMoment;
  readonly role: Caller;
};

const OF_REQUESTS: readonly CallMoment[] = ['sent', 'done', 'answered'];

const CALLS: Readonly<Record<CallName, { readonly moments: readonly CallMoment[]; readonly role: Caller }>> =
  {
    append: { moments: OF_REQUESTS, role: 'any' },
    read: { moments: OF_REQUESTS, role: 'any' },
    subscribe: { moments: OF_REQUESTS, role: 'any' },
    consume: { moments: OF_REQUESTS, role: 'reactors' },
    delivery: { moments: ['done', 'answered'], role: 'reactors' },
    ack: { moments: ['sent', 'done'], role: 'reactors' },
    put: { moments: OF_REQUESTS, role: 'any' },
    part: { moments: OF_REQUESTS, role: 'http' },
    complete: { moments: OF_REQUESTS, role: 'http' },
    get: { moments: OF_REQUESTS, role: 'reactors' },
    post: { moments: OF_REQUESTS, role: 'reactors' },
    'view save': { moments: ['done'], role: 'any' },
    'log commit': { moments: ['done'], role: 'embedded' },
    'store commit': { moments: ['done'], role: 'embedded' },
    'file write': { moments: ['done'], role: 'embedded' },
    'file name': { moments: ['done'], role: 'embedded' },
    'file sync': { moments: ['done'], role: 'embedded' },
  };

/** Every call and moment after which a process is made to crash. */
export const CRASH_POINTS: readonly CrashPoint[] = Object.entries(CALLS).flatMap(
  ([call, { moments, role }]) => moments.map((moment) => ({ call: call as CallName, moment, role })),
);

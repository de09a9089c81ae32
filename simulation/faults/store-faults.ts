import type { LostOfUpload } from '../network/multipart-uploads.ts';
import type { Outage } from '../network/s3-server.ts';
import { defineFault, during } from './fault-definition.ts';

type Lasting = { readonly time: number };

/** The store refuses connections, answers that it is busy, or does not answer. */
export const storeOutage = defineFault<Lasting & { readonly how: Outage }>({
  draw: (random) => ({
    time: random.between(100, 8000),
    how: random.pick<Outage>(['refused', 'busy', 'silent']),
  }),
  begin: ({ time, how }, scene) => during(scene.store.outages, how, time, scene),
  duration: ({ time }) => time,
});

/** Objects are answered 404 although they are there and listed: drives are away. */
export const hiddenObjects = defineFault<Lasting & { readonly share: number }>({
  draw: (random) => ({ time: random.between(500, 8000), share: random.between(0.3, 1) }),
  begin: ({ time, share }, scene) => during(scene.store.hidden, share, time, scene),
  duration: ({ time }) => time,
});

/** Lists leave out objects that are there. */
export const shortLists = defineFault<Lasting & { readonly share: number }>({
  draw: (random) => ({ time: random.between(500, 8000), share: random.between(0.3, 1) }),
  begin: ({ time, share }, scene) => during(scene.store.unlisted, share, time, scene),
  duration: ({ time }) => time,
});

/** Uploads in parts, or parts of them, are lost while they are under way: an operator removed them, or they expired. */
export const lostUploads = defineFault<Lasting & { readonly what: LostOfUpload; readonly share: number }>({
  draw: (random) => ({
    time: random.between(500, 8000),
    what: random.pick<LostOfUpload>(['upload', 'part']),
    share: random.between(0.1, 0.6),
  }),
  begin: ({ time, what, share }, scene) => during(scene.store.uploadLosses, { what, share }, time, scene),
  duration: ({ time }) => time,
});

/** Work that misses an object is tried for about four minutes, then parked. */
const PARKED_MS = [240_000, 420_000] as const;
/** Names that a file system has not written for up to five seconds are lost. */
const LONGEST_UNSYNCED_MS = 5000;

/**
 * The store loses its power, and with it what it answered in the last moments. Some time after it is back, an operator
 * restores that.
 */
export const storePowerCut = defineFault<
  Lasting & { readonly unsynced: number; readonly restoredAfter: number }
>({
  draw: (random) => ({
    time: random.between(500, 5000),
    unsynced: random.between(0, LONGEST_UNSYNCED_MS),
    restoredAfter: random.chance(0.5) ? random.between(100, 20_000) : random.between(...PARKED_MS),
  }),
  begin: ({ time, unsynced, restoredAfter }, scene) => {
    scene.store.cutPower(unsynced);
    scene.later(time + restoredAfter, () => scene.store.restoreLost());
    return during(scene.store.outages, 'refused', time, scene);
  },
  duration: ({ time, restoredAfter }) => time + restoredAfter,
});

/** An operator removes what no event names, as `npm run gc -- --remove` does. */
export const garbageCollection = defineFault<object>({
  draw: () => ({}),
  begin: (_none, scene) => {
    scene.collectGarbage();
    return true;
  },
  duration: () => 0,
});

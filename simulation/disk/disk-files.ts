import fs from 'node:fs';
import path from 'node:path';
import type { Files } from '../../src/tools/outside-world.ts';
import type { Incarnation } from '../world/host.ts';
import { KEY_FILE, KEY_TEXT } from '../world/simulated-files.ts';
import { type CallName, world } from '../world/world.ts';
import type { SimulatedDisk } from './disk.ts';

type Call = (...args: never[]) => unknown;
type Flags = string | number;

const [SHORTEST_MS, LONGEST_MS] = [0.02, 0.6];

/**
 * Returns the files of a process on a simulated disk. Synchronous calls are carried out at once, others after a latency
 * of the simulation. Files elsewhere, such as package.json, can only be read.
 */
export function diskFiles(process: Incarnation, disk: SimulatedDisk): Files {
  const places = new Map<number, string>();
  const calls: Readonly<Record<string, Call>> = {
    ...synchronous(process, disk, places),
    ...reading(disk, places),
  };
  const later = async (call: () => unknown): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    world().schedule(world().networkRandom.between(SHORTEST_MS, LONGEST_MS), process, resolve);
    await promise;
    return call();
  };
  const handle = (descriptor: number) => handleOf(descriptor, calls, later);
  const call = (name: string, args: unknown[]): unknown => {
    const found = calls[name];
    if (!found) throw new Error(`The simulation has no files.${name}.`);
    return Reflect.apply(found, undefined, args);
  };
  const promised = async (name: string, args: unknown[]): Promise<unknown> => {
    if (name === 'readFile' && args[0] === KEY_FILE) return KEY_TEXT;
    if (name === 'opendir') return entriesOf(disk, String(args[0]));
    const result = await later(() => call(`${name}Sync`, args));
    return name === 'open' ? handle(result as number) : result;
  };
  return new Proxy({} as Files, {
    get: (_target, name) => {
      if (name === 'constants') return fs.constants;
      const text = String(name);
      if (text in calls) return (...args: unknown[]) => call(text, args);
      return (...args: unknown[]) => promised(text, args);
    },
  });
}

/** Calls that change nothing. Those that read bytes or names may fail. */
function reading(disk: SimulatedDisk, places: ReadonlyMap<number, string>): Readonly<Record<string, Call>> {
  const { accessSync, existsSync, fstatSync, realpathSync, statSync } = fs;
  const checked = (call: string, read: Call, placeOf: (place: unknown) => string = String): Call => {
    return (place: string | number, ...args: never[]) => {
      disk.assertReads(placeOf(place), call);
      return Reflect.apply(read, fs, [place, ...args]);
    };
  };
  const ofDescriptor = (descriptor: unknown): string => places.get(Number(descriptor)) ?? '';
  return {
    accessSync,
    existsSync,
    fstatSync,
    realpathSync,
    statSync,
    readFileSync: checked('read', fs.readFileSync),
    readSync: checked('read', fs.readSync, ofDescriptor),
    readdirSync: checked('scandir', (folder: string) => fs.readdirSync(folder).toSorted()),
  };
}

/** Calls that change the disk, or that end in a sync. */
function synchronous(
  process: Incarnation,
  disk: SimulatedDisk,
  places: Map<number, string>,
): Readonly<Record<string, Call>> {
  const done = (call: CallName): void => world().called(process, call, 'done');
  const placeOf = (place: string | number): string =>
    typeof place === 'number' ? (places.get(place) ?? '') : place;
  const changed = <Result>(place: string | number, name: string, change: () => Result): Result => {
    assertOfDisk(disk, placeOf(place));
    disk.assertTakes(placeOf(place), name);
    disk.unsynced?.writes(place);
    const result = change();
    done('file write');
    return result;
  };
  const named = <Result>(on: readonly string[], name: string, change: () => Result): Result => {
    for (const place of on) assertOfDisk(disk, place);
    if (name !== 'unlink') for (const place of on) disk.assertTakes(place, name);
    const result = disk.unsynced ? disk.unsynced.renames(on, change) : change();
    done('file name');
    return result;
  };
  const synced = (descriptor: number): void => {
    disk.assertTakes(placeOf(descriptor), 'fsync');
    disk.unsynced?.synced(descriptor, placeOf(descriptor));
    done('file sync');
  };
  const openSync = (place: string, flags: Flags = 'r', mode?: number): number => {
    const isNew = flags !== 'r' && !fs.existsSync(place);
    const open = () => fs.openSync(place, flags, mode);
    const descriptor = isNew ? named([place], 'open', open) : open();
    places.set(descriptor, place);
    disk.descriptorOpened(descriptor);
    return descriptor;
  };
  const closeSync = (descriptor: number): void => {
    disk.descriptorClosed(descriptor);
    fs.closeSync(descriptor);
  };
  return {
    openSync,
    closeSync,
    fsyncSync: synced,
    fdatasyncSync: synced,
    writeSync: (descriptor: number, ...args: never[]) =>
      changed(descriptor, 'write', () => Reflect.apply(fs.writeSync as Call, fs, [descriptor, ...args])),
    writevSync: (descriptor: number, ...args: never[]) =>
      changed(descriptor, 'writev', () => Reflect.apply(fs.writevSync as Call, fs, [descriptor, ...args])),
    ftruncateSync: (descriptor: number, length: number) =>
      changed(descriptor, 'ftruncate', () => fs.ftruncateSync(descriptor, length)),
    futimesSync: fs.futimesSync,
    utimesSync: fs.utimesSync,
    writeFileSync: (
      place: string,
      bytes: string,
      options?: { readonly flush?: boolean; readonly mode?: number },
    ) => {
      const descriptor = openSync(place, 'w', options?.mode);
      try {
        changed(descriptor, 'write', () => fs.writeSync(descriptor, bytes as unknown as Buffer));
        if (options?.flush) synced(descriptor);
      } finally {
        closeSync(descriptor);
      }
    },
    renameSync: (from: string, to: string) => named([to, from], 'rename', () => fs.renameSync(from, to)),
    linkSync: (from: string, to: string) => named([to], 'link', () => fs.linkSync(from, to)),
    unlinkSync: (place: string) => named([place], 'unlink', () => fs.unlinkSync(place)),
    rmSync: (place: string, options: fs.RmOptions) => {
      if (fs.existsSync(place) || !options.force) named([place], 'unlink', () => fs.rmSync(place, options));
    },
    mkdirSync: (place: string, options: fs.MakeDirectoryOptions) => makeFolder(place, options, named),
  };
}

function makeFolder(
  place: string,
  options: fs.MakeDirectoryOptions,
  named: (on: readonly string[], name: string, change: () => unknown) => unknown,
): string | undefined {
  if (!options.recursive) {
    if (fs.existsSync(place)) fs.mkdirSync(place); // throws
    named([place], 'mkdir', () => fs.mkdirSync(place));
    return undefined;
  }
  if (fs.existsSync(place)) return undefined;
  const first = makeFolder(path.dirname(place), options, named);
  named([place], 'mkdir', () => fs.mkdirSync(place));
  return first ?? place;
}

/** Returns what code of the service uses of a `FileHandle`. */
function handleOf(
  descriptor: number,
  calls: Readonly<Record<string, Call>>,
  later: (call: () => unknown) => Promise<unknown>,
) {
  const on = (name: string, ...args: unknown[]): Promise<unknown> =>
    later(() => Reflect.apply(calls[name] as Call, undefined, [descriptor, ...args]));
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await on('closeSync');
    isOpen = false;
  };
  return {
    fd: descriptor,
    read: async (buffer: Buffer, ...rest: unknown[]) => ({
      bytesRead: await on('readSync', buffer, ...rest),
      buffer,
    }),
    write: async (bytes: unknown, ...rest: unknown[]) => ({
      bytesWritten: await on('writeSync', bytes, ...rest),
    }),
    writev: async (...args: unknown[]) => ({ bytesWritten: await on('writevSync', ...args) }),
    writeFile: (bytes: unknown) => on('writeSync', bytes),
    truncate: (length: number) => on('ftruncateSync', length),
    stat: () => on('fstatSync'),
    sync: () => on('fsyncSync'),
    datasync: () => on('fdatasyncSync'),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function* entriesOf(disk: SimulatedDisk, folder: string): AsyncGenerator<fs.Dirent> {
  disk.assertReads(folder, 'scandir');
  const entries = fs.readdirSync(folder, { withFileTypes: true });
  yield* entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Writes of a process that died with the power, or elsewhere, would be a mistake of the simulation. */
function assertOfDisk(disk: SimulatedDisk, place: string): void {
  if (!disk.holds(place))
    throw Object.assign(new Error(`EIO: ${place} is not on the disk.`), { code: 'EIO' });
}

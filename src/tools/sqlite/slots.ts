import { crc32 } from 'node:zlib';
import { withDescriptor } from '../files/with-descriptor.ts';
import { files } from '../files.ts';

/**
 * Offsets of two slots, each in a separate disk block, so that a write torn by a power cut leaves the other one intact.
 */
const SLOT_DISTANCE = 4_096;
const SLOTS = [0, SLOT_DISTANCE] as const;
const SLOT_SIZE = 512;

const WRITABLE = files.constants.O_RDWR | files.constants.O_CREAT;

/** A line of words that begins with the number of the record; the record with the larger number is the newer one. */
export type Slotted = { readonly number: number; readonly words: readonly string[] };

/**
 * Writes the record that follows the newest one over the older one. It needs no sync of its own if an older or torn
 * record only says less.
 */
export function writeSlot(file: string, recordAfter: (newest: Slotted | undefined) => Slotted): void {
  withDescriptor(file, WRITABLE, (descriptor) => {
    const [first, second] = SLOTS.map((offset) => readSlot(descriptor, offset));
    const isFirstOlder = (first?.number ?? 0) <= (second?.number ?? 0);
    const record = recordAfter(isFirstOlder ? second : first);
    files.writeSync(descriptor, encode(record), 0, null, SLOTS[isFirstOlder ? 0 : 1]);
  });
}

/** Writes a record over all others; none of them reappears after a power cut. */
export function writeAllSlots(file: string, record: Slotted): void {
  withDescriptor(file, WRITABLE, (descriptor) => {
    for (const offset of SLOTS) files.writeSync(descriptor, encode(record), 0, null, offset);
    files.fsyncSync(descriptor);
  });
}

/** Returns the newest complete record of an existing file. */
export function newestSlot(file: string): Slotted | undefined {
  return withDescriptor(file, 'r', (descriptor) => {
    const records = SLOTS.map((offset) => readSlot(descriptor, offset)).filter((each) => each !== undefined);
    return records.sort((a, b) => b.number - a.number)[0];
  });
}

/**
 * Describes records that are neither complete nor empty: torn by a power cut, or altered. Later records replace them.
 */
export function slotFaults(file: string): string[] {
  return withDescriptor(file, 'r', (descriptor) =>
    SLOTS.flatMap((offset) => {
      const bytes = Buffer.alloc(SLOT_DISTANCE);
      const length = files.readSync(descriptor, bytes, 0, SLOT_DISTANCE, offset);
      const written = bytes.subarray(0, bytes.indexOf('\n') + 1);
      const isWhole = length === 0 || readSlot(descriptor, offset) !== undefined;
      const isEmptyBehind = bytes.subarray(written.length).every((byte) => byte === 0);
      return isWhole && isEmptyBehind ? [] : [`the record at byte ${offset} is not whole`];
    }),
  );
}

/** Encodes a record as a whole slot, so that no earlier content remains after the line. */
function encode({ number, words }: Slotted): Buffer {
  const content = [number, ...words].join(' ');
  const slot = Buffer.alloc(SLOT_SIZE);
  slot.write(`${content} ${crc32(content)}\n`);
  return slot;
}

function readSlot(descriptor: number, offset: number): Slotted | undefined {
  const slot = Buffer.alloc(SLOT_SIZE);
  const length = files.readSync(descriptor, slot, 0, SLOT_SIZE, offset);
  const [, content = '', sum] = /^(\d+(?: \S+)+) (\d+)\n/.exec(slot.toString('latin1', 0, length)) ?? [];
  if (crc32(content) !== Number(sum)) return undefined;
  const [number, ...words] = content.split(' ');
  return { number: Number(number), words };
}

import { crc32 } from 'node:zlib';
import { files } from '../tools/files.ts';

/** Two slots, each in a disk block of its own, so that a write torn by a power cut leaves the other one whole. */
const SLOT_DISTANCE = 4_096;
const SLOTS = [0, SLOT_DISTANCE] as const;
const SLOT_SIZE = 512;

/** A line of words that begins with the number of the record; the record with the larger number is the newer one. */
export type Slotted = { readonly number: number; readonly words: readonly string[] };

/** Writes a record in place of the older one. It needs no sync of its own if an older or torn record only says less. */
export function writeSlot(file: string, record: Slotted): void {
  const descriptor = files.openSync(file, files.constants.O_RDWR | files.constants.O_CREAT, 0o644);
  try {
    const [first, second] = SLOTS.map((offset) => readSlot(descriptor, offset)?.number ?? 0) as [
      number,
      number,
    ];
    const older = first <= second ? 0 : 1;
    files.writeSync(descriptor, encode(record), 0, null, SLOTS[older]);
  } finally {
    files.closeSync(descriptor);
  }
}

/** Returns the newest whole record of a file that is there. */
export function newestSlot(file: string): Slotted | undefined {
  const descriptor = files.openSync(file, files.constants.O_RDONLY);
  try {
    const records = SLOTS.map((offset) => readSlot(descriptor, offset)).filter((each) => each !== undefined);
    return records.sort((a, b) => b.number - a.number)[0];
  } finally {
    files.closeSync(descriptor);
  }
}

/** Returns what is neither a whole record nor empty: torn by a power cut, or altered. Later records replace it. */
export function slotFaults(file: string): string[] {
  const descriptor = files.openSync(file, files.constants.O_RDONLY);
  try {
    return SLOTS.flatMap((offset) => {
      const bytes = Buffer.alloc(SLOT_DISTANCE);
      const length = files.readSync(descriptor, bytes, 0, SLOT_DISTANCE, offset);
      const written = bytes.subarray(0, bytes.indexOf('\n') + 1);
      const isWhole = length === 0 || readSlot(descriptor, offset) !== undefined;
      const isEmptyBehind = bytes.subarray(written.length).every((byte) => byte === 0);
      return isWhole && isEmptyBehind ? [] : [`the record at byte ${offset} is not whole`];
    });
  } finally {
    files.closeSync(descriptor);
  }
}

/** A whole slot, so that nothing of what it held before stays behind the line. */
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

/** Returns numbers from 0 up to, but not including, 1. */
export type Random = () => number;

type Mutation = (bytes: Buffer, random: Random) => Buffer;

const odd = [0, 1, 2, 0x2e, 0x2f, 0x5c, 0x7f, 0x80, 0x81, 0xbf, 0xff];

/** Changes some bytes of an archive in one to four places. */
export function mutated(bytes: Buffer, random: Random): Buffer {
  let result = Buffer.from(bytes);
  for (let left = 1 + below(random, 4); left > 0 && result.length > 0; left -= 1) {
    result = pick(mutations, random)(result, random) as typeof result;
  }
  return result;
}

const mutations: readonly Mutation[] = [
  flipBit,
  flipBit,
  setByte,
  setByte,
  editInteger,
  editInteger,
  editOctal,
  truncate,
  remove,
  duplicate,
  copyOver,
  insert,
];

function flipBit(bytes: Buffer, random: Random): Buffer {
  const at = below(random, bytes.length);
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << below(random, 8)), at);
  return bytes;
}

function setByte(bytes: Buffer, random: Random): Buffer {
  bytes.writeUInt8(random() < 0.5 ? pick(odd, random) : below(random, 256), below(random, bytes.length));
  return bytes;
}

/** Replaces a number of 2, 4 or 8 bytes by the next one, the first, the last or any. */
function editInteger(bytes: Buffer, random: Random): Buffer {
  const length = pick([2, 4, 8], random);
  if (bytes.length < length) return bytes;
  const at = below(random, bytes.length - length + 1);
  const low = Math.min(length, 6);
  const value = bytes.readUIntLE(at, low);
  const limit = 2 ** (8 * low);
  const next = pick(
    [value + 1, value - 1, value + below(random, 64), 0, limit - 1, below(random, limit)],
    random,
  );
  bytes.writeUIntLE((next + limit) % limit, at, low);
  return bytes;
}

/** Replaces digits of a field in a tar header. */
function editOctal(bytes: Buffer, random: Random): Buffer {
  const field = bytes.indexOf('0000', below(random, bytes.length));
  if (field === -1) return bytes;
  const at = Math.min(field + below(random, 8), bytes.length - 4);
  bytes.write(below(random, 4096).toString(8).padStart(4, '0'), at);
  return bytes;
}

function truncate(bytes: Buffer, random: Random): Buffer {
  return random() < 0.7 ? bytes : bytes.subarray(0, below(random, bytes.length));
}

function remove(bytes: Buffer, random: Random): Buffer {
  const [from, to] = range(bytes, random);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
}

function duplicate(bytes: Buffer, random: Random): Buffer {
  const [from, to] = range(bytes, random);
  return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
}

function copyOver(bytes: Buffer, random: Random): Buffer {
  const [from, to] = range(bytes, random);
  bytes.copy(bytes, below(random, bytes.length), from, to);
  return bytes;
}

function insert(bytes: Buffer, random: Random): Buffer {
  const at = below(random, bytes.length);
  const added = Buffer.from(Array.from({ length: 1 + below(random, 16) }, () => below(random, 256)));
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)]);
}

/** Returns a range that is mostly short, sometimes whole blocks of a tar. */
function range({ length }: Buffer, random: Random): [from: number, to: number] {
  const unit = random() < 0.4 ? 512 : 1;
  const from = below(random, Math.ceil(length / unit)) * unit;
  return [from, Math.min(length, from + unit * (1 + below(random, unit === 1 ? 64 : 3)))];
}

/** Corrects the checksums of a tar's headers, so that their fields are read. */
export function withChecksums(tar: Buffer): Buffer {
  for (let at = 0; at + 512 <= tar.length; at += 512) {
    if (tar.toString('latin1', at + 257, at + 262) !== 'ustar') continue;
    tar.fill(' ', at + 148, at + 156);
    const sum = tar.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
    tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148);
  }
  return tar;
}

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[below(random, items.length)] as Item; // there are some
}

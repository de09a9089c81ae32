import { branchFilter } from './branch-filters.ts';
import type { XzFilter } from './xz-block-header.ts';

type Pieces = AsyncIterable<Buffer>;

const DELTA_ID = 3;

/** Undoes the filters of a block, the last one first. Yields each chunk in a separate buffer. */
export function unfiltered(pieces: Pieces, filters: readonly XzFilter[]): Pieces {
  return filters.reduceRight((inner, filter) => {
    return filter.id === DELTA_ID
      ? withoutDelta(inner, filter.properties[0]! + 1)
      : withRelativeBranches(inner, filter);
  }, pieces);
}

async function* withoutDelta(pieces: Pieces, distance: number): AsyncGenerator<Buffer> {
  let before: Buffer = Buffer.alloc(distance);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([before, piece]);
    for (let at = distance; at < bytes.length; at += 1) bytes[at] = bytes[at]! + bytes[at - distance]!;
    before = Buffer.from(bytes.subarray(bytes.length - distance));
    yield bytes.subarray(distance);
  }
}

async function* withRelativeBranches(pieces: Pieces, { id, properties }: XzFilter): AsyncGenerator<Buffer> {
  const filter = branchFilter(id);
  let position = properties.length === 4 ? properties.readUInt32LE(0) : 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece]);
    const done = filter.decode(bytes, position);
    position = (position + done) >>> 0;
    rest = bytes.subarray(done);
    if (done > 0) yield bytes.subarray(0, done);
  }
  if (rest.length > 0) yield rest;
}

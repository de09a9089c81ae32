import type { Readable } from 'node:stream';
import { files } from '../../tools/files.ts';
import type { BodyDigests } from '../hashing/hashing-sessions.ts';
import type { Spool } from '../spool.ts';

/** Bytes that can be sent, and sent again. */
export type Sendable = {
  readonly length: number;
  /** Both in lower-case hex digits. */
  readonly digests: { readonly sha256: string; readonly md5: string };
  /** Opens the bytes from their beginning. */
  readonly open: () => Readable | Buffer;
};

/** Resolves once the spooled bytes can be read again; no more may be written then. */
export async function sendable(spool: Spool, { sha256, md5 = '' }: BodyDigests): Promise<Sendable> {
  const { file, length } = spool;
  await file?.written();
  const open = (): Readable | Buffer => {
    if (file !== undefined) return files.createReadStream(file.path, { highWaterMark: 256 * 1024 });
    const { buffer, byteOffset, byteLength } = spool.bytes();
    return Buffer.from(buffer, byteOffset, byteLength);
  };
  return { length, digests: { sha256, md5 }, open };
}

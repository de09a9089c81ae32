import { MinorGc } from '../../tools/gc-hint.ts';
import type { FaultCode } from '../faults.ts';
import { type Hashed, hashMember } from '../members/member-hash.ts';
import { BadMember, type PackedMember, unpack } from './zip-data.ts';

/** Small members of a zip, in the order of the archive, and their packed bytes. Any thread can read them. */
export type ZipBatch = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly members: readonly BatchMember[];
};

export type BatchMember = PackedMember & { readonly isLink: boolean };

/** The facts about the bytes of a member, with the target of a link, or their fault. */
export type ReadMember =
  | { readonly hashed: Hashed; readonly target?: string }
  | { readonly fault: { readonly code: FaultCode; readonly text: string } };

const garbage = new MinorGc();

/** Unpacks, verifies and hashes the members of a batch. */
export function readBatch({ bytes, members }: ZipBatch): readonly ReadMember[] {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let end = 0;
  return members.map((member) => {
    const start = end;
    end += member.packed;
    return readMember(data.subarray(start, end), member);
  });
}

function readMember(data: Buffer, member: BatchMember): ReadMember {
  try {
    const unpacked = unpack(data, member);
    garbage.add(unpacked.length);
    const hashed = hashMember(unpacked);
    return member.isLink ? { hashed, target: unpacked.toString('latin1') } : { hashed };
  } catch (error) {
    return faultOf(error);
  }
}

/** Returns the fault of a member. @throws any other error */
export function faultOf(error: unknown): ReadMember {
  if (!(error instanceof BadMember)) throw error;
  return { fault: { code: error.code, text: error.message } };
}

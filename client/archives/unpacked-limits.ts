import type { ArchiveLimits } from '../../src/archives/archive-reader.ts';

/** The limits of one archive, unpacked, that a server may state. */
export type UnpackedLimits = Pick<ArchiveLimits, 'unpackedBytes' | 'members' | 'ratio'>;

/** Limits that only keep reading bounded, where the server decides, or is not asked. */
export const READING_LIMITS: UnpackedLimits = { unpackedBytes: 2 ** 44, members: 5_000_000, ratio: 100_000 };

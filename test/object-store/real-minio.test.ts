import type { ExecutionContext } from 'ava';
import { archiveStoreContract } from './contract.ts';
import { openBelow, realPlace } from './s3-under-test.ts';
import { sentInParts } from './sent-in-parts.ts';

const { S3_URL } = process.env;
if (S3_URL === undefined)
  throw new Error('Set S3_URL=http://key:secret@host:port/bucket, or run test/on-minio.ts.');

const open = (t: ExecutionContext) => openBelow(t, realPlace(S3_URL));

archiveStoreContract(async (t) => (await open(t)).store);
sentInParts(open);

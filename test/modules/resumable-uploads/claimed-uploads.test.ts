import path from 'node:path';
import test from 'ava';
import type { DepositQueries } from '../../../src/deposits/queries.ts';
import { EventLogUnavailable } from '../../../src/event-log/event-log.ts';
import { ClaimedUpload } from '../../../src/modules/resumable-uploads/http/claimed-upload.ts';
import { ResumableUploads } from '../../../src/modules/resumable-uploads/resumable-uploads.ts';
import { Iris } from '../../../src/sword/iris.ts';
import { silentLogger } from '../../../src/tools/logger.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';

const LIMITS = { maxSize: 1000, perClient: 10, totalSize: 10_000, expiry: 3_600_000 };
const OWNER = { client: 'alice', collection: 'software' } as const;

test('an upload named by an append of unknown outcome is used if the log executes that later', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'uploads');
  await using uploads = await ResumableUploads.open({ folder, limits: LIMITS, logger: silentLogger });
  const { id } = await uploads.create({ ...OWNER, length: 0, metadata: null });
  let isExecuted = false;
  const queries = { wasExecuted: async () => isExecuted } as unknown as DepositQueries;
  const claim = () => ClaimedUpload.claim(id, OWNER, { uploads, queries, iris: new Iris('http://x') });
  {
    using first = await claim();
    const append = async () => {
      throw new EventLogUnavailable('no answer');
    };
    const command = { depositId: 7, commandId: 'command', requestId: 'request' };
    await t.throwsAsync(first.appendClaimed(command, append), { instanceOf: EventLogUnavailable });
  }
  isExecuted = true;
  using again = await claim();
  t.like(again.upload.state, { status: 'used', depositId: 7 });
});

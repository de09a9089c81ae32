import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { atLeast, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import type { LoadRequest } from '../load/load-job.ts';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, formCreate, zipLike } from '../load/request-kinds.ts';
import { prepareFolder, startBenched } from '../servers/benched-service.ts';
import { type ServerProcess, startReference } from '../servers/server-process.ts';

const BYTES = 20_000_000;
/** Uploads of one measurement, sent sequentially. */
const UPLOADS = 10;

export const upload: Goal = {
  id: 'G4',
  what: 'raw upload, 20 MB',
  async measure(bench) {
    const [dataDir, folder] = [path.join(bench.folder, 'data'), path.join(bench.folder, 'bare')];
    await prepareFolder(dataDir);
    await mkdir(folder);
    await using service = await startBenched(dataDir);
    await using bare = await startReference('bare-upload-server.ts', { folder });
    await using load = new LoadProcess();
    const request = archiveCreate(zipLike(BYTES), { md5: true });
    const found = await interleave(bench, 'G4', {
      service: () => uploadRate(load, service, request),
      bare: () => uploadRate(load, bare, request),
    });
    return [
      {
        what: 'one at a time, with its MD5',
        unit: 'MB/s',
        ours: { name: 'service', values: found.service },
        reference: { name: 'node:http, both hashes in one thread', values: found.bare },
        wanted: atLeast(1.5),
      },
    ];
  },
};

/** Sends the same archive as the body and as a part of a form, without an MD5. */
export const multipartUpload: Goal = {
  id: 'G5',
  what: 'multipart upload, 20 MB',
  async measure(bench) {
    const dataDir = path.join(bench.folder, 'data');
    await prepareFolder(dataDir);
    await using service = await startBenched(dataDir);
    await using load = new LoadProcess();
    const archive = zipLike(BYTES);
    const found = await interleave(bench, 'G5', {
      multipart: () => uploadRate(load, service, formCreate(archive)),
      raw: () => uploadRate(load, service, archiveCreate(archive)),
    });
    return [
      {
        what: 'one at a time',
        unit: 'MB/s',
        ours: { name: 'multipart/form-data', values: found.multipart },
        reference: { name: 'raw body', values: found.raw },
        wanted: atLeast(0.7),
      },
    ];
  },
};

async function uploadRate(load: LoadProcess, { url }: ServerProcess, request: LoadRequest): Promise<number> {
  const { requests, busy } = await load.run({ url, clients: 1, request, seconds: 60, requests: UPLOADS });
  return (BYTES * requests) / 1000 / busy;
}

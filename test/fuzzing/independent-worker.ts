import { parentPort } from 'node:worker_threads';
import { BEGUN } from '../../src/archives/workers/worker-pool.ts';
import { independentTar, independentZip } from './independent-readers.ts';

// One archive at a time, one answer to each; a crash counts as an answer, too.
parentPort?.on('message', ({ kind, bytes }: { kind: 'zip' | 'tar'; bytes: Uint8Array }) => {
  parentPort?.postMessage(BEGUN);
  const read = kind === 'zip' ? independentZip : independentTar;
  read(Buffer.from(bytes)).then(
    (directory) => parentPort?.postMessage({ directory }),
    (error: Error) => parentPort?.postMessage({ refusal: error.message }),
  );
});

import { parentPort } from 'node:worker_threads';
import { ContentOutput, TarOutput } from '../members/member-output.ts';
import { readMembers } from '../read-members.ts';
import { readTreePlan, tarDirectories } from '../tree/tree-plan.ts';
import { ChunkSender } from './chunk-sender.ts';
import type { MemberJob, MemberReply } from './member-job.ts';
import { BEGUN } from './worker-pool.ts';

// Entry point of a worker thread: one job at a time, one reply to each.
parentPort?.on('message', (job: MemberJob) => void answer(job));
parentPort?.postMessage(BEGUN);

async function answer(job: MemberJob): Promise<void> {
  const reply = await work(job).then((): MemberReply => ({ kind: 'read' }), failed);
  job.port.close();
  parentPort?.postMessage(reply);
}

async function work(job: MemberJob): Promise<void> {
  const sender = new ChunkSender(job.port);
  if (job.kind === 'content') {
    const { archive, member } = job;
    await readMembers(archive, new Map([[member.path, member]]), new ContentOutput(sender));
  } else {
    const { wanted, directories, below } = readTreePlan(job);
    if (job.directories) await tarDirectories(directories, below, sender);
    await readMembers(job.archive, wanted, new TarOutput(sender, below));
  }
  await sender.finish();
}

function failed(error: Error & { code?: string }): MemberReply {
  return { kind: 'failed', error: { message: error.message, code: error.code ?? 'UNEXPECTED' } };
}

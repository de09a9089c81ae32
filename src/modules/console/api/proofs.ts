import { InvalidPosition } from '../../../event-log/position.ts';
import { ANCHORS } from '../../anchors/anchor.ts';
import { coveredEvent } from '../../anchors/merkle-leaf.ts';
import { leafHash } from '../../anchors/merkle-tree.ts';
import { MAX_EARLIER_ANCHORS } from '../proof/evidence.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, type Route, type ViewerRequest } from '../server/route.ts';
import { verifierPage } from '../server/verifier-page.ts';

/** Hashes in one answer. */
const PAGE_SIZE = 4096;

/** Returns the routes of what a browser needs to prove a deposit, besides its events. */
export function proofRoutes({ log }: Pick<ConsoleParts, 'log'>): readonly Route[] {
  let verifier: Promise<string> | undefined;
  return [
    { method: 'GET', path: '/console/api/anchors', permission: 'service:read', answer: newestAnchors },
    { method: 'GET', path: '/console/api/leaves', permission: 'service:read', answer: leavesAfter },
    { method: 'GET', path: '/console/api/verifier', permission: 'session', answer: sendVerifier },
  ];

  async function newestAnchors() {
    const newest = await Array.fromAsync(
      log.readStream(ANCHORS, { backwards: true, limit: 1 + MAX_EARLIER_ANCHORS }),
    );
    return { anchors: newest.toReversed().map(({ data }) => data) };
  }

  /** Resolves to hashes of the leaves of the Merkle tree over the log, in its order. They reveal no contents. */
  async function leavesAfter({ query }: ViewerRequest) {
    const leaves: string[] = [];
    let next: string | null = null;
    try {
      for await (const event of log.readAll({ after: query.get('after') ?? undefined })) {
        leaves.push(leafHash(coveredEvent(event)).toString('hex'));
        if (leaves.length < PAGE_SIZE) continue;
        next = event.position;
        break;
      }
    } catch (error) {
      if (!(error instanceof InvalidPosition)) throw error;
      throw new ConsoleRefusal(400, 'BAD_POSITION', error.message);
    }
    return { leaves, next };
  }

  async function sendVerifier({ ctx }: ViewerRequest): Promise<void> {
    verifier ??= verifierPage().catch((error: unknown) => {
      verifier = undefined; // its sources may be readable for the next request
      throw error;
    });
    ctx.body = await verifier;
    ctx.type = 'application/octet-stream';
    ctx.attachment('deposit-verifier.html');
  }
}

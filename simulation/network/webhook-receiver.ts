import type { CallName } from '../world/world.ts';
import { world } from '../world/world.ts';
import type { NetworkOutcome, NetworkRequest, NetworkServer } from './network-server.ts';

export type ReceiverFault = 'unreachable' | 'refuses' | 'slow' | 'loses answers';

export type Received = {
  readonly at: number;
  readonly depositId: number;
  readonly revision: number;
  readonly sender: string;
  /** The sender learns that it was accepted, unless the sender dies. */
  readonly isAnswered: boolean;
};

const ANSWER = { status: 200, headers: { 'content-length': '0' }, body: Buffer.alloc(0) };

/** The receiver of notifications, and what it has received. */
export class WebhookReceiver implements NetworkServer {
  readonly faults = new Set<ReceiverFault>();
  readonly received: Received[] = [];

  callOf(): CallName {
    return 'post';
  }

  handle({ body, process }: NetworkRequest): NetworkOutcome {
    const { now, networkRandom } = world();
    const [fault] = this.faults;
    if (fault === 'unreachable') return { kind: 'error', code: 'ECONNREFUSED' };
    if (fault === 'refuses') return { kind: 'answer', answer: { ...ANSWER, status: 500 } };
    const { data } = JSON.parse(body.toString()) as Notification;
    const isAnswered = fault !== 'loses answers' || networkRandom.chance(0.5);
    const { deposit_id: depositId, revision } = data;
    this.received.push({ at: now, depositId, revision, sender: process.name, isAnswered });
    world().note('receiver', `received deposit-${depositId}@${revision} from ${process.name}`);
    if (!isAnswered) return { kind: 'silence' };
    return { kind: 'answer', answer: ANSWER, delay: fault === 'slow' ? networkRandom.between(100, 9000) : 0 };
  }
}

type Notification = { readonly data: { readonly deposit_id: number; readonly revision: number } };

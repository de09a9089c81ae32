import type { CallName } from '../world/world.ts';
import { world } from '../world/world.ts';
import type { NetworkOutcome, NetworkRequest, NetworkServer } from './network-server.ts';

export type ReceiverFault = 'unreachable' | 'refuses' | 'asks to wait' | 'slow' | 'loses answers';

export type Received = {
  readonly at: number;
  readonly depositId: number;
  readonly revision: number;
  readonly sender: string;
  /** The sender learns that it was accepted, unless the sender dies. */
  readonly isAnswered: boolean;
};

/** A notification came again before the time that the receiver had asked for. */
export type EarlyRetry = {
  readonly name: string;
  readonly sender: string;
  readonly askedAt: number;
  readonly at: number;
  /** Virtual time up to which the receiver had asked to wait. */
  readonly waitUntil: number;
};

/** Longest `Retry-After`, in seconds. */
const LONGEST_WAIT_S = 60;

const ANSWER = { status: 200, headers: { 'content-length': '0' }, body: Buffer.alloc(0) };

/** The receiver of notifications, and what it has received. */
export class WebhookReceiver implements NetworkServer {
  readonly faults = new Set<ReceiverFault>();
  readonly received: Received[] = [];
  readonly earlyRetries: EarlyRetry[] = [];
  /** The last wait that it asked for, by notification. */
  readonly #waits = new Map<string, Pick<EarlyRetry, 'askedAt' | 'waitUntil'>>();

  callOf(): CallName {
    return 'post';
  }

  handle({ body, process }: NetworkRequest): NetworkOutcome {
    const { now, networkRandom } = world();
    const [fault] = this.faults;
    if (fault === 'unreachable') return { kind: 'error', code: 'ECONNREFUSED' };
    if (fault === 'refuses') return { kind: 'answer', answer: { ...ANSWER, status: 500 } };
    const { data } = JSON.parse(body.toString()) as Notification;
    const { deposit_id: depositId, revision } = data;
    const name = `deposit-${depositId}@${revision}`;
    const wait = this.#waits.get(name);
    if (wait && now < wait.waitUntil)
      this.earlyRetries.push({ ...wait, name, sender: process.name, at: now });
    if (fault === 'asks to wait') return this.#askToWait(name);
    const isAnswered = fault !== 'loses answers' || networkRandom.chance(0.5);
    this.received.push({ at: now, depositId, revision, sender: process.name, isAnswered });
    world().note('receiver', `received ${name} from ${process.name}`);
    if (!isAnswered) return { kind: 'silence' };
    return { kind: 'answer', answer: ANSWER, delay: fault === 'slow' ? networkRandom.between(100, 9000) : 0 };
  }

  /** Answers 429 with a `Retry-After` of seconds, or of a time of its own clock. */
  #askToWait(name: string): NetworkOutcome {
    const { now, networkRandom } = world();
    const seconds = 1 + networkRandom.int(LONGEST_WAIT_S);
    const time = world().wallClock(undefined);
    const date = new Date(time + seconds * 1000);
    const [text, waitMs] = networkRandom.chance(0.5)
      ? [`${seconds}`, seconds * 1000]
      : [date.toUTCString(), Date.parse(date.toUTCString()) - time];
    this.#waits.set(name, { askedAt: now, waitUntil: now + waitMs });
    world().note('receiver', `asked to wait ${waitMs} ms with ${name}`);
    const headers = { ...ANSWER.headers, 'retry-after': text };
    return { kind: 'answer', answer: { ...ANSWER, status: 429, headers } };
  }
}

type Notification = { readonly data: { readonly deposit_id: number; readonly revision: number } };

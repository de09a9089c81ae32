import { randomUUID } from 'node:crypto';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { StoredEvent } from './stored-log.ts';
import { eventMessage, type ReadCall, type StreamsServer, written } from './streams-service.ts';

/** Events after a position (which is exclusive, unlike for reads), then those that come, until the call ends. */
export async function serveSubscription(
  { log, subscriptions, sendsCaughtUp }: StreamsServer,
  call: ReadCall,
  options: ReadReq.Options,
): Promise<void> {
  let wake = () => {};
  const subscription = { open: true };
  const forget = log.onAppended(() => wake());
  subscriptions.add(call, () => {
    subscription.open = false;
    forget();
    wake();
  });
  await written(call, confirmation());
  const feed = new Feed(options);
  let next = feed.startIn(log.all);
  let isLive = false;
  while (subscription.open) {
    const event = log.all[next];
    if (event) {
      next += 1;
      const message = feed.messageFor(event);
      if (message) await written(call, message);
    } else if (!isLive) {
      isLive = true;
      if (sendsCaughtUp) await written(call, caughtUp());
    } else await new Promise<void>((resolve) => (wake = resolve));
  }
}

/** Decides what is sent for each event considered. */
class Feed {
  readonly #after: bigint | undefined;
  readonly #accepts: (stream: string) => boolean;
  /** Events between two checkpoints; undefined without a filter, where none are sent. */
  readonly #interval: number | undefined;
  #considered = 0;

  constructor(options: ReadReq.Options) {
    const position = options.getAll()?.getPosition();
    this.#after = position && BigInt(position.getCommitPosition());
    const filter = options.getFilter();
    this.#accepts = acceptor(filter?.getStreamIdentifier());
    this.#interval = filter && (filter.getMax() || 32) * filter.getCheckpointintervalmultiplier();
  }

  startIn(all: readonly StoredEvent[]): number {
    const after = this.#after;
    if (after === undefined) return 0;
    const index = all.findIndex(({ position }) => position > after);
    return index < 0 ? all.length : index;
  }

  messageFor(event: StoredEvent): ReadResp | undefined {
    this.#considered += 1;
    if (this.#accepts(event.stream)) return eventMessage(event);
    if (this.#interval === undefined || this.#considered < this.#interval) return undefined;
    this.#considered = 0;
    return checkpoint(event.position);
  }
}

export function acceptor(
  expression: { getRegex(): string; getPrefixList(): string[] } | undefined,
): (stream: string) => boolean {
  const prefixes = expression?.getPrefixList() ?? [];
  if (prefixes.length > 0) return (stream) => prefixes.some((prefix) => stream.startsWith(prefix));
  const regex = new RegExp(expression?.getRegex() ?? '');
  return (stream) => regex.test(stream);
}

function confirmation(): ReadResp {
  const { SubscriptionConfirmation } = messages.ReadResp;
  return new messages.ReadResp().setConfirmation(
    new SubscriptionConfirmation().setSubscriptionId(randomUUID()),
  );
}

function caughtUp(): ReadResp {
  return new messages.ReadResp().setCaughtUp(new messages.ReadResp.CaughtUp());
}

function checkpoint(position: bigint): ReadResp {
  const reached = new messages.ReadResp.Checkpoint()
    .setCommitPosition(String(position))
    .setPreparePosition(String(position));
  return new messages.ReadResp().setCheckpoint(reached);
}

import { randomUUID } from 'node:crypto';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { type Accepts, acceptor, filterOf } from '../groups/event-filter.ts';
import type { LogView } from '../storage/log-view.ts';
import { isHiddenFromAll, type StoredEvent } from '../storage/stored-events.ts';
import type { ServiceContext } from './service-context.ts';
import { eventMessage, type ReadCall, streamOf, written } from './wire-events.ts';

const PAGE = 200;

/** Sends the events behind a position or revision, which is left out, then those that come, until the call ends. */
export async function serveSubscription(
  { node, subscriptions, sendsCaughtUp }: ServiceContext,
  call: ReadCall,
  options: ReadReq.Options,
): Promise<void> {
  let wake = () => {};
  const subscription = { open: true };
  const forget = node.onVisible(() => wake());
  subscriptions.add(call, () => {
    subscription.open = false;
    forget();
    wake();
  });
  await written(call, confirmation());
  const feed = options.hasAll() ? new AllFeed(node.view, options) : new StreamFeed(node.view, options);
  let isLive = false;
  while (subscription.open) {
    await node.gate.open();
    const page = feed.next();
    for (const message of page) {
      if (subscription.open) await written(call, message);
    }
    if (page.length > 0) continue;
    if (!isLive && sendsCaughtUp) await written(call, caughtUp());
    else await new Promise<void>((resolve) => (wake = resolve));
    isLive = true;
  }
}

/** Returns the messages for the events that are there, in pages. */
type Feed = { next(): readonly ReadResp[] };

/** Decides what is sent for each event considered. */
class AllFeed implements Feed {
  readonly #view: LogView;
  readonly #accepts: Accepts;
  /** The number of events between two checkpoints; undefined without a filter, where none are sent. */
  readonly #interval: number | undefined;
  #considered = 0;
  #next: bigint;

  constructor(view: LogView, options: ReadReq.Options) {
    this.#view = view;
    const all = options.getAll();
    const position = all?.getPosition();
    this.#next = position ? BigInt(position.getCommitPosition()) + 1n : all?.hasEnd() ? view.end : 0n;
    const filter = options.getFilter();
    this.#accepts = acceptor(filterOf(filter));
    this.#interval = filter && (filter.getMax() || 32) * filter.getCheckpointintervalmultiplier();
  }

  next(): readonly ReadResp[] {
    const found: ReadResp[] = [];
    let page: readonly StoredEvent[];
    do {
      page = this.#view.page(this.#next, { count: PAGE });
      for (const event of page) {
        this.#next = event.position + 1n;
        const message = this.#messageFor(event);
        if (message) found.push(message);
      }
    } while (found.length === 0 && page.length > 0);
    return found;
  }

  #messageFor(event: StoredEvent): ReadResp | undefined {
    this.#considered += 1;
    if (this.#accepts(event)) return eventMessage(event);
    if (this.#interval === undefined || this.#considered < this.#interval) return undefined;
    this.#considered = 0;
    return isHiddenFromAll(event.stream) ? undefined : checkpoint(event.position);
  }
}

class StreamFeed implements Feed {
  readonly #view: LogView;
  readonly #stream: string;
  #next: number;

  constructor(view: LogView, options: ReadReq.Options) {
    this.#view = view;
    const from = options.getStream();
    this.#stream = streamOf(from?.getStreamIdentifier());
    const next = view.stateOf(this.#stream).nextRevision;
    this.#next = from?.hasRevision() ? Number(from.getRevision()) + 1 : from?.hasEnd() ? next : 0;
  }

  next(): readonly ReadResp[] {
    const page = this.#view.pageOf(this.#stream, this.#next, { count: PAGE }) ?? [];
    this.#next = (page.at(-1)?.revision ?? this.#next - 1) + 1;
    return page.map(eventMessage);
  }
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

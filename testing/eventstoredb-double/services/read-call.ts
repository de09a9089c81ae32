import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { LogView } from '../storage/log-view.ts';
import { isHiddenFromAll, type StoredEvent } from '../storage/stored-events.ts';
import { serveSubscription } from './catch-up-subscription.ts';
import { hostOf, refusalOf, type ServiceContext } from './service-context.ts';
import { eventMessage, type ReadCall, streamOf, written } from './wire-events.ts';

const END = 2n ** 64n - 1n;
/** The largest number that the storage compares with. */
const LAST = 2n ** 62n;
const PAGE = 200;

/** Serves a read or a catch-up subscription, which are one method of the protocol. */
export async function serveRead(context: ServiceContext, call: ReadCall): Promise<void> {
  const options = call.request.getOptions() as ReadReq.Options;
  const isSubscription = options.hasSubscription();
  const fault = context.faults.meet(isSubscription ? 'subscribe' : 'read');
  const stream = options.hasAll() ? '$all' : streamOf(options.getStream()?.getStreamIdentifier());
  const refused = await refusalOf(context, call.metadata, {
    fault,
    deed: { do: 'read', stream },
    host: hostOf(call),
  });
  if (call.cancelled) return;
  if (refused) return void call.emit('error', refused);
  if (isSubscription) return serveSubscription(context, call, options);
  const { view } = context.node;
  const events = options.hasAll() ? allEvents(view, options) : streamEvents(view, stream, options);
  if (!events) await written(call, streamNotFound(options));
  let left = Number(options.getCount());
  for (const event of events ?? []) {
    if (left === 0 || call.cancelled) break;
    left -= 1;
    await written(call, eventMessage(event));
  }
  call.end();
}

function* allEvents(view: LogView, options: ReadReq.Options): Generator<StoredEvent> {
  const from = options.getAll();
  const backwards = isBackwards(options);
  const position = BigInt(from?.getPosition()?.getCommitPosition() ?? 0);
  const isEnd = from?.hasEnd() || position === END;
  // A position is included forwards, and left out backwards.
  let next = backwards ? (isEnd ? LAST : position - 1n) : from?.hasPosition() ? position : 0n;
  while (true) {
    const page = view.page(next, { count: PAGE, backwards });
    yield* page.filter(({ stream }) => !isHiddenFromAll(stream));
    const last = page.at(-1);
    if (!last) return;
    next = backwards ? last.position - 1n : last.position + 1n;
  }
}

/** Returns undefined when there is no such stream. */
function streamEvents(
  view: LogView,
  stream: string,
  options: ReadReq.Options,
): Iterable<StoredEvent> | undefined {
  const from = options.getStream();
  const backwards = isBackwards(options);
  const revision = from?.hasRevision() ? Number(from.getRevision()) : undefined;
  const start = revision ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
  const first = view.pageOf(stream, start, { count: PAGE, backwards });
  return first && pagesOf(view, stream, first, backwards);
}

function* pagesOf(
  view: LogView,
  stream: string,
  first: readonly StoredEvent[],
  backwards: boolean,
): Generator<StoredEvent> {
  let page: readonly StoredEvent[] | undefined = first;
  while (page && page.length > 0) {
    yield* page;
    const { revision } = page.at(-1) as StoredEvent;
    page = view.pageOf(stream, backwards ? revision - 1 : revision + 1, { count: PAGE, backwards });
  }
}

function isBackwards(options: ReadReq.Options): boolean {
  return options.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS;
}

function streamNotFound(options: ReadReq.Options): ReadResp {
  const identifier = options.getStream()?.getStreamIdentifier();
  return new messages.ReadResp().setStreamNotFound(
    new messages.ReadResp.StreamNotFound().setStreamIdentifier(identifier),
  );
}

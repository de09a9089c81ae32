import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type StatusChange,
  type StatusChangeContext,
  statusChangeDocument,
} from '../../deposits/status-change.ts';
import type { ServiceContext } from '../../http/service-context.ts';
import { EVENT_STREAM_TYPE } from '../../sword/headers/media-type.ts';
import { clock } from '../../tools/clock.ts';
import type { OpenStream } from './event-streams.ts';
import type { StatusChangeSource } from './status-change-sources.ts';

export type EventsOptions = StatusChangeContext & {
  /** Returns whether the client may still receive changes. */
  readonly isAllowed: () => boolean;
};

/** Maximum milliseconds without output while the source yields nothing, however often the stream is woken. */
const HEARTBEAT_MS = 15_000;
/** Milliseconds after which a client reconnects: usually, and when no change is expected. */
const [RETRY_MS, RETRY_WHEN_OVER_MS] = [3000, 60_000];

/**
 * Answers with Server-Sent Events until the source is over, the stream is closed or the client is gone. Reads only as
 * fast as the client, so a slow one costs no memory; the server's idle timeout disconnects one that reads nothing. A
 * half-closed client has usually gone: it gets the available events only.
 */
export async function answerEvents(
  ctx: ServiceContext,
  source: StatusChangeSource,
  stream: OpenStream,
  options: EventsOptions,
): Promise<void> {
  announceEvents(ctx);
  ctx.respond = false;
  ctx.res.statusCode = 200;
  ctx.res.once('close', () => stream.close());
  const { socket } = ctx.req;
  const wake = (): void => stream.wake();
  socket.once('end', wake);
  const texts = eventTexts(source, stream, { ...options, hasClientLeft: () => socket.readableEnded });
  try {
    await pipeline(Readable.from(texts, { objectMode: true, highWaterMark: 1 }), ctx.res);
  } finally {
    socket.off('end', wake);
  }
}

/** Sets the headers of a stream, also for HEAD. */
export function announceEvents(ctx: ServiceContext): void {
  ctx.status = 200;
  ctx.set('Content-Type', EVENT_STREAM_TYPE);
  ctx.set('X-Accel-Buffering', 'no'); // stops proxies from buffering events
}

async function* eventTexts(
  source: StatusChangeSource,
  stream: OpenStream,
  { hasClientLeft, ...options }: EventsOptions & { readonly hasClientLeft: () => boolean },
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n${idLine(source)}\n`;
  let lastOutput = clock.monotonic();
  for (
    let wakeup = await stream.waitForChange(0);
    wakeup !== 'closed';
    wakeup = await stream.waitForChange(Math.max(0, lastOutput + HEARTBEAT_MS - clock.monotonic()))
  ) {
    if (!options.isAllowed()) return;
    if (wakeup === 'some') {
      for await (const { token, change } of source.more()) {
        if (!options.isAllowed()) return; // permissions may have changed during a long read
        yield eventText(token, change, options);
        lastOutput = clock.monotonic();
      }
    }
    if (clock.monotonic() - lastOutput >= HEARTBEAT_MS) {
      yield `${idLine(source) || ':\n'}\n`;
      lastOutput = clock.monotonic();
    }
    if (hasClientLeft()) return;
    if (!source.isOver) continue;
    yield `retry: ${RETRY_WHEN_OVER_MS}\n\n`;
    return;
  }
}

/** Returns the line from which a client resumes that has received no event since; empty if that is its last event. */
function idLine({ token }: StatusChangeSource): string {
  return token === undefined ? '' : `id: ${token}\n`;
}

/** Renders one event. JSON contains no line breaks. */
function eventText(token: string, event: StatusChange, renderContext: StatusChangeContext): string {
  const change = statusChangeDocument(event, renderContext);
  const name = change.type === 'deposit.deleted' ? 'deleted' : 'status';
  return `id: ${token}\nevent: ${name}\ndata: ${JSON.stringify(change)}\n\n`;
}

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NewsLanguage } from '../../news/deposit-news.ts';
import { type NewsEvent, tell } from '../../news/deposit-news.ts';
import type { ServiceContext } from '../service-context.ts';
import type { OpenStream } from './open-stream.ts';

/** What a stream tells, in order. */
export interface NewsSource {
  /** What has come since it was last asked, each with the token that resumes behind it. */
  more(): AsyncIterable<{ readonly token: string; readonly news: NewsEvent }>;
  /** Resumes where the source is now, when that is known to be further than the last news. */
  readonly token: string | undefined;
  /** Nothing follows, or nothing soon. */
  readonly isOver: boolean;
}

export type EventsOptions = NewsLanguage & {
  /** Whether the client may still be told. */
  readonly isAllowed: () => boolean;
};

export const EVENTS_TYPE = 'text/event-stream;charset=utf-8';
const HEARTBEAT = 15_000;
/** Milliseconds after which a client comes again when its stream has ended: usually, and when nothing is on its way. */
const [RETRY, RETRY_WHEN_OVER] = [3000, 60_000];

/**
 * Answers with Server-Sent Events until the source is over, the stream is closed or the client is gone. Nothing is
 * read that the client has not taken, so a slow one costs no memory; one that takes nothing is cut off by the idle time of the server.
 * Who has ended his side of the connection has gone as a rule, and is told no more than there is.
 */
export async function answerEvents(
  ctx: ServiceContext,
  source: NewsSource,
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
  const texts = told(source, stream, { ...options, isLeft: () => socket.readableEnded });
  try {
    await pipeline(Readable.from(texts, { objectMode: true, highWaterMark: 1 }), ctx.res);
  } finally {
    socket.off('end', wake);
  }
}

/** The head alone, of a stream that would be opened. */
export function announceEvents(ctx: ServiceContext): void {
  ctx.status = 200;
  ctx.set('Content-Type', EVENTS_TYPE);
  ctx.set('X-Accel-Buffering', 'no'); // proxies are not to hold events back
}

async function* told(
  source: NewsSource,
  stream: OpenStream,
  { isLeft, ...options }: EventsOptions & { readonly isLeft: () => boolean },
): AsyncGenerator<string> {
  yield `retry: ${RETRY}\n\n`;
  for (let left = await stream.news(0); left !== 'closed'; left = await stream.news(HEARTBEAT)) {
    if (!options.isAllowed()) return;
    if (left === 'none') yield source.token === undefined ? ':\n\n' : `id: ${source.token}\n\n`;
    else {
      for await (const { token, news } of source.more()) {
        if (!options.isAllowed()) return; // much may have been told since it was asked
        yield eventText(token, news, options);
      }
    }
    if (isLeft()) return;
    if (!source.isOver) continue;
    yield `retry: ${RETRY_WHEN_OVER}\n\n`;
    return;
  }
}

/** JSON has no line break of its own. */
function eventText(token: string, event: NewsEvent, language: NewsLanguage): string {
  const news = tell(event, language);
  const name = news.type === 'deposit.deleted' ? 'deleted' : 'status';
  return `id: ${token}\nevent: ${name}\ndata: ${JSON.stringify(news)}\n\n`;
}

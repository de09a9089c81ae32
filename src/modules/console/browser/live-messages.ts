import type { LiveChange } from '../protocol/live-change.ts';
import { getStream } from './api.ts';

/** A message of the event stream: that it has begun, or the changes that arrived together. */
export type LiveMessage = 'open' | readonly LiveChange[];

/** Milliseconds without a byte after which the connection counts as lost: the server sends comments more often. */
const MAX_SILENCE_MS = 20_000;

/**
 * Yields the messages of one connection to the event stream. `EventSource` gives up once it was refused, and does not
 * notice a connection that was lost without a sign.
 * @throws {Error} the connection was refused, lost or stopped
 */
export async function* liveMessages(stop: AbortSignal): AsyncGenerator<LiveMessage> {
  const lost = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => lost.abort(), MAX_SILENCE_MS);
  };
  try {
    wait();
    const stream = await getStream('/console/api/live', AbortSignal.any([stop, lost.signal]));
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    yield 'open';
    let rest = '';
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      wait();
      const blocks = (rest + read.value).split('\n\n');
      rest = blocks.pop() ?? '';
      yield blocks.flatMap(changeIn);
    }
  } finally {
    clearTimeout(timer);
    lost.abort();
  }
}

/** Returns the change in a block of the stream; none for a comment. */
function changeIn(block: string): LiveChange[] {
  const [, data] = /^event: change\ndata: (.*)$/s.exec(block) ?? []; // JSON may contain U+2028 and U+2029
  return data === undefined ? [] : [JSON.parse(data) as LiveChange]; // the server is of the same release
}

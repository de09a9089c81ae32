import type { TestClient } from './test-client.ts';

export type SentEvent = {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly status: string | undefined;
  readonly deposit: number | undefined;
  readonly data: { readonly type: string; readonly data: Record<string, unknown> } | undefined;
  readonly retry: string | undefined;
};

/** Reads Server-Sent Events as they come. */
export class EventSource implements AsyncDisposable {
  readonly answer: Response;
  readonly #events: AsyncGenerator<SentEvent>;
  readonly #abort: AbortController;

  static async open(
    client: TestClient,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<EventSource> {
    const abort = new AbortController();
    const answer = await client.send('GET', path, { headers, signal: abort.signal });
    return new EventSource(answer, abort);
  }

  private constructor(answer: Response, abort: AbortController) {
    this.answer = answer;
    this.#abort = abort;
    this.#events = eventsOf(answer);
  }

  /** Resolves to the next event with data. @throws when the stream ends before. */
  async next(): Promise<SentEvent> {
    for (;;) {
      const { value, done } = await this.#events.next();
      if (done) throw new Error('The stream has ended.');
      if (value.data) return value;
    }
  }

  /** Resolves to the statuses, or else the names, of the next events with data. */
  async statuses(count: number): Promise<string[]> {
    const names: string[] = [];
    while (names.length < count) {
      const { status, event } = await this.next();
      names.push(status ?? event ?? '');
    }
    return names;
  }

  /** Resolves to all events up to the end, which has to be a clean one. */
  async rest(): Promise<SentEvent[]> {
    const rest: SentEvent[] = [];
    for (let step = await this.#events.next(); !step.done; step = await this.#events.next())
      rest.push(step.value);
    return rest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#events.return(undefined).catch(() => undefined);
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<SentEvent> {
  let text = '';
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const blocks = `${text}${chunk}`.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) yield parsed(block);
  }
}

function parsed(block: string): SentEvent {
  const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
  const text = fields.get('data');
  const data = text === undefined ? undefined : (JSON.parse(text) as NonNullable<SentEvent['data']>);
  return {
    id: fields.get('id'),
    event: fields.get('event'),
    retry: fields.get('retry'),
    status: data?.data['deposit_status'] as string | undefined,
    deposit: data?.data['deposit_id'] as number | undefined,
    data,
  };
}

import { json } from 'node:stream/consumers';
import { LocalServer } from '../http/local-server.ts';

type Value = { readonly stringValue?: string; readonly intValue?: number | string };
type Attribute = { readonly key: string; readonly value: Value };

export type ReceivedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Missing or empty in the root span of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
};

type TracesRequest = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
};

/** Receives traces like a collector: OTLP over HTTP, as JSON. */
export class TraceCollector implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  readonly resource = new Map<string, string | undefined>();
  readonly #server = new LocalServer((req, res) => {
    if (req.method !== 'POST' || req.url !== '/v1/traces') res.writeHead(404).end();
    else
      void json(req)
        .then((request) => this.#take(request as TracesRequest), String)
        .then(() => res.end('{}'));
  });

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    await collector.#server.listen();
    return collector;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Returns the single span of this name. */
  named(name: string): ReceivedSpan | undefined {
    return this.spans.find((span) => span.name === name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }

  #take({ resourceSpans }: TracesRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const { key, value } of resource.attributes) this.resource.set(key, value.stringValue);
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
    }
  }
}

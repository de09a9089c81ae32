import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

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
  readonly #server: Server;

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    const { promise, resolve } = Promise.withResolvers<void>();
    collector.#server.listen(0, '127.0.0.1', resolve);
    await promise;
    return collector;
  }

  private constructor() {
    this.#server = createServer((req, res) => {
      if (req.method !== 'POST' || req.url !== '/v1/traces') res.writeHead(404).end();
      else
        void json(req)
          .then((request) => this.#take(request as TracesRequest), String)
          .then(() => res.end('{}'));
    });
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // it listens on TCP
    return `http://127.0.0.1:${port}`;
  }

  /** Returns the single span of this name. */
  named(name: string): ReceivedSpan | undefined {
    return this.spans.find((span) => span.name === name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  #take({ resourceSpans }: TracesRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const { key, value } of resource.attributes) this.resource.set(key, value.stringValue);
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
    }
  }
}

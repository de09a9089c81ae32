import { SpanKind } from '@opentelemetry/api';
import type { RecordedEvent } from '../../event-log/event-log.ts';
import type { Reactor } from '../../reactors/reactor.ts';
import { contextIn, inSpan } from '../../tools/span.ts';

/** Wraps each attempt of a reaction in a span, in the trace of the request that caused the event. */
export class TracedReactor implements Reactor {
  readonly #reactor: Reactor;

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  get name(): string {
    return this.#reactor.name;
  }

  get streamPrefix(): string {
    return this.#reactor.streamPrefix;
  }

  reactsTo(event: RecordedEvent): boolean {
    return this.#reactor.reactsTo(event);
  }

  ownerOf(event: RecordedEvent): Promise<string> {
    return this.#reactor.ownerOf(event);
  }

  react(event: RecordedEvent, signal: AbortSignal): Promise<void> {
    return this.#traced(`${this.name} ${event.type}`, event, () => this.#reactor.react(event, signal));
  }

  giveUp(event: RecordedEvent, error: unknown): Promise<void> {
    return this.#traced(`${this.name} gives up`, event, () => this.#reactor.giveUp(event, error));
  }

  #traced(name: string, event: RecordedEvent, work: () => Promise<void>): Promise<void> {
    const { id, stream, revision, metadata } = event;
    const attributes = { 'deposit.event': id, 'deposit.stream': stream, 'deposit.revision': revision };
    return inSpan(name, { attributes, parent: contextIn(metadata), kind: SpanKind.CONSUMER }, work);
  }
}

import {
  type Attributes,
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  ProxyTracer,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { messageOf } from './coded-error.ts';

const TRACER = 'source-deposit-service';
/** The span of all work while nothing is traced. */
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Returns the tracer, unless nothing is traced: the API would then make spans and contexts that record nothing. */
function activeTracer(): Tracer | undefined {
  const tracer = trace.getTracer(TRACER);
  return tracer instanceof ProxyTracer ? undefined : tracer;
}

type SpanOptions = {
  readonly attributes?: Attributes;
  /** Parent of the span; the active span by default. */
  readonly parent?: Context;
  readonly kind?: SpanKind;
};

/** Runs the work in a span that ends with it; a rejection is recorded. */
export function inSpan<Result>(
  name: string,
  { attributes = {}, parent = context.active(), kind = SpanKind.INTERNAL }: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  const tracer = activeTracer();
  if (!tracer) return work(NO_SPAN);
  return tracer.startActiveSpan(name, { attributes, kind }, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      recordFailure(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** A span for a request of a client, which may be part of the client's trace. */
type ServerSpan = {
  readonly run: <Result>(work: () => Result) => Result;
  /** Ends the span, under its final name. */
  readonly end: (name: string, attributes: Attributes, failed: boolean) => void;
};

export function beginServerSpan(
  name: string,
  headers: Readonly<Record<string, unknown>>,
  attributes: Attributes,
): ServerSpan {
  const tracer = activeTracer();
  if (!tracer) return NO_SERVER_SPAN;
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const span = tracer.startSpan(name, { attributes, kind: SpanKind.SERVER }, parent);
  return {
    run: (work) => context.with(trace.setSpan(parent, span), work),
    end: (better, more, failed) => {
      span.updateName(better).setAttributes(more);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** The span of a request that is not traced. */
export const NO_SERVER_SPAN: ServerSpan = { run: (work) => work(), end: () => undefined };

/** Returns the active span in the format of W3C Trace Context; `undefined` without one. */
export function traceparent(): string | undefined {
  if (!activeTracer()) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Returns the trace context in which the event with these metadata was created. */
export function contextIn({ traceparent: written }: { readonly traceparent?: unknown }): Context {
  return typeof written === 'string'
    ? propagation.extract(ROOT_CONTEXT, { traceparent: written })
    : ROOT_CONTEXT;
}

function recordFailure(span: Span, error: unknown): void {
  const message = messageOf(error);
  span.recordException(error instanceof Error ? error : message);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/* Without tracing all of this has no effect: the API then returns spans that record nothing. */
const TRACER = 'source-deposit-service';

type SpanOptions = {
  readonly attributes?: Attributes;
  /** Parent of the span; the active span by default. */
  readonly parent?: Context;
  readonly kind?: SpanKind;
};

/** Runs the work in a span that ends with it; a thrown error is recorded. */
export function inSpan<Result>(
  name: string,
  { attributes = {}, parent = context.active(), kind = SpanKind.INTERNAL }: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  return trace.getTracer(TRACER).startActiveSpan(name, { attributes, kind }, parent, async (span) => {
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
  /** Runs work in the span. */
  readonly run: <Result>(work: () => Result) => Result;
  /** Ends the span, under its final name. */
  readonly end: (name: string, attributes: Attributes, failed: boolean) => void;
};

export function beginServerSpan(
  name: string,
  headers: Readonly<Record<string, unknown>>,
  attributes: Attributes,
): ServerSpan {
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const span = trace.getTracer(TRACER).startSpan(name, { attributes, kind: SpanKind.SERVER }, parent);
  return {
    run: (work) => context.with(trace.setSpan(parent, span), work),
    end: (better, more, failed) => {
      span.updateName(better).setAttributes(more);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Returns the active span in the format of W3C Trace Context; `undefined` without one. */
export function traceparent(): string | undefined {
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
  const message = error instanceof Error ? error.message : String(error);
  span.recordException(error instanceof Error ? error : message);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

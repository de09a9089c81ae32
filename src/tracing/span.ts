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

/*
 * Nothing of this does anything unless tracing was switched on: the API then answers with spans that keep nothing.
 */
const TRACER = 'source-deposit-service';

export type SpanOptions = {
  readonly attributes?: Attributes;
  /** What it is part of; what is under way, when left out. */
  readonly parent?: Context;
  readonly kind?: SpanKind;
};

/** Does the work in a span, which ends with it; an error that leaves it is recorded. */
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

/** What is done for another's request, which may itself be part of a trace. */
export type ServerSpan = {
  /** Does work in the span. */
  readonly run: <Result>(work: () => Result) => Result;
  /** By now it may have a better name. */
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

/** The span that is under way, as W3C Trace Context writes it; nothing when there is none. */
export function traceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** What was under way when the event with these metadata was made. */
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

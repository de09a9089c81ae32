import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { clock } from '../tools/clock.ts';
import type { Logger } from '../tools/logger.ts';
import { parseJson } from '../tools/parse-json.ts';

/** Milliseconds from one warning to the next: without its collector the SDK reports each batch of spans as an error. */
const WARNING_INTERVAL_MS = 60_000;

/**
 * Exports the spans of this process as the `OTEL_…` variables say, which the SDK reads itself. Disposing sends the
 * remaining ones within `OTEL_EXPORTER_OTLP_TIMEOUT` (10 s). The only file that imports the SDK: it is loaded when
 * tracing is switched on.
 */
export function startTracing(logger: Logger, about: { name: string; version: string }): AsyncDisposable {
  const log = (message: string, more = {}): void => logger.warn({ message, ...more }, 'tracing');
  logDiagnosesBy(log); // of variables: each is another one
  const named = resourceFromAttributes({ 'service.name': about.name, 'service.version': about.version });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  logDiagnosesBy(sometimes(log));
  return {
    [Symbol.asyncDispose]: async () => {
      for (const registered of [trace, context, propagation]) registered.disable();
      await provider.shutdown().catch((error: unknown) => log(String(error)));
      diag.disable();
    },
  };
}

function logDiagnosesBy(log: (message: string) => void): void {
  const warn = (text: string): void => log(messageOf(text));
  const quiet = (): void => undefined;
  const logLevel = DiagLogLevel.WARN;
  const logger = { error: warn, warn, info: quiet, debug: quiet, verbose: quiet };
  diag.setLogger(logger, { logLevel, suppressOverrideMessage: true });
}

/** Logs one message in each interval at most, with the number of those left out since the one before. */
function sometimes(log: (message: string, more: { readonly leftOut: number }) => void) {
  let [nextAt, leftOut] = [-Infinity, 0];
  return (message: string): void => {
    if (clock.monotonic() < nextAt) {
      leftOut += 1;
      return;
    }
    log(message, { leftOut });
    [nextAt, leftOut] = [clock.monotonic() + WARNING_INTERVAL_MS, 0];
  };
}

/** Returns the message of an error that the SDK reports as JSON, with its stack; or the text as it is. */
function messageOf(text: string): string {
  return (parseJson(text) as { readonly message?: string } | undefined)?.message ?? text;
}

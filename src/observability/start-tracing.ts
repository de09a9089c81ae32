import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Logger } from '../tools/logger.ts';

/**
 * Exports the spans of this process as the `OTEL_…` variables say, which the SDK reads itself. Disposing
 * sends the remaining ones within `OTEL_EXPORTER_OTLP_TIMEOUT` (10 s). The only file that imports the SDK: it
 * is loaded when tracing is switched on.
 */
export function startTracing(logger: Logger, about: { name: string; version: string }): AsyncDisposable {
  const warn = (message: string): void => logger.warn({ message }, 'tracing');
  const quiet = (): void => undefined;
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN);
  const named = resourceFromAttributes({ 'service.name': about.name, 'service.version': about.version });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return {
    [Symbol.asyncDispose]: async () => {
      for (const registered of [trace, context, propagation]) registered.disable();
      await provider.shutdown().catch((error: unknown) => warn(String(error)));
      diag.disable();
    },
  };
}

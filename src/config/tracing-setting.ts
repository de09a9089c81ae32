/** Tracing as the standard variables of OpenTelemetry configure it; its SDK reads the other variables itself. */
type TracingSetting = { readonly tracing: boolean; readonly problems: readonly string[] };

/** Enables tracing if an endpoint or an exporter is configured and no variable disables it. */
export function readTracing(env: NodeJS.ProcessEnv): TracingSetting {
  const read = (name: string): string => env[name]?.trim() ?? '';
  const exporter = read('OTEL_TRACES_EXPORTER');
  const endpoint = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || read('OTEL_EXPORTER_OTLP_ENDPOINT');
  const protocol = read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || read('OTEL_EXPORTER_OTLP_PROTOCOL');
  const isDisabled = /^true$/i.test(read('OTEL_SDK_DISABLED')) || exporter === 'none';
  if (isDisabled || (exporter === '' && endpoint === '')) return { tracing: false, problems: [] };
  const problems = [
    ...(exporter === '' || exporter === 'otlp'
      ? []
      : [`OTEL_TRACES_EXPORTER=${exporter}: must be otlp or none`]),
    ...(endpoint === '' || URL.canParse(endpoint)
      ? []
      : [
          'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT: the address for traces is not a URL',
        ]),
    ...(protocol === 'grpc' ? [GRPC] : []),
  ];
  return { tracing: true, problems };
}

const GRPC =
  'OTEL_EXPORTER_OTLP_PROTOCOL=grpc: traces are sent over HTTP, as JSON; set http/json and the HTTP endpoint of the collector';

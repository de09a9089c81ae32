import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { trace } from '@opentelemetry/api';
import test, { type ExecutionContext } from 'ava';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import { chainHash, hashOf } from '../../src/event-log/integrity/hash-chain.ts';
import { WebhookKey } from '../../src/modules/webhooks/webhook-key.ts';
import { startTracing } from '../../src/observability/start-tracing.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import type { Logger } from '../../src/tools/logger.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { final, formType, helloForm } from '../../testing/http/deposit-bodies.ts';
import { EventSource } from '../../testing/http/event-source.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { type ReceivedSpan, TraceCollector } from '../../testing/service/trace-collector.ts';
import { WebhookReceiver } from '../../testing/service/webhook-receiver.ts';

const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

test('one trace leads from the request, within the trace of its caller, to the load', async (t) => {
  await using collector = await TraceCollector.start();
  const events = await depositIn(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'deposits-of-a-test',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    DEPOSIT_BASE_URL: 'https://deposit.example/', // a proxy ends TLS
    DEPOSIT_TRUST_PROXY: 'true',
  });
  t.is(collector.resource.get('service.name'), 'deposits-of-a-test');
  t.is(collector.resource.get('deployment.environment.name'), 'test');

  const post = collector.named('POST /1/:collection');
  t.like(post, { traceId: CALLER.traceId, parentSpanId: CALLER.spanId });
  t.is(post?.attributes.find(({ key }) => key === 'url.scheme')?.value.stringValue, 'https');
  const checker = collector.named('checker DepositCompleted');
  t.is(checker?.parentSpanId, post?.spanId);
  // The check has loaded the deposit. The loader skips its event, unless the state of the stream was dropped.
  const loader = collector.named('loader DepositVerified');
  const ofLoader = loader ? ['loader DepositVerified'] : [];
  t.deepEqual(childrenOf(post, collector), [
    'append',
    'append',
    'archive store put',
    'archive store put',
    'checker DepositCompleted',
  ]);
  t.deepEqual(childrenOf(checker, collector), [
    'append',
    'archive store check_out',
    'archive store put',
    'archive store put',
    ...ofLoader,
    'read archive',
  ]);
  const ofTrace = collector.spans.filter(({ traceId }) => traceId === CALLER.traceId);
  t.is(ofTrace.length, 11 + ofLoader.length);
  t.false(ofTrace.some(({ status }) => status.code === 2));
  t.not(collector.named('GET /1/:collection/events')?.status.code ?? 2, 2, 'its client has disconnected');
  t.false(collector.spans.some(({ name }) => name.includes('health')));

  const written = Object.fromEntries(events.map(({ type, metadata }) => [type, metadata['traceparent']]));
  t.is(written['DepositCompleted'], `00-${CALLER.traceId}-${post?.spanId}-01`);
  t.is(written['DepositVerified'], `00-${CALLER.traceId}-${checker?.spanId}-01`);
  t.is(written['DepositLoaded'], `00-${CALLER.traceId}-${checker?.spanId}-01`);
  for (const event of events) t.is(hashOf(event.stream, event.revision, event), chainHash(event) ?? '');
});

test('appends of the notifier are in its span, in the trace of the request and of a retry', async (t) => {
  await using collector = await TraceCollector.start();
  await using receiver = await WebhookReceiver.start();
  receiver.manners = () => (receiver.received.length === 1 ? 500 : 204);
  await depositIn(
    t,
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, DEPOSIT_WEBHOOK_ALLOW_PRIVATE: 'true' },
    { receiver },
  );
  const first = collector.named('notifier DepositCreated');
  t.like(first, { traceId: CALLER.traceId, parentSpanId: collector.named('POST /1/:collection')?.spanId });
  t.deepEqual(childrenOf(first, collector), ['append']);
  const retry = collector.named('notifier retries');
  t.true(childrenOf(retry, collector).length >= 2, 'the claim and the outcome');
  const roots = collector.spans.filter(({ name, parentSpanId }) => name === 'append' && !parentSpanId);
  t.deepEqual(roots, []);
});

test("the caller's sampling decision applies: an unsampled one leaves no spans, and its trace is propagated", async (t) => {
  await using collector = await TraceCollector.start();
  const traced = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
  };
  const sampled = { ...traced, OTEL_TRACES_SAMPLER: 'parentbased_always_on' };
  const events = await depositIn(t, sampled, { flags: '00' });
  t.deepEqual(
    collector.spans.filter(({ traceId }) => traceId === CALLER.traceId),
    [],
  );
  for (const { type, metadata } of events) {
    t.regex(metadata['traceparent'] as string, new RegExp(`^00-${CALLER.traceId}-[0-9a-f]{16}-00$`), type);
  }
});

test('without the variables, or disabled, nothing is traced, written or loaded', async (t) => {
  await using collector = await TraceCollector.start();
  const events = await depositIn(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SDK_DISABLED: 'true',
  });
  t.deepEqual(collector.spans, []);
  t.true(events.length > 0);
  for (const { type, metadata } of events) t.false('traceparent' in metadata, type);

  const program = `
    await import('./src/service/process/process.ts');
    const { createRequire } = await import('node:module');
    const { cache } = createRequire(process.cwd() + '/x.js');
    console.log(Object.keys(cache).filter((file) => /opentelemetry.(sdk|exporter|otlp)/.test(file)).length,
      Object.keys(cache).some((file) => /opentelemetry.api/.test(file)));
  `;
  const cwd = path.join(import.meta.dirname, '../..');
  const ran = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd });
  t.is(ran.stdout, '0 true\n', 'the API alone, whose spans do nothing');
});

test.serial('a collector that refuses spans causes one warning a minute', async (t) => {
  let requests = 0;
  const collector = createServer((request, response) => {
    request.resume();
    response.writeHead(503, { 'Retry-After': '3600' }).end();
    requests += 1;
  });
  collector.listen(0);
  await once(collector, 'listening');
  t.teardown(() => collector.close());
  const { port } = collector.address() as AddressInfo; // it listens on TCP
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_BSP_SCHEDULE_DELAY: '1',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
  };
  Object.assign(process.env, variables);
  const warnings: unknown[] = [];
  const logger = { warn: (fields: unknown) => warnings.push(fields) };
  let elapsed = 0;
  await runInWorld({ clock: { ...CLOCK_OF_NODE, monotonic: () => elapsed } }, async () => {
    await using _tracing = startTracing(logger as unknown as Logger, { name: 'test', version: '1' });
    for (const name of Object.keys(variables)) delete process.env[name];
    const traceUntil = async (isEnough: () => boolean): Promise<void> => {
      await until(async () => {
        trace.getTracer('test').startSpan('span').end();
        return isEnough();
      });
    };
    await traceUntil(() => requests >= 5);
    t.deepEqual(warnings, [{ message: 'Export failed with retryable status', leftOut: 0 }]);
    elapsed += 60_000;
    await traceUntil(() => warnings.length > 1);
    t.true((warnings[1] as { readonly leftOut: number }).leftOut >= 3);
  });
});

test('tracing is enabled by the standard variables, and invalid ones are reported', (t) => {
  const tracing = (env: Record<string, string>): boolean => readConfig(env).tracing;
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  t.false(tracing({}));
  t.false(tracing({ OTEL_SERVICE_NAME: 'x' }));
  t.true(tracing(endpoint));
  t.true(tracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }));
  t.true(tracing({ OTEL_TRACES_EXPORTER: 'otlp' }));
  t.false(tracing({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }));
  t.false(tracing({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }));
  t.true(
    tracing({
      ...endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    }),
  );
  for (const [wrong, message] of [
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /OTEL_TRACES_EXPORTER=zipkin: must be otlp or none/],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /=grpc: traces are sent over HTTP/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }, /_ENDPOINT: the address for traces is not a URL/],
  ] as const) {
    t.throws(() => readConfig(wrong), { message });
  }
});

/** Has a service in a separate process accept and load a deposit, and end; resolves to the events of the deposit. */
async function depositIn(
  t: ExecutionContext,
  env: Record<string, string>,
  { flags = '01', receiver }: { readonly flags?: string; readonly receiver?: WebhookReceiver } = {},
): Promise<RecordedEvent[]> {
  const folder = await temporaryFolder(t);
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  const open = () => openLog(config);
  {
    await using log = await open();
    const administration = new AdminCommands(log, { kind: 'operator', name: 'test' });
    await administration.registerClient('alice', 'secret');
    await administration.grant('alice', 'software');
    if (receiver) {
      const secret = (await WebhookKey.make(config.webhooks.keyFile)).seal(receiver.secret, 'alice');
      await administration.client({ type: 'SetWebhook', client: 'alice', url: receiver.url, secret });
    }
  }
  {
    await using service = await ServiceProcess.start(folder, await freePort(), env);
    const alice = new TestClient(service.url, 'alice');
    const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-${flags}`;
    await (await EventSource.open(alice, '/1/software/events/'))[Symbol.asyncDispose]();
    const headers = { ...formType, ...final, traceparent };
    t.is((await alice.post('/1/software/', helloForm, headers)).status, 201);
    await alice.waitFor('/1/software/1/status/', 'done');
    while ((receiver?.taken.length ?? 5) < 5) await setTimeout(50);
    t.is(await service.end('SIGTERM'), 0);
  }
  await using log = await open();
  return await Array.fromAsync(log.readStream('deposit-1'));
}

function childrenOf(span: ReceivedSpan | undefined, { spans }: TraceCollector): string[] {
  const children = spans.filter(
    ({ parentSpanId }) => parentSpanId !== undefined && parentSpanId === span?.spanId,
  );
  return children.map(({ name }) => name).sort();
}

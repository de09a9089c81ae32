import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import Koa from 'koa';
import type { EventLog } from '../src/event-log/event-log.ts';
import type { HttpObserver } from '../src/http/http-observer.ts';
import { observeRequests } from '../src/http/middleware/observe-requests.ts';
import type { RequestState } from '../src/http/service-context.ts';
import { httpMetrics } from '../src/observability/http-metrics.ts';
import { Metrics } from '../src/observability/metrics.ts';
import { logMetrics } from '../src/observability/port-metrics.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { SWORD_ERRORS } from '../src/sword/sword-error.ts';
import { silentLogger } from '../src/tools/logger.ts';
import { observed } from '../src/tools/observed.ts';
import { traceparent } from '../src/tools/span.ts';
import { median } from './frame/statistics.ts';

/*
 * The cost of metrics, both sides in one interleaved run: `node bench/metrics-cost.ts [pairs]` prints the CPU time of
 * the main thread with and without them, medians, and the median of their ratios. The wall clock would include the
 * disk.
 */
const pairs = Number(process.argv[2] ?? 7);
const metrics = new Metrics(silentLogger);
const folder = await mkdtemp(path.join(tmpdir(), 'deposit-bench-'));
try {
  await using plain = await openLog({ eventLog: { kind: 'sqlite', file: path.join(folder, 'log.sqlite') } });
  const measured = observed(plain, logMetrics(metrics));
  for (const writers of [1, 64]) {
    await compare(
      `append, ${writers} at a time`,
      4000,
      (count) => appends(measured, writers, count),
      (count) => appends(plain, writers, count),
    );
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
const noObserver: HttpObserver = { began() {}, ended() {}, refused() {}, uploaded() {} };
const [counted, uncounted] = [await serving(httpMetrics(metrics, SWORD_ERRORS)), await serving(noObserver)];
await compare(
  'request of a bare Koa, its client included',
  3000,
  (count) => requests(counted.url, count),
  (count) => requests(uncounted.url, count),
);
counted.close();
uncounted.close();
const started = performance.now();
for (let turn = 0; turn < 1_000_000; turn += 1) traceparent();
process.stdout.write(`traceparent with tracing off: ${(performance.now() - started).toFixed(0)} ns\n`);

type Work = (count: number) => Promise<void>;

async function compare(what: string, count: number, measured: Work, plain: Work): Promise<void> {
  const found: { one: number; other: number }[] = [];
  for (let pair = 0; pair <= pairs; pair += 1) {
    const one = await cpuOf(() => measured(count));
    const other = await cpuOf(() => plain(count));
    if (pair > 0) found.push({ one: one / count, other: other / count }); // the first pair warms up
  }
  const [one, other] = [median(found.map((pair) => pair.one)), median(found.map((pair) => pair.other))];
  const ratio = median(found.map((pair) => pair.one / pair.other));
  const times = `${one.toFixed(1)} µs with, ${other.toFixed(1)} µs without, ratio ${ratio.toFixed(3)}`;
  process.stdout.write(`${what}: ${times} (load ${loadavg()[0]?.toFixed(1)})\n`);
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

async function appends(log: EventLog, writers: number, count: number): Promise<void> {
  const each = count / writers;
  const write = async (): Promise<void> => {
    const stream = `bench-${randomUUID()}`;
    for (let revision = 0; revision < each; revision += 1) {
      const event = { id: randomUUID(), type: 'Benched', data: { text: 'x'.repeat(800) }, metadata: {} };
      await log.append(stream, revision === 0 ? 'none' : revision - 1, [event]);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

async function serving(observer: HttpObserver): Promise<{ url: string; close: () => void }> {
  const app = new Koa<RequestState>();
  app.use(observeRequests({ logger: silentLogger, observer, scheme: 'http' }));
  app.use((ctx) => {
    ctx.body = 'x'.repeat(1400);
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

async function requests(url: string, count: number): Promise<void> {
  const ask = async (): Promise<void> => {
    for (let turn = 0; turn < count / 16; turn += 1) await (await fetch(url)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 16 }, ask));
}

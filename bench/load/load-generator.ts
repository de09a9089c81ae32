import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../frame/statistics.ts';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import type { LoadJob, LoadReport, LoadRequest } from './load-job.ts';

/*
 * The process that simulates the clients, so that their work does not count for the server. It answers each job with
 * one report or one error. Serials continue from job to job: no two requests of a process are the same.
 */
let serial = 0;
process.on('message', (job: LoadJob) => {
  run(job).then(
    (report) => process.send?.({ report }),
    (error: unknown) => process.send?.({ fault: String(error) }),
  );
});

async function run({
  url,
  clients,
  request,
  seconds,
  requests = Infinity,
  rate = Infinity,
}: LoadJob): Promise<LoadReport> {
  const opened = Array.from({ length: clients }, () => KeepAliveConnection.open(url));
  const connections = await Promise.all(opened);
  const times: number[] = [];
  let left = requests;
  const started = performance.now();
  const end = started + seconds * 1000;
  const turn = (clients / rate) * 1000;
  const client = async (connection: KeepAliveConnection, body: Buffer | undefined): Promise<void> => {
    while (left > 0 && performance.now() < end) {
      left -= 1;
      const next = performance.now() + turn;
      const head = prepare(url, request, body);
      const sent = performance.now();
      const status = await connection.request(head, body, request.times);
      if (status !== request.status)
        throw new Error(
          `${request.method} ${request.path} was answered with ${status}, not ${request.status}.`,
        );
      times.push(performance.now() - sent);
      if (turn > 0) await pause(Math.max(0, next - performance.now()));
    }
  };
  try {
    await Promise.all(connections.map((each) => client(each, request.body && Buffer.from(request.body))));
  } finally {
    for (const connection of connections) connection[Symbol.dispose]();
  }
  return summary(times, (performance.now() - started) / 1000);
}

/** Returns the head of the next request and writes its serial into the body. */
function prepare(url: string, request: LoadRequest, body: Buffer | undefined): string {
  serial += 1;
  for (const at of request.varyAt ?? []) body?.write(String(serial).padStart(8, '0'), at, 'latin1');
  const headers: Record<string, string> = { Host: new URL(url).host, ...request.headers };
  if (body) headers['Content-Length'] = String(body.length * (request.times ?? 1));
  if (body && request.md5) headers['Content-MD5'] = createHash('md5').update(body).digest('hex');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${request.method} ${request.path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function summary(times: readonly number[], seconds: number): LoadReport {
  const sorted = Float64Array.from(times).sort();
  return {
    requests: times.length,
    seconds,
    median: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    busy: times.reduce((sum, time) => sum + time, 0),
  };
}

import path from 'node:path';
import { atLeast, atMost, type Bench, type Bound, type Comparison, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import type { LoadRequest } from '../load/load-job.ts';
import { LoadProcess } from '../load/load-process.ts';
import { completeCreate, listGet, serviceDocumentGet, statusGet } from '../load/request-kinds.ts';
import { prepareFolder, startBenched } from '../servers/benched-service.ts';
import { PeerProcess } from './peer-process.ts';

/** Deposits that each service accepts before it is measured. */
const WARM_UP_DEPOSITS = 2000;
const SECONDS = 2;

type Kind = {
  readonly what: string;
  readonly request: LoadRequest;
  readonly clients: number;
  /** Status of the peer's answers, where it differs. */
  readonly peerStatus?: number;
  readonly wanted?: Bound;
  /** Bound of the ratio of the 99th percentiles. */
  readonly wantedP99?: Bound;
  /** Deposits per second that arrive meanwhile. */
  readonly arriving?: number;
};

const multipartFinal = completeCreate();
const list = listGet('?page_size=100');
const KINDS: readonly Kind[] = [
  { what: 'service document', request: serviceDocumentGet(), clients: 16, wanted: atLeast(10) },
  { what: 'list of 100', request: list, clients: 16, wanted: atLeast(10) },
  { what: 'list of 100', request: list, clients: 64, wanted: atLeast(10), wantedP99: atMost(1) },
  { what: 'service document', request: serviceDocumentGet(), clients: 16, wanted: atLeast(10), arriving: 10 },
  { what: 'list of 100', request: list, clients: 16, wanted: atLeast(10), arriving: 10 },
  { what: 'status', request: statusGet(1), clients: 16, peerStatus: 200 },
  { what: 'multipart final', request: multipartFinal, clients: 8 },
];

type Server = { readonly url: string };
type Sides = {
  readonly service: Server;
  readonly peer: Server;
  readonly load: LoadProcess;
  /** Sends the deposits that arrive meanwhile. */
  readonly depositors: LoadProcess;
};

/** Compares the rates of requests with those of the peer, on services that have accepted as many deposits. */
export function peerRequests(cache: string): Goal {
  return {
    id: 'P1',
    what: 'requests beside swh.deposit',
    async measure(bench) {
      await using peer = await PeerProcess.start(cache);
      const dataDir = path.join(bench.folder, 'data');
      await prepareFolder(dataDir);
      await using service = await startBenched(dataDir);
      await using load = new LoadProcess();
      await using depositors = new LoadProcess();
      for (const { url } of [service, peer]) {
        bench.tell(`P1: ${WARM_UP_DEPOSITS} deposits before`);
        await load.run({
          url,
          clients: 8,
          request: multipartFinal,
          requests: WARM_UP_DEPOSITS,
          seconds: 600,
        });
      }
      const found: Comparison[] = [];
      for (const kind of KINDS)
        found.push(...(await compare(bench, { service, peer, load, depositors }, kind)));
      return found;
    },
  };
}

async function compare(
  bench: Bench,
  { service, peer, load, depositors }: Sides,
  kind: Kind,
): Promise<Comparison[]> {
  const { request, clients, arriving: rate } = kind;
  const what = `${kind.what}, ${clients} clients${rate === undefined ? '' : `, ${rate} deposits/s arriving`}`;
  const p99 = { service: [] as number[], peer: [] as number[] };
  const before = load.cpuSeconds;
  let requests = 0;
  const rateOf =
    (name: keyof typeof p99, { url }: Server, status: number) =>
    async () => {
      const arriving =
        rate && depositors.run({ url, clients: 4, request: multipartFinal, seconds: SECONDS, rate });
      const report = await load.run({ url, clients, request: { ...request, status }, seconds: SECONDS });
      await arriving;
      p99[name].push(report.p99);
      requests += report.requests;
      return report.requests / report.seconds;
    };
  const rates = await interleave(bench, what, {
    service: rateOf('service', service, request.status),
    peer: rateOf('peer', peer, kind.peerStatus ?? request.status),
  });
  const generator = ((load.cpuSeconds - before) / requests) * 1000;
  const sides = (values: typeof p99) => ({
    ours: { name: 'service', values: values.service.slice(-bench.pairs) }, // without warm-up rounds
    reference: { name: 'swh.deposit', values: values.peer.slice(-bench.pairs) },
  });
  const note = `the load generator used ${generator.toFixed(2)} ms of CPU time a request`;
  return [
    { what, unit: 'requests/s', ...sides(rates), wanted: kind.wanted, note },
    { what: `${what}, 99th percentile`, unit: 'ms', ...sides(p99), wanted: kind.wantedP99 },
  ];
}

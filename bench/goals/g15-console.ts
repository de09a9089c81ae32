import { ConsoleSession } from '../../testing/browser/sign-in.ts';
import { atMost, type Comparison, type Goal } from '../frame/goal.ts';
import { quantile } from '../frame/statistics.ts';
import { rounded } from '../frame/table.ts';
import { CLIENT, startBenched } from '../servers/benched-service.ts';
import { operatorSession } from '../servers/console-session.ts';
import { catchUp } from './g13-start.ts';

const DEPOSITS = 100_000;
/** Requests of each kind that warm up, and that count for each pair. */
const [WARM_UPS, REQUESTS_A_PAIR] = [5, 8];

/** Measures one request at a time: the cost of one, from the first byte sent to the last received. */
export const consoleRequests: Goal = {
  id: 'G15',
  what: `lists and searches of the console, ${DEPOSITS.toLocaleString('en')} deposits`,
  async measure({ inputs, pairs, tell }) {
    const dataDir = await inputs.variedDeposits(DEPOSITS);
    tell('G15: views, unless they are there');
    await catchUp(dataDir);
    await using service = await startBenched(dataDir);
    const operator = await operatorSession(dataDir, service.url);
    const depositor = await ConsoleSession.ofClient(service.url, CLIENT.name, CLIENT.password);
    const found: Comparison[] = [];
    for (const [what, target] of Object.entries(await targetsOf(operator))) {
      const session = what.startsWith('depositor') ? depositor : operator;
      tell(`G15: ${what}`);
      for (let warmUp = 0; warmUp < WARM_UPS; warmUp += 1) await msOf(session, target);
      const values: number[] = [];
      while (values.length < pairs * REQUESTS_A_PAIR) values.push(await msOf(session, target));
      const p99 = quantile(Float64Array.from(values).toSorted(), 0.99);
      const note = `99th percentile ${rounded(p99)} ms`;
      found.push({ what, unit: 'ms', ours: { name: 'request', values }, wanted: atMost(100), note });
    }
    return found;
  },
};

async function msOf(session: ConsoleSession, target: string): Promise<number> {
  const started = performance.now();
  const answer = await session.get(target);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${target}: ${answer.status} ${text}`);
  return performance.now() - started;
}

/** Resolves to one request of each kind. What is found is of the middle of the log, unless all of it matches. */
async function targetsOf(session: ConsoleSession): Promise<Readonly<Record<string, string>>> {
  const [list, search] = ['/console/api/deposits', '/console/api/search?q='];
  const rowAt = async (id: number) => {
    const answer = await session.get(`${list}/${id}`);
    const { row } = (await answer.json()) as { row: { [field: string]: string | null } };
    return row;
  };
  let done = await rowAt(DEPOSITS / 2);
  for (let id = DEPOSITS / 2 + 1; done['directory'] === null; id += 1) done = await rowAt(id);
  const { createdAt, origin, uuid, directory } = done;
  const sha256 = (done['archives'] as unknown as { sha256: string }[])[0]?.sha256;
  const stream = await session.get(`/console/api/streams/deposit-${done['depositId']}/events`);
  type Sent = { id: string; metadata: { $correlationId: string } };
  const event = ((await stream.json()) as { events: Sent[] }).events.at(-1);
  const before = `${createdAt?.slice(0, 19)}Z`;
  return {
    overview: '/console/api/overview',
    'list, first page': list,
    'list, last page': `${list}?before=51`,
    'by a status': `${list}?status=rejected`,
    'by a rare status': `${list}?status=failed`,
    'by a large client': `${list}?client=bench`,
    'by a small client': `${list}?client=client-12`,
    'by client and collection': `${list}?client=bench&collection=collection-7`,
    'by client, collection and rare status': `${list}?client=bench&collection=collection-2&status=failed`,
    'by an origin': `${list}?origin=${encodeURIComponent(origin ?? '')}`,
    'by a common reason': `${list}?reason=URL_OUTSIDE_DOMAIN`,
    'by a rare reason': `${list}?reason=NO_ARCHIVE`,
    'by a reason and a client': `${list}?reason=URL_OUTSIDE_DOMAIN&client=client-9`,
    'by time': `${list}?until=${before}`,
    'by time and rare status': `${list}?until=${before}&status=failed`,
    'by time and small client': `${list}?since=2026-01-01T00:00:00Z&client=client-12`,
    'by time, client and collection': `${list}?until=${before}&client=bench&collection=collection-7`,
    'a common word': `${list}?q=software`,
    'a rare word': `${list}?q=quaternion`,
    'a word that nothing has': `${list}?q=xylophone`,
    'a common word of two characters': `${list}?q=so`,
    'a word of two characters that nothing has': `${list}?q=xy`,
    'two common words': `${list}?q=software+library`,
    'two words, one rare': `${list}?q=software+quaternion`,
    'a common word and a large client': `${list}?q=software&client=bench`,
    'two words and a large client': `${list}?q=software+library&client=bench`,
    'two words and a small client': `${list}?q=software+library&client=client-12`,
    'a common word and a rare status': `${list}?q=software&status=failed`,
    'a common word and a status': `${list}?q=software&status=rejected`,
    'a common word, client and status': `${list}?q=software&client=client-1&status=rejected`,
    'a common word and a reason': `${list}?q=software&reason=URL_OUTSIDE_DOMAIN`,
    'a common word and a time': `${list}?q=software&until=${before}`,
    'a common word and an early time': `${list}?q=software&until=2026-01-01T00:10:00Z`,
    'by an actor': `${list}?actor=bench`,
    'by an actor and a rare status': `${list}?actor=bench&status=failed`,
    'by an actor and a word': `${list}?actor=client-1&q=quaternion`,
    'by a slug': `${list}?slug=${DEPOSITS / 2}`,
    'depositor: list': list,
    'depositor: a rare status': `${list}?status=failed`,
    'depositor: two common words': `${list}?q=software+library`,
    'depositor: a common word and a rare status': `${list}?q=software&status=failed`,
    'depositor: overview': '/console/api/overview',
    'depositor: search': `${search}quaternion`,
    'search: a deposit': `${search}${DEPOSITS / 2}`,
    'search: UUID': `${search}${uuid}`,
    'search: SHA-256': `${search}${sha256}`,
    'search: an event id': `${search}${event?.id}`,
    'search: a correlation id': `${search}${event?.metadata.$correlationId}`,
    'search: SWHID of a directory': `${search}swh:1:dir:${directory}`,
    'search: an origin': `${search}${encodeURIComponent(origin ?? '')}`,
    'search: a client': `${search}client-3`,
    'search: words': `${search}software+library`,
  };
}

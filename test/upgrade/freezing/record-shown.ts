import { createHash, randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TUS } from '../../../testing/http/tus-uploads.ts';
import type { FrozenDeposit, FrozenUpload, ShownDeposit } from '../expected.ts';
import { JSON_ACCEPTED, PASSWORD } from './depositor.ts';
import type { Site } from './site.ts';
import { recordOf } from './upload-records.ts';
import type { LeftUpload } from './uploads-left.ts';

/** Number of File-IRIs that are asked for: deposits have fewer archives. */
const MOST_ARCHIVES = 6;

type ListedDeposit = { readonly depositId: number; readonly status: string };

/** Resolves to what the running services of a site show of each deposit, by its id. */
export async function recordShown(
  site: Site,
  deposits: readonly FrozenDeposit[],
): Promise<ReadonlyMap<number, ShownDeposit>> {
  const statuses = await statusesOn(site);
  const events = await eventsOf(site);
  const shown = deposits.map(async (deposit) => {
    const { depositId } = deposit;
    const one: ShownDeposit = {
      status: statuses.get(depositId) ?? 'absent',
      document: await documentOf(site, deposit),
      events: events.get(`deposit-${depositId}`) ?? [],
      archives: await archivesOf(site, deposit),
    };
    return [depositId, one] as const;
  });
  return new Map(await Promise.all(shown));
}

/** Resolves when no deposit is worked on but those `parked`. */
export async function untilFinished(site: Site, parked: ReadonlySet<number>): Promise<void> {
  const isOpen = ([id, status]: readonly [number, string]) =>
    ['deposited', 'verified', 'loading'].includes(status) && !parked.has(id);
  while ([...(await statusesOn(site))].some(isOpen)) await pause(200);
}

/** Resolves to what HEAD answers for each upload. */
export async function recordUploads(
  site: Site,
  uploads: readonly LeftUpload[],
): Promise<readonly FrozenUpload[]> {
  const recorded = uploads.map(async (upload) => {
    const { length, state } = await recordOf(site, upload.id);
    const answer = await ask(site, upload.client, `/1/software/uploads/${upload.id}/`, 'HEAD', TUS);
    const offset = answer.headers.get('upload-offset');
    return { ...upload, state: state.status, length, offset: offset === null ? null : Number(offset) };
  });
  return Promise.all(recorded);
}

async function statusesOn(site: Site): Promise<ReadonlyMap<number, string>> {
  const lines = (await site.run('deposits', ['--limit', '0', '--json'])).trim().split('\n');
  const listed = lines.map((line) => JSON.parse(line) as ListedDeposit);
  return new Map(listed.map(({ depositId, status }) => [depositId, status]));
}

/** Resolves to the events of every stream, by its name. */
async function eventsOf(site: Site): Promise<ReadonlyMap<string, ShownDeposit['events']>> {
  const file = path.join(tmpdir(), `export-${randomUUID()}.ndjson`);
  await site.run('export', ['--output', file]);
  const lines = (await readFile(file, 'utf8')).trim().split('\n').slice(0, -1);
  await rm(file);
  const events = lines.map((line) => JSON.parse(line) as Exported);
  const byStream = Map.groupBy(events, ({ stream }) => stream);
  const shown = ([stream, its]: readonly [string, readonly Exported[]]) =>
    [stream, its.map(({ id, type, revision }) => ({ id, type, revision }))] as const;
  return new Map([...byStream].map(shown));
}

type Exported = ShownDeposit['events'][number] & { readonly stream: string };

async function documentOf(site: Site, deposit: FrozenDeposit): Promise<ShownDeposit['document']> {
  const answer = await ask(site, deposit.client, `${pathOf(deposit)}status/`, 'GET', JSON_ACCEPTED);
  return answer.ok ? ((await answer.json()) as Record<string, unknown>) : null;
}

async function archivesOf(site: Site, deposit: FrozenDeposit): Promise<ShownDeposit['archives']> {
  const archives: Record<string, string> = {};
  for (let number = 1; number <= MOST_ARCHIVES; number += 1) {
    const answer = await ask(site, deposit.client, `${pathOf(deposit)}media/${number}/`, 'GET');
    if (!answer.ok) continue;
    archives[number] = createHash('sha256')
      .update(await answer.bytes())
      .digest('hex');
  }
  return archives;
}

function pathOf({ collection, depositId }: FrozenDeposit): string {
  return `/1/${collection}/${depositId}/`;
}

function ask(site: Site, client: string, target: string, method: string, headers = {}): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${client}:${PASSWORD}`).toString('base64')}`;
  return fetch(new URL(target, site.url), { method, headers: { Authorization: authorization, ...headers } });
}

import { hash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryPart,
  final,
  formOf,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { DRILL_PASSWORD } from '../service/drilled-service.ts';

/** Credentials of the client that `drilledFolder` registers. */
export const AUTHORIZATION = `Basic ${Buffer.from(`drill:${DRILL_PASSWORD}`).toString('base64')}`;

export type Answer = {
  /** HTTP status; 0: no answer came. */
  readonly status: number;
  readonly body: string;
  readonly ms: number;
};

type Archive = { readonly sha256: string; readonly length: number };

/** Makes deposits as the drill's client and records the answers, to compare them with the log and the store. */
export class AnsweredDeposits {
  /** The archive that was answered 201, by deposit id. */
  readonly acknowledged = new Map<string, Archive>();
  /** Number of answers by status; 0: no answer. */
  readonly counts = new Map<number, number>();
  /** Milliseconds until each 201. */
  readonly times: number[] = [];
  /** Milliseconds until each 503. */
  readonly refusedAfter: number[] = [];
  /** Answers that must not be, a sentence each. */
  readonly faults: string[] = [];
  readonly #url: string;
  readonly #mayBe: ReadonlySet<number>;

  /** `mayBe`: correct statuses of this drill besides 201. */
  constructor(url: string, mayBe: readonly number[] = [0, 503, 507]) {
    this.#url = url;
    this.#mayBe = new Set(mayBe);
  }

  /**
   * Sends a form with an entry, complete, if `isComplete`; else the archive alone, which leaves the deposit partial.
   */
  async deposit(archive: Buffer, { isComplete = false, timeLimit = 60_000 } = {}): Promise<Answer> {
    const part = archivePart(archive, 'a.tar', 'application/x-tar');
    const [body, headers] = isComplete
      ? [formOf([part, entryPart()]), { ...formType, ...final }]
      : [archive, { ...archiveHeaders('a.tar', 'application/x-tar'), ...partial }];
    const begun = performance.now();
    const sent = { method: 'POST', body: new Uint8Array(body), signal: AbortSignal.timeout(timeLimit) };
    const answer = await fetch(`${this.#url}/1/drill/`, {
      ...sent,
      headers: { ...headers, Authorization: AUTHORIZATION },
    })
      .then(async (response) => ({ response, status: response.status, body: await response.text() }))
      .catch((error: unknown) => ({ response: undefined, status: 0, body: String(error) }));
    const ms = performance.now() - begun;
    this.#note(answer, archive, ms);
    return { status: answer.status, body: answer.body, ms };
  }

  #note(
    { response, status, body }: { response: Response | undefined; status: number; body: string },
    archive: Buffer,
    ms: number,
  ): void {
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
    if (status === 503) this.refusedAfter.push(ms);
    if (status === 201) {
      this.times.push(ms);
      const id = /<deposit_id>(\d+)</.exec(body)?.[1] ?? '';
      if (this.acknowledged.has(id)) this.faults.push(`The id ${id} was given to two deposits.`);
      this.acknowledged.set(id, { sha256: hash('sha256', archive), length: archive.length });
    } else if (!this.#mayBe.has(status)) this.faults.push(`A create was answered ${status}: ${body}`);
    else if (status === 503 && !response?.headers.has('retry-after'))
      this.faults.push('A create was answered 503 without Retry-After.');
    if (/\n\s+at .+:\d+:\d+/.test(body)) this.faults.push(`The answer ${status} holds a stack trace.`);
  }

  /** Returns the counts as numbers of a finding: `answered201`, `unanswered`. */
  get numbers(): Record<string, number> {
    const named = [...this.counts].map(([status, count]) => [
      status === 0 ? 'unanswered' : `answered${status}`,
      count,
    ]);
    return Object.fromEntries(named) as Record<string, number>;
  }
}

/**
 * Resolves to the acknowledged deposits that are not in the log or not, byte by byte, in the store: a sentence each.
 */
export async function lostOf(
  { acknowledged }: Pick<AnsweredDeposits, 'acknowledged'>,
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const config = readConfig({ ...env, DEPOSIT_DATA_DIR: dataDir });
  await using log = await openLog(config, { readOnly: true });
  await using store = await openStore(config);
  const lost: string[] = [];
  const logged = new Map<string, string>();
  for await (const { type, data } of log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (type === 'ArchiveAdded') {
      const { depositId, archive } = data as { depositId: number; archive: { sha256: string } };
      logged.set(String(depositId), archive.sha256);
    }
  }
  for (const [id, { sha256 }] of acknowledged) {
    if (logged.get(id) !== sha256)
      lost.push(`Deposit ${id} was answered 201 and is not in the log as it was sent.`);
  }
  const wanted = new Map([...logged.values()].map((sha256) => [sha256, undefined as number | undefined]));
  for (const { sha256, length } of acknowledged.values()) wanted.set(sha256, length);
  for (const [sha256, length] of wanted) {
    const bytes = await store
      .get(sha256)
      .then(({ body }) => buffer(body))
      .catch(() => undefined);
    if (bytes === undefined || hash('sha256', bytes) !== sha256 || bytes.length !== (length ?? bytes.length))
      lost.push(`The archive ${sha256} is named in the log and is not whole in the store.`);
  }
  return lost;
}

/** Returns a tar with random content, a little longer than `bytes`. */
export function newTar(bytes: number): Buffer {
  return tarOf([{ name: 'drill/a.bin', data: randomBytes(bytes) }]);
}

/** Returns an archive that is quick to send and takes seconds to process, if it has tens of thousands of files. */
export function largeTar(count: number, mark = ''): Buffer {
  const files = Array.from({ length: count }, (_, file) => ({
    name: `large/${file % 200}/${file}.txt`,
    data: `${mark} ${file} `.repeat(40),
  }));
  return gzipSync(tarOf(files), { level: 1 });
}

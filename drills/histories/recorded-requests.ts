import { tarOf } from '../../testing/archives/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  formOf,
  formType,
} from '../../testing/http/deposit-bodies.ts';
import { type Invocation, isRead, type Operation, outcomeOf, type Shown } from './operation.ts';

export type RecordedRequestsOptions = {
  readonly authorization: string;
  readonly collection: string;
  /** A request without an answer is given up after this time, in milliseconds. */
  readonly timeLimit: number;
};

/** A node as clients reach it. */
export type Target = { readonly name: string; readonly url: string };

/** Codes that refuse a request for the state of its deposit. All others from 400 to 500 are faults of the service. */
const REFUSALS: ReadonlySet<number> = new Set([404, 405, 412]);
const TAR = 'application/x-tar';

/** Sends invocations to nodes and records each with its answer. */
export class RecordedRequests {
  readonly operations: Operation[] = [];
  /** Answers that no state of a deposit explains, a sentence each. */
  readonly faults: string[] = [];
  readonly #options: RecordedRequestsOptions;

  constructor(options: RecordedRequestsOptions) {
    this.#options = options;
  }

  async send(invocation: Invocation, { name: node, url }: Target, client: number): Promise<Operation> {
    const call = microseconds();
    const { code, shown, text } = await this.#answer(invocation, url);
    const operation = {
      ...invocation,
      client,
      node,
      call,
      return: microseconds(),
      code,
      ...(shown && { shown }),
    };
    this.operations.push(operation);
    const isExplained = outcomeOf(operation) !== 'refused' || REFUSALS.has(code);
    if (!isExplained || code === 500)
      this.faults.push(`${invocation.kind} was answered ${code} at ${node}: ${text}`);
    return operation;
  }

  /** Resolves to the ids of all deposits of the collection that the node lists. @throws if it cannot list them now */
  async listed(url: string): Promise<number[]> {
    const { authorization, collection } = this.#options;
    const headers = { Authorization: authorization, Accept: 'application/json' };
    const ids: number[] = [];
    for (let page = `${url}/1/${collection}/?page_size=1000`; page !== ''; ) {
      const answer = await fetch(page, { headers });
      if (!answer.ok) throw new Error(`The list of deposits was answered ${answer.status}.`);
      const { entries } = (await answer.json()) as { entries: readonly { deposit_id: number }[] };
      ids.push(...entries.map(({ deposit_id: id }) => id));
      const next = /<([^>]+)>; rel="?next/.exec(answer.headers.get('link') ?? '')?.[1];
      page = next === undefined ? '' : `${url}${new URL(next).pathname}${new URL(next).search}`;
    }
    return ids;
  }

  async #answer(
    invocation: Invocation,
    url: string,
  ): Promise<{ code: number; shown?: Shown; text?: string }> {
    const { authorization, collection, timeLimit } = this.#options;
    const { method, path, headers, body } = requestOf(invocation);
    const place = invocation.deposit === undefined ? '' : `${invocation.deposit}/`;
    try {
      const answer = await fetch(`${url}/1/${collection}/${place}${path}`, {
        method,
        headers: { ...headers, Authorization: authorization, Accept: 'application/json' },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(timeLimit),
      });
      const text = await answer.text();
      if (!answer.ok) return { code: answer.status, text };
      return { code: answer.status, shown: shownIn(answer.headers.get('etag'), text), text };
    } catch {
      return { code: 0 }; // the connection broke, or the time was over
    }
  }
}

type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
};

const METHODS = {
  create: 'POST',
  add: 'POST',
  replace: 'PUT',
  complete: 'POST',
  delete: 'DELETE',
  status: 'GET',
  receipt: 'GET',
} as const satisfies Readonly<Record<Invocation['kind'], string>>;

function requestOf(invocation: Invocation): Request {
  const { kind, deposit, key, ifMatch, isFinal = false } = invocation;
  const method = METHODS[kind];
  const conditions = {
    ...(key !== undefined && { 'Idempotency-Key': key }),
    ...(ifMatch !== undefined && { 'If-Match': `"${deposit}-${ifMatch}"` }),
  };
  if (isRead(invocation)) return { method, path: kind === 'status' ? 'status/' : 'metadata/', headers: {} };
  if (kind === 'delete') return { method, path: 'metadata/', headers: conditions };
  const progress = { 'In-Progress': String(!isFinal && kind !== 'complete') };
  const { path, headers, body } = contentOf(invocation);
  const request = {
    method,
    path: kind === 'create' ? '' : path,
    headers: { ...conditions, ...progress, ...headers },
  };
  return body === undefined ? request : { ...request, body: new Uint8Array(Buffer.from(body)) };
}

/** Returns the body that brings the contents, and the resource of a deposit to which it goes. */
function contentOf({ archive, entry }: Invocation): {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
} {
  if (archive !== undefined && entry !== undefined) {
    const parts = [archivePart(archiveOf(archive), `${archive}.tar`, TAR), entryPart(entryOf(entry))];
    return { path: 'metadata/', headers: formType, body: formOf(parts) };
  }
  if (archive !== undefined)
    return { path: 'media/', headers: archiveHeaders(`${archive}.tar`, TAR), body: archiveOf(archive) };
  if (entry !== undefined) return { path: 'metadata/', headers: entryHeaders(), body: entryOf(entry) };
  return { path: 'metadata/', headers: {} };
}

function archiveOf(mark: string): Buffer {
  return tarOf([{ name: `${mark}/mark.txt`, data: mark }]);
}

function entryOf(mark: string): string {
  const term = `<dcterms:identifier xmlns:dcterms="http://purl.org/dc/terms/">${mark}</dcterms:identifier>`;
  return entryXml(`<title>${mark}</title><author><name>Ada</name></author>${term}`);
}

type Document = {
  readonly deposit_id: number;
  readonly deposit_status: string;
  readonly archives?: readonly { readonly filename: string }[];
  readonly dcterms?: readonly { readonly name: string; readonly value: string }[];
};

/** Reads a receipt. One without an `ETag` has no terms of its entries: the store could not be read. */
function shownIn(tag: string | null, text: string): Shown {
  const revision = /^(?:W\/)?"\d+-(\d+)/.exec(tag ?? '')?.[1];
  const known = revision === undefined ? {} : { revision: Number(revision) };
  if (text === '') return known;
  const { deposit_id: deposit, deposit_status: status, archives, dcterms } = JSON.parse(text) as Document;
  const terms = dcterms?.filter(({ name }) => name === 'identifier').map(({ value }) => value);
  return {
    ...known,
    deposit,
    status,
    ...(archives && { archives: archives.map(({ filename }) => filename.replace('.tar', '')) }),
    ...(terms && revision !== undefined && { entries: terms }),
  };
}

function microseconds(): number {
  return Math.round(performance.now() * 1000);
}

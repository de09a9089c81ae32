import { type Boot, viewerText } from '../protocol/boot.ts';
import { Store } from './store.ts';

/** The address of all assets of this release, which contains a hash of them. */
const RELEASE = new URL('../../../../', import.meta.url).pathname;

/** Why this page must be loaded again; `undefined` while it need not be. */
export const outdated = new Store<string | undefined>(undefined);

/** The viewer whom this page shows, for the server to compare with the session. All tabs of a browser share one session. */
let shown: string | undefined;

export function setViewer(viewer: Boot['viewer']): void {
  shown = viewerText(viewer);
}

/** Returns a path of the console, for a link or a form, that is refused in the session of another viewer. */
export function ofViewer(path: string): string {
  return shown === undefined
    ? path
    : `${path}${path.includes('?') ? '&' : '?'}viewer=${encodeURIComponent(shown)}`;
}

/** An error that the server reports, or that it does not answer. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export type Reading = {
  /** Whether the page asks by itself: the session is not prolonged. */
  readonly background?: boolean;
  readonly signal?: AbortSignal;
};

/** Resolves to the JSON at a path of the console. @throws {ApiError} */
export async function getJson<Answer>(path: string, options: Reading = {}): Promise<Answer> {
  return jsonIn(await send('GET', path, undefined, options));
}

/** Resolves to the bytes at a path of the console. @throws {ApiError} */
export async function getBytes(path: string, reading: Reading): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await send('GET', path, undefined, reading);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Resolves to the bytes at a path of the console as they arrive. @throws {ApiError} */
export async function getStream(path: string, signal: AbortSignal): Promise<ReadableStream<BufferSource>> {
  const { body } = await send('GET', path, undefined, { background: true, signal });
  return body ?? new ReadableStream();
}

/** Sends JSON, and resolves to the JSON of the answer. @throws {ApiError} */
export async function postJson<Answer>(path: string, body: unknown = {}): Promise<Answer> {
  return jsonIn(await send('POST', path, body, {}));
}

async function send(method: string, path: string, body: unknown, options: Reading): Promise<Response> {
  const headers = {
    Accept: 'application/json', // also of errors where bytes are asked for
    'X-Console': '1',
    ...(shown !== undefined && { 'X-Console-Viewer': shown }),
    ...(options.background && { 'X-Console-Background': '1' }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  const { signal = null } = options;
  const answer = await fetch(path, {
    method,
    headers,
    signal,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError('NO_ANSWER', 'The service does not answer.', 0);
  });
  if ((answer.headers.get('X-Console-Release') ?? RELEASE) !== RELEASE)
    outdated.value = 'The service was updated'; // its answers may have other fields
  if (answer.status === 401 && path !== '/console/enter') signIn();
  if (answer.ok) return answer;
  const { code, message } = errorIn(await answer.text());
  if (code === 'OTHER_VIEWER') outdated.value = 'Another person or client has signed in in this browser';
  throw new ApiError(code, message, answer.status);
}

async function jsonIn<Answer>(answer: Response): Promise<Answer> {
  const text = await answer.text();
  return (text === '' ? undefined : JSON.parse(text)) as Answer; // the server is of the same release
}

/** Leads to the sign-in, and back to this page. */
function signIn(): void {
  location.assign(`/console/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`);
}

function errorIn(text: string): { readonly code: string; readonly message: string } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string } };
    if (error?.code !== undefined && error.message !== undefined)
      return { code: error.code, message: error.message };
  } catch {
    // not of the console: a proxy, or the service while it starts
  }
  return { code: 'UNAVAILABLE', message: 'The service cannot answer at the moment: try again.' };
}

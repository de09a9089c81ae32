import { ResponseCache } from '../../src/http/responses/response-cache.ts';
import type { RunningService } from '../service/running-service.ts';
import { archiveHeaders, helloZip, partial } from './deposit-bodies.ts';
import { type RawAnswer, RawConnection } from './raw-connection.ts';
import type { TestClient } from './test-client.ts';

/** Whether each request was answered without Koa. */
export const passedBy: boolean[] = [];
const answer = Object.getOwnPropertyDescriptor(ResponseCache.prototype, 'answer');
ResponseCache.prototype.answer = function (...request) {
  const isAnswered = Boolean(answer?.value.apply(this, request));
  passedBy.push(isAnswered);
  return isAnswered;
};

export type Headers = Readonly<Record<string, string>>;

let clients = 0;

/** Registers a new client with a partial deposit. */
export async function depositor(service: RunningService): Promise<{ client: TestClient; path: string }> {
  clients += 1;
  const client = await service.register(`ada-${clients}`, { collections: ['software'] });
  const created = await client.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  const [, id] = /<deposit_id>(\d+)</.exec(await created.text()) ?? [];
  return { client, path: `/1/software/${id}` };
}

export function head(target: string, headers: Headers, { method = 'GET', version = '1.1' } = {}): string {
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/${version}\r\n${lines.join('')}\r\n`;
}

/** Resolves to the answer of a request, and to whether Koa was bypassed. */
export async function exchange(url: string, request: string): Promise<[RawAnswer, ...boolean[]]> {
  using connection = await RawConnection.to(url);
  passedBy.length = 0;
  await connection.send(request);
  return [await connection.answers(1), ...passedBy];
}

/** Returns the answer without the parts that differ each time. */
export function lasting({ head, body }: RawAnswer): string {
  return `${head.replace(/^(Date|X-Request-Id): .*$/gm, '$1')}\r\n\r\n${body}`;
}

import { streamChunks } from '../../../http/responses/stream-response.ts';
import type { ServiceContext } from '../../../http/service-context.ts';
import type { ObjectStore } from '../../../object-store/object-store.ts';
import { ConsoleRefusal } from '../server/route.ts';

/**
 * Sends a text of the store as it is read. An object whose last bytes do not prove the others breaks off the answer.
 * @throws {ConsoleRefusal} 413: it is too large for a browser
 */
export async function sendStoredText(
  ctx: ServiceContext,
  store: Pick<ObjectStore, 'get' | 'stat'>,
  sha256: string,
  maxBytes: number,
): Promise<void> {
  const length = (await store.stat(sha256))?.length ?? 0;
  if (length > maxBytes)
    throw new ConsoleRefusal(
      413,
      'TOO_LARGE',
      `The text has ${length} bytes, more than the ${maxBytes} for a browser.`,
    );
  const { body } = await store.get(sha256);
  ctx.set('Content-Type', 'text/plain; charset=utf-8');
  ctx.set('Content-Length', String(length));
  if (ctx.method !== 'HEAD') return streamChunks(ctx, body.iterator());
  body.destroy();
  ctx.status = 200;
}

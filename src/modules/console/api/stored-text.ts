import { streamChunks } from '../../../http/responses/stream-response.ts';
import type { ServiceContext } from '../../../http/service-context.ts';
import type { ObjectStore } from '../../../object-store/object-store.ts';
import { ConsoleRefusal } from '../server/route.ts';

/** Maximum bytes of a text, some 150,000 paths of a manifest or a listing: browsers need all of it in memory. */
const MAX_TEXT_BYTES = 32 * 1024 ** 2;

/**
 * Sends a text of the store as it is read. An object whose last bytes do not prove the others breaks off the answer.
 * @throws {ConsoleRefusal} 413: it is too large for a browser
 */
export async function sendStoredText(
  ctx: ServiceContext,
  store: Pick<ObjectStore, 'get' | 'stat'>,
  sha256: string,
): Promise<void> {
  const length = (await store.stat(sha256))?.length ?? 0;
  if (length > MAX_TEXT_BYTES) {
    const text = `The text has ${length} bytes, more than the ${MAX_TEXT_BYTES} for a browser.`;
    throw new ConsoleRefusal(413, 'TOO_LARGE', text);
  }
  const { body } = await store.get(sha256);
  ctx.set('Content-Type', 'text/plain; charset=utf-8');
  ctx.set('Content-Length', String(length));
  if (ctx.method !== 'HEAD') return streamChunks(ctx, body.iterator());
  body.destroy();
  ctx.status = 200;
}

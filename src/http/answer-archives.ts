import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { DepositContentView } from '../../projections/deposit-content.ts';
import type { ArchiveStore } from '../archive-store/archive-store.ts';
import type { Archive } from '../domain/deposit/events.ts';
import { digestField } from '../sword/digest-fields.ts';
import { entityTag, isNotModified } from '../sword/entity-tag.ts';
import { mediaTypeOf } from './answer-documents.ts';
import { notFound } from './not-found.ts';
import type { ServiceContext } from './service-context.ts';

/** The one archive byte for byte, or a zip of several. */
export async function answerArchives(
  ctx: ServiceContext,
  deposit: DepositContentView,
  store: ArchiveStore,
): Promise<void> {
  const { depositId, revision, archives } = deposit;
  const [first, ...more] = archives;
  if (!first) throw notFound(`Deposit ${depositId} has no archive.`);
  const tag = entityTag(depositId, revision);
  ctx.set('ETag', tag);
  if (isNotModified(ctx.req.headers['if-none-match'], tag)) {
    ctx.status = 304;
    return;
  }
  const filename = more.length === 0 ? first.filename : `deposit-${depositId}.zip`;
  ctx.set('Content-Type', mediaTypeOf(deposit));
  ctx.set('Content-Disposition', `attachment; filename="${filename.replace(/["\\]/g, '\\$&')}"`);
  if (more.length === 0) await answerOne(ctx, first, store);
  else await answerZip(ctx, archives, store);
}

async function answerOne(
  ctx: ServiceContext,
  { sha256, length }: Archive,
  store: ArchiveStore,
): Promise<void> {
  ctx.set('Content-Length', String(length));
  if (ctx.method === 'HEAD') return answerHead(ctx);
  const { body } = await store.get(sha256);
  await send(ctx, body);
}

async function answerZip(
  ctx: ServiceContext,
  archives: readonly Archive[],
  store: ArchiveStore,
): Promise<void> {
  if (ctx.method === 'HEAD') return answerHead(ctx);
  const zip = new ZipFile();
  const names = new Set<string>();
  for (const { sha256, filename, length } of archives) {
    // Stored, not deflated: archives are compressed already. Opened only when its turn comes.
    zip.addReadStreamLazy(distinct(filename, names), { compress: false, size: length }, (opened) => {
      store.get(sha256).then(
        ({ body }) => opened(null, body),
        (error: unknown) => opened(error as Error, null as never),
      );
    });
  }
  const output = zip.outputStream as Readable;
  zip.on('error', (error) => output.destroy(error as Error));
  zip.end();
  await send(ctx, output);
}

/** Past the first byte there is no other status: a fault ends the connection, so that nobody takes a part for the whole. */
async function send(ctx: ServiceContext, body: Readable): Promise<void> {
  ctx.status = 200;
  ctx.respond = false;
  ctx.res.statusCode = 200;
  await pipeline(body, ctx.res);
}

function answerHead(ctx: ServiceContext): void {
  ctx.status = 200;
}

/** Two archives of one name are told apart in the zip by a number in front; none may look like a drive. */
function distinct(filename: string, taken: Set<string>): string {
  const harmless = filename.replace(/^([a-z]):/i, '$1_');
  let name = harmless;
  for (let number = 2; taken.has(name); number += 1) name = `${number}-${harmless}`;
  taken.add(name);
  return name;
}

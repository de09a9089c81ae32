import { hash } from 'node:crypto';
import { isNotModified } from '../../sword/headers/entity-tag.ts';
import { negotiateAmong, type Offers } from '../../sword/headers/negotiate.ts';
import { type DescribedService, openApiDocument } from './open-api-document.ts';
import { publicDocument } from './public-resource.ts';

const OFFERS: Offers<'json' | 'openapi'> = [
  { contentType: 'application/json', format: 'json' },
  { contentType: 'application/vnd.oai.openapi+json', format: 'openapi' },
];

type Rendered = { readonly body: string; readonly tag: string };

/** Serves the description of every operation without credentials. It never changes while the service runs. */
export function serveOpenApi(service: DescribedService) {
  let rendered: Promise<Rendered> | undefined;
  return publicDocument(async (ctx) => {
    rendered ??= render(service).catch((error: unknown) => {
      rendered = undefined; // the file may be readable for the next request
      throw error;
    });
    const { body, tag } = await rendered;
    ctx.set('ETag', tag);
    if (isNotModified(ctx.req.headers['if-none-match'], tag)) {
      ctx.status = 304;
      return;
    }
    const { contentType, format } = negotiateAmong(OFFERS, ctx.req.headers.accept);
    ctx.body = body;
    ctx.set('Content-Type', format === 'openapi' ? `${contentType};version=3.1` : contentType);
  });
}

async function render(service: DescribedService): Promise<Rendered> {
  const body = JSON.stringify(await openApiDocument(service));
  return { body, tag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"` };
}

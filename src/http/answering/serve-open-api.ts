import { hash } from 'node:crypto';
import { isNotModified } from '../../sword/headers/entity-tag.ts';
import { negotiateAmong, type Offers } from '../../sword/headers/negotiate.ts';
import { type DescribedService, openApiDocument } from '../openapi/open-api-document.ts';
import { OPEN_ROUTES } from '../route-table.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { openResource } from './open-resource.ts';

const OFFERS: Offers<'json' | 'openapi'> = [
  { contentType: 'application/json', format: 'json' },
  { contentType: 'application/vnd.oai.openapi+json', format: 'openapi' },
];

/** The description of every operation, without credentials: the same as long as the service runs. */
export function serveOpenApi(service: DescribedService): ServiceMiddleware {
  let rendered: { readonly body: string; readonly tag: string } | undefined; // when it is first asked for
  return openResource(OPEN_ROUTES.openApi, (ctx) => {
    rendered ??= render(service);
    const { body, tag } = rendered;
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

function render(service: DescribedService): { readonly body: string; readonly tag: string } {
  const body = JSON.stringify(openApiDocument(service));
  return { body, tag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"` };
}

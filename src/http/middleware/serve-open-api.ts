import { hash } from 'node:crypto';
import { htmlPieces } from '../../sword/documents/html-page.ts';
import { negotiate, type Offers, PAGE } from '../../sword/headers/accept.ts';
import { answerDocument, answersNotModified } from '../responses/representation.ts';
import { type DescribedService, openApiDocument } from './open-api-document.ts';
import { openApiPage } from './open-api-page.ts';
import { publicDocument } from './public-resource.ts';

const OFFERS: Offers<'json' | 'html'> = [
  { contentType: 'application/json', format: 'json' },
  { contentType: 'application/vnd.oai.openapi+json', format: 'json' },
  PAGE,
];

type Rendered = Readonly<Record<'json' | 'html', { readonly body: string; readonly tag: string }>>;

/** Serves the description of every operation without credentials. It never changes while the service runs. */
export function serveOpenApi(service: DescribedService) {
  let rendered: Promise<Rendered> | undefined;
  return publicDocument(async (ctx) => {
    rendered ??= render(service).catch((error: unknown) => {
      rendered = undefined; // the file may be readable for the next request
      throw error;
    });
    const { contentType, format } = negotiate(OFFERS, ctx.req.headers.accept);
    const { body, tag } = (await rendered)[format];
    if (answersNotModified(ctx, tag)) return;
    const version = contentType.endsWith('openapi+json') ? ';version=3.1' : '';
    answerDocument(ctx, contentType + version, body);
  });
}

async function render(service: DescribedService): Promise<Rendered> {
  const document = await openApiDocument(service);
  const page = [...htmlPieces(openApiPage(document))].join('');
  return { json: tagged(JSON.stringify(document)), html: tagged(page) };
}

function tagged(body: string) {
  return { body, tag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"` };
}

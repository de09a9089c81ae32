import { escaped, PAGE_END, pageStart } from '../../sword/documents/html-page.ts';
import { SERVICE_TITLE } from '../../sword/documents/service-document.ts';
import { negotiate, type Offers } from '../../sword/headers/accept.ts';
import type { Iris } from '../../sword/iris.ts';
import { notFound } from '../../sword/sword-error.ts';
import { answerDocument } from '../responses/representation.ts';
import { publicDocument } from './public-resource.ts';

export const LANDING_OFFERS: Offers<'html' | 'json'> = [
  { contentType: 'text/html', format: 'html' },
  { contentType: 'application/json', format: 'json' },
];

/** Link relations by which SWORD clients find the service document: that of the profile, and the older one. */
const RELATIONS = ['http://purl.org/net/sword/discovery/service-document', 'sword'];

/** Link relation of the OpenAPI document (RFC 8631). */
const DESCRIPTION_RELATION = 'service-desc';

export function serviceDescriptionLink(iris: Iris): string {
  return `<${iris.openApi()}>; rel="${DESCRIPTION_RELATION}"; type="application/json"`;
}

/** Serves a page from which clients and people find the service document. */
export function landingPage(iris: Iris) {
  const bodies = { html: pageOf(iris), json: factsOf(iris) };
  return publicDocument((ctx) => {
    const { contentType, format } = negotiate(LANDING_OFFERS, ctx.req.headers.accept);
    ctx.set('Link', serviceDescriptionLink(iris));
    answerDocument(ctx, contentType, bodies[format]);
  });
}

/** Answers a browser that looks for an icon without being asked to. */
export function noIcon(): never {
  throw notFound('There is no icon.');
}

/** Answers crawlers: there is nothing to index. */
export const robots = publicDocument((ctx) => {
  ctx.body = 'User-agent: *\nDisallow: /\n';
});

function factsOf(iris: Iris): string {
  return JSON.stringify({
    title: SERVICE_TITLE,
    service_document: iris.serviceDocument(),
    service_description: iris.openApi(),
  });
}

function pageOf(iris: Iris): string {
  const [href, description] = [escaped(iris.serviceDocument()), escaped(iris.openApi())];
  const links = [
    ...RELATIONS.map((rel) => `<link rel="${rel}" href="${href}">`),
    `<link rel="${DESCRIPTION_RELATION}" type="application/json" href="${description}">`,
  ];
  return [
    pageStart(SERVICE_TITLE, links.join('')),
    '<p>This service accepts deposits of source code by SWORD 2.0. To deposit, give your program the address of the',
    ` <a href="${href}">service document</a>, and the name and password of your client.</p>`,
    `<p>Every operation is described in <a href="${description}">OpenAPI</a>.</p>`,
    PAGE_END,
  ].join('');
}

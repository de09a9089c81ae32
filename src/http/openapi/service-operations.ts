import { DOCUMENT_OFFERS } from '../../sword/headers/negotiate.ts';
import { LANDING_OFFERS } from '../answering/landing-page.ts';
import { documentContent, jsonContent } from './content.ts';
import type { OperationsOf } from './operation.ts';

/** What needs no credentials. */
export const OPEN_OPERATIONS: OperationsOf<'landingPage' | 'openApi' | 'live' | 'ready'> = {
  landingPage: {
    get: {
      id: 'getLandingPage',
      tag: 'Service',
      summary: 'A page from which clients and people find the service document',
      answers: {
        200: {
          description: 'The page.',
          headers: ['Link'],
          content: {
            ...documentContent(LANDING_OFFERS, 'Landing', 'html'),
            'text/html': { schema: { type: 'string' } },
          },
        },
      },
    },
  },
  openApi: {
    get: {
      id: 'getDescription',
      tag: 'Service',
      summary: 'This description',
      parameters: ['ifNoneMatch'],
      answers: {
        200: {
          description: 'The description.',
          headers: ['ETag'],
          content: {
            ...jsonContent('OpenApi'),
            'application/vnd.oai.openapi+json;version=3.1': jsonContent('OpenApi')['application/json'] ?? {},
          },
        },
        304: { description: 'The client holds it already.', headers: ['ETag'] },
      },
    },
  },
  live: {
    get: {
      id: 'getLiveness',
      tag: 'Service',
      summary: 'Whether the process answers',
      answers: { 200: { description: 'It does.', content: jsonContent('Health') } },
    },
  },
  ready: {
    get: {
      id: 'getReadiness',
      tag: 'Service',
      summary: 'Whether the service can do its work',
      answers: { 200: { description: 'It can.', content: jsonContent('Health') } },
      refusals: ['ServiceUnavailable'],
    },
  },
};

const serviceDocument = {
  description: 'The service document.',
  headers: ['Link'],
  content: documentContent(DOCUMENT_OFFERS, 'ServiceDocument', 'app:service'),
} as const;

export const SERVICE_OPERATIONS: OperationsOf<'serviceDocument' | 'collectionService'> = {
  serviceDocument: {
    get: {
      id: 'getServiceDocument',
      tag: 'Service',
      summary: 'SD-IRI: the collections of the client',
      answers: { 200: serviceDocument },
    },
  },
  collectionService: {
    get: {
      id: 'getServiceDocumentOfCollection',
      tag: 'Service',
      summary: 'The service document of one collection',
      answers: { 200: serviceDocument },
      refusals: ['NotFound'],
    },
  },
};

import type { Generator } from '../../sword/documents/generator.ts';
import type { Iris } from '../../sword/iris.ts';
import { jsonContent } from './content.ts';
import { type Json, TAGS } from './operation.ts';
import { PARAMETERS } from './parameters.ts';
import { pathsOf, refusalLists } from './paths.ts';
import { refusalResponses } from './refusals.ts';
import { RESPONSE_HEADERS } from './response-headers.ts';
import { SCHEMAS } from './schemas.ts';

export type DescribedService = {
  readonly iris: Iris;
  readonly generator: Generator;
  readonly depositNamespace: string;
  readonly maxUploadSize: number;
  readonly maxEntrySize: number;
  readonly maxArchives: number;
  /** Bytes of an archive that comes in pieces; `undefined`: none can. */
  readonly maxResumableUploadSize: number | undefined;
};

/** Every operation of the service, as OpenAPI 3.1 has it. */
export function openApiDocument(service: DescribedService): Json {
  const hasUploads = service.maxResumableUploadSize !== undefined;
  const { name, version } = service.generator;
  return {
    openapi: '3.1.0',
    info: { title: name, version, description: descriptionOf(service) },
    servers: [{ url: service.iris.base }],
    tags: Object.entries(TAGS).map(([tag, description]) => ({ name: tag, description })),
    security: [{ basic: [] }],
    paths: pathsOf(hasUploads),
    webhooks: { depositNews: { post: WEBHOOK } },
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
      parameters: PARAMETERS,
      headers: RESPONSE_HEADERS,
      responses: refusalResponses(refusalLists(hasUploads), service.depositNamespace),
      schemas: SCHEMAS,
    },
  };
}

function descriptionOf(service: DescribedService): string {
  const { maxUploadSize, maxEntrySize, maxArchives, maxResumableUploadSize, depositNamespace } = service;
  const inPieces =
    maxResumableUploadSize === undefined ? '' : ` (in pieces, by tus, ${maxResumableUploadSize})`;
  return [
    'Deposits of source code by SWORD 2.0.',
    'XML is the default of every document; JSON with the same facts comes where Accept prefers application/json, errors included.',
    `The deposit namespace of the XML is ${depositNamespace}.`,
    `One archive has at most ${maxUploadSize} bytes${inPieces}, a deposit ${maxArchives} archives, an entry ${maxEntrySize} bytes.`,
    'A path without its trailing slash is the same. Every answer has an X-Request-Id.',
  ].join(' ');
}

/** What is sent to clients that have a webhook. */
const WEBHOOK: Json = {
  operationId: 'tellOfDeposit',
  tags: ['Notifications'],
  summary: 'A deposit has another status, or was deleted',
  description: 'Signed as the Standard Webhooks specification says; sent again until it is taken.',
  security: [],
  parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
    name,
    in: 'header',
    required: true,
    schema: { type: 'string' },
  })),
  requestBody: { required: true, content: jsonContent('DepositNews') },
  responses: { '2XX': { description: 'Taken.' } },
};

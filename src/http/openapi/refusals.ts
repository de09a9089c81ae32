import { errorIri, errorStatus, errorTitle } from '../../sword/documents/error-document.ts';
import type { SwordErrorCode } from '../../sword/sword-error.ts';
import { ERROR_TYPES } from '../answering/answer-errors.ts';
import { type Json, schemaRef } from './operation.ts';
import { headerRefs, type ResponseHeaderName } from './response-headers.ts';

/** What any request can be refused for, and what any behind credentials can. */
export const ALWAYS: readonly SwordErrorCode[] = ['ErrorBadRequest', 'InternalError'];
export const BEHIND_LOGIN: readonly SwordErrorCode[] = [
  'Unauthorized',
  'TooManyRequests',
  'ServiceUnavailable',
];

/** What refuses a request before there is one; nothing is known then of what it accepts. */
const OF_HTTP = {
  408: 'The headers came too slowly.',
  431: 'The headers are too large.',
} as const;

/** Not required are those that come with one of several errors of a status. */
const HEADERS: Partial<Record<SwordErrorCode, readonly ResponseHeaderName[]>> = {
  Unauthorized: ['Authenticate'],
  MethodNotAllowed: ['Allow'],
  Conflict: ['EditLink'],
  MaxUploadSizeExceeded: ['TusMaxSize'],
  TusVersionNotSupported: ['TusVersionOfRefusal'],
  UploadLocked: ['RetryAfter'],
  TooManyRequests: ['RetryAfter'],
  ServiceUnavailable: ['RetryAfter'],
};

/** What an operation refuses; those of uploads have a header more. */
export type Refusals = { readonly codes: readonly SwordErrorCode[]; readonly isOfUploads: boolean };

/** The refusals of an operation by status, each as a reference to what {@link refusalResponses} has of them. */
export function refusalsOf({ codes, isOfUploads }: Refusals): Json {
  const refs = [...byStatus(codes)].map(([status, some]) => [status, responseRef(nameOf(some, isOfUploads))]);
  const ofHttp = Object.keys(OF_HTTP).map((status) => [status, responseRef(`Http${status}`)]);
  return Object.fromEntries([...refs, ...ofHttp]);
}

/** All that any of these refer to. */
export function refusalResponses(all: readonly Refusals[], depositNamespace: string): Json {
  const pairs = all.flatMap(({ codes, isOfUploads }) =>
    [...byStatus(codes).values()].map((some) => {
      return [nameOf(some, isOfUploads), responseOf(some, isOfUploads, depositNamespace)] as const;
    }),
  );
  const ofHttp = Object.entries(OF_HTTP).map(([status, description]) => {
    return [`Http${status}`, { description, content: { [ERROR_TYPES.xml]: XML } }] as const;
  });
  return Object.fromEntries([...pairs, ...ofHttp]);
}

const XML: Json = {
  schema: {
    type: 'string',
    contentMediaType: 'application/xml',
    description: 'XML with the root element sword:error.',
  },
};

const CONTENT: Json = {
  [ERROR_TYPES.xml]: XML,
  [ERROR_TYPES.json]: { schema: schemaRef('SwordError') },
};

function responseOf(codes: readonly SwordErrorCode[], isOfUploads: boolean, depositNamespace: string): Json {
  const named = codes.map((code) => `${errorTitle(code)}: \`${errorIri(code, depositNamespace)}\``);
  const headers: readonly ResponseHeaderName[] = [
    ...codes.flatMap((code) => HEADERS[code] ?? []),
    ...(isOfUploads ? (['TusResumableOfRefusal'] as const) : []),
  ];
  return {
    description: `${named.join('; ')}.`,
    ...(headers.length > 0 && { headers: headerRefs(headers) }),
    content: CONTENT,
  };
}

function byStatus(codes: readonly SwordErrorCode[]): Map<string, readonly SwordErrorCode[]> {
  const sorted = [...new Set(codes)].toSorted(
    (a, b) => errorStatus(a) - errorStatus(b) || a.localeCompare(b),
  );
  return Map.groupBy(sorted, (code) => String(errorStatus(code)));
}

function nameOf(codes: readonly SwordErrorCode[], isOfUploads: boolean): string {
  return [...codes, ...(isOfUploads ? ['OfUploads'] : [])].join('.');
}

function responseRef(name: string): Json {
  return { $ref: `#/components/responses/${name}` };
}

import { errorIri, errorStatus, errorTitle } from '../../sword/error-document.ts';
import type { SwordErrorCode } from '../../sword/sword-error.ts';
import { ERROR_TYPES } from '../answer-errors.ts';
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

const HEADERS: Partial<Record<SwordErrorCode, readonly ResponseHeaderName[]>> = {
  Unauthorized: ['Authenticate'],
  MethodNotAllowed: ['Allow'],
  Conflict: ['EditLink'],
  MaxUploadSizeExceeded: ['TusMaxSize'],
  UploadLocked: ['RetryAfter'],
  TooManyRequests: ['RetryAfter'],
  ServiceUnavailable: ['RetryAfter'],
};

/** The refusals of an operation by status, each as a reference to what {@link refusalResponses} has of them. */
export function refusalsOf(codes: readonly SwordErrorCode[]): Json {
  const refs = [...byStatus(codes)].map(([status, some]) => [status, responseRef(nameOf(some))]);
  const ofHttp = Object.keys(OF_HTTP).map((status) => [status, responseRef(`Http${status}`)]);
  return Object.fromEntries([...refs, ...ofHttp]);
}

/** All that any of these lists of codes refers to. */
export function refusalResponses(
  lists: readonly (readonly SwordErrorCode[])[],
  depositNamespace: string,
): Json {
  const found = lists.flatMap((codes) => [...byStatus(codes).values()]);
  const pairs = found.map((codes) => [nameOf(codes), responseOf(codes, depositNamespace)] as const);
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

function responseOf(codes: readonly SwordErrorCode[], depositNamespace: string): Json {
  const named = codes.map((code) => `${errorTitle(code)}: \`${errorIri(code, depositNamespace)}\``);
  // Where several errors have one status, only some of them may have the header.
  const headers = codes.length === 1 ? (HEADERS[codes[0] as SwordErrorCode] ?? []) : [];
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

function nameOf(codes: readonly SwordErrorCode[]): string {
  return codes.join('.');
}

function responseRef(name: string): Json {
  return { $ref: `#/components/responses/${name}` };
}

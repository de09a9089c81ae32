import type { SwordErrorCode } from '../../sword/sword-error.ts';
import type { OpenRouteName, RouteName } from '../route-table.ts';
import type { ParameterName } from './parameters.ts';
import type { ResponseHeaderName } from './response-headers.ts';
import type { SchemaName } from './schemas.ts';

/** JSON Schema of the 2020-12 edition, or another object of OpenAPI: data that nothing here looks into. */
export type Json = { readonly [key: string]: unknown };

/** By media type. */
export type Content = Readonly<Record<string, Json>>;

/** What the service can be asked to do, by the methods that are told apart. HEAD goes with GET unless it is here. */
export type Operation = {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  /** Those of the path come by themselves. */
  readonly parameters?: readonly ParameterName[];
  readonly body?: { readonly description: string; readonly required: boolean; readonly content: Content };
  readonly answers: Readonly<Record<number, Answer>>;
  /** Besides those that every operation can give. */
  readonly refusals?: readonly SwordErrorCode[];
};

export type Answer = {
  readonly description: string;
  readonly headers?: readonly ResponseHeaderName[];
  readonly content?: Content;
};

export type Operations = Readonly<Partial<Record<DocumentedMethod, Operation>>>;

export type DocumentedMethod = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete';

/** What is told of a path: its operations, and who refuses OPTIONS for which reasons. */
export type OperationsOf<Name extends RouteName | OpenRouteName> = Readonly<Record<Name, Operations>>;

/** Groups of operations, in the order in which they are shown. */
export const TAGS = {
  Service: 'What the service is and offers.',
  Deposits: 'Creating, changing, completing and deleting deposits.',
  Archives: 'The archives of a deposit.',
  Progress: 'How a deposit is doing and what has happened to it.',
  Notifications: 'News of deposits as they happen.',
  Uploads: 'Archives in pieces, by tus 1.0, to be deposited afterwards.',
  Identifiers: 'What a SWHID names among the deposits that are done.',
  'HEAD and OPTIONS': 'The head of what GET answers; what is possible.',
} as const;

export type Tag = keyof typeof TAGS;

export function schemaRef(name: SchemaName): Json {
  return { $ref: `#/components/schemas/${name}` };
}

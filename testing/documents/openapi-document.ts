import {
  type DescribedService,
  OPTIONAL_MODULES,
  openApiDocument,
} from '../../src/http/middleware/open-api-document.ts';
import { Iris } from '../../src/sword/iris.ts';

export type Schema = {
  readonly $ref?: string;
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
};
type MediaTypes = Readonly<Record<string, { readonly schema?: Schema; readonly encoding?: Encoding }>>;
type Encoding = Readonly<Record<string, { readonly contentType: string }>>;
type Answer = { readonly $ref?: string; readonly description?: string; readonly content?: MediaTypes };
export type Operation = {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody?: { readonly content: MediaTypes };
  readonly responses: Readonly<Record<string, Answer>>;
};
export type Parameter = { readonly name: string; readonly description: string; readonly schema: Schema };
/** The fields of the description that tests read. */
export type Document = {
  readonly info: Readonly<Record<'title' | 'version' | 'description', string>>;
  readonly servers: readonly unknown[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: object;
    readonly responses: Readonly<Record<string, Answer>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
};

export const NAMESPACE = 'https://deposit.example/namespace';
const SERVICE: Omit<DescribedService, 'modules'> = {
  iris: new Iris('https://deposit.example/'),
  generator: { name: 'deposit-service', version: '1.2.3', uri: 'https://deposit.example/' },
  depositNamespace: `${NAMESPACE}/`,
  maxUploadSize: 1001,
  maxEntrySize: 1002,
  maxArchives: 1003,
  maxResumableUploadSize: 1004,
};
export const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

/** Resolves to the description of a service with all optional capabilities. */
export async function describe(options: Partial<DescribedService> = {}): Promise<Document> {
  const modules = new Set(OPTIONAL_MODULES);
  const described = await openApiDocument({ ...SERVICE, modules, ...options });
  return described as unknown as Document; // the validator has found it to be one
}

/** Returns every operation with its references resolved to names. */
export function operations({ paths }: Document) {
  const all = Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
  return all.map(({ operationId, security, responses: own, requestBody, parameters: named = [] }) => ({
    id: operationId,
    isOpen: security?.length === 0,
    parameters: named.map(nameOf),
    body: requestBody?.content,
    answers: Object.values(own).filter(({ $ref }) => $ref === undefined),
    statuses: Object.keys(own),
    refusals: Object.entries(own).flatMap(([status, { $ref }]) =>
      $ref === undefined ? [] : [[status, nameOf({ $ref })] as const],
    ),
  }));
}

export function referencesIn(part: unknown): string[] {
  return [...JSON.stringify(part).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference);
}

/** Returns the name of the component in the reference. */
export function nameOf({ $ref }: { readonly $ref: string }): string {
  return $ref.split('/').at(-1) ?? '';
}

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TestClient } from '../http/test-client.ts';
import { parsedBody } from './parsed-body.ts';

type Json = Readonly<Record<string, unknown>>;
type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Json };
type Header = { required?: boolean; schema: Json };
type Response_ = { headers?: Record<string, Json>; content?: Record<string, { schema?: Schema }> };
type Schema = Json & { readonly description?: string };
type DescribedOperation = {
  operationId: string;
  parameters?: Json[];
  requestBody?: { required: boolean; content: Record<string, { schema?: Json }> };
  responses: Record<string, Json>;
  security?: unknown[];
};

/** An operation with all that its path defines, too. */
export type Operation = {
  readonly id: string;
  readonly method: string;
  readonly template: string;
  readonly isOpen: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: DescribedOperation['requestBody'];
  readonly responses: Readonly<Record<string, Response_>>;
};

export type Call = {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Matches the text after which no more is read of an answer that does not end. */
  readonly until?: RegExp;
};

/** The answer, and its deviations from the description. */
export type Checked = {
  readonly status: number;
  readonly headers: Headers;
  readonly contentType: string | undefined;
  readonly body: string;
  readonly problems: readonly string[];
};

const DESCRIPTION = 'https://description.example/';
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

/** Headers of HTTP itself, and those that the description defines once for all answers. */
const OF_EVERY_ANSWER = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
  'x-request-id',
]);

/** A running service and its own description: requests are made from it, answers are compared with it. */
export class DescribedService {
  readonly document: Json & { paths: Record<string, Json>; components: { schemas: Record<string, Json> } };
  readonly operations: ReadonlyMap<string, Operation>;
  readonly #ajv = new Ajv2020({ strict: true, allErrors: true, formats: FORMATS });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: unknown) {
    this.document = document as DescribedService['document'];
    this.#ajv.addSchema({ $defs: closed(rooted(this.document.components.schemas)) }, DESCRIPTION);
    const all = Object.entries(this.document.paths).flatMap(([template, item]) =>
      METHODS.filter((method) => method in item).map((method) => this.#operation(template, method, item)),
    );
    this.operations = new Map(all.map((one) => [one.id, one]));
    if (this.operations.size !== all.length) throw new Error('Two operations have the same operationId.');
  }

  /** Sends what the operation is described to accept; every deviation from the description is a problem. */
  async call(id: string, client: Pick<TestClient, 'send'>, call: Call = {}): Promise<Checked> {
    const operation = this.operations.get(id);
    if (!operation) throw new Error(`The description has no operation ${id}.`);
    const { method, template } = operation;
    const { query = {}, headers = {}, body } = call;
    const target = template.replace(/\{(\w+)\}/g, (_whole, name: string) => String(call.path?.[name]));
    const search = new URLSearchParams(query).toString();
    const answer = await client.send(method.toUpperCase(), `${target}${search && `?${search}`}`, {
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
    const text = await textOf(answer, call.until);
    const problems = [
      ...(answer.ok ? requestProblems(operation, call) : []),
      ...this.#answerProblems(operation, answer, text),
    ].map((problem) => `${id} ${answer.status}: ${problem}`);
    const contentType = normalised(answer.headers.get('content-type'));
    return { status: answer.status, headers: answer.headers, contentType, body: text, problems };
  }

  /** Returns the deviations from the schema of this name. */
  schemaProblems(name: string, value: unknown): readonly string[] {
    return this.#problems({ $ref: `#/components/schemas/${name}` }, value);
  }

  /** Compiles every schema, strictly. */
  compileAll(): void {
    for (const name of Object.keys(this.document.components.schemas)) this.schemaProblems(name, undefined);
    for (const { parameters } of this.operations.values()) {
      for (const { schema } of parameters) this.#ajv.compile(schema);
    }
  }

  #operation(template: string, method: string, item: Json): Operation {
    const described = item[method] as DescribedOperation;
    const parameters = [...((item['parameters'] as Json[]) ?? []), ...(described.parameters ?? [])];
    return {
      id: described.operationId,
      method,
      template,
      isOpen: described.security?.length === 0,
      parameters: parameters.map((one) => this.#resolved(one) as Parameter),
      body: described.requestBody,
      responses: Object.fromEntries(
        Object.entries(described.responses).map(([status, one]) => [
          status,
          this.#resolved(one) as Response_,
        ]),
      ),
    };
  }

  #answerProblems(operation: Operation, answer: Response, text: string): readonly string[] {
    const response = operation.responses[String(answer.status)];
    if (!response) return ['the status is not documented'];
    const missing = Object.entries(response.headers ?? {}).flatMap(([name, one]) => {
      const { required, schema } = this.#resolved(one) as Header;
      const value = answer.headers.get(name);
      if (value === null) return required ? [`the header ${name} is missing`] : [];
      const typed = schema['type'] === 'integer' ? Number(value) : value;
      return this.#problems(schema, typed).map((problem) => `header ${name}: ${problem}`);
    });
    const described = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()));
    const undescribed = [...answer.headers.keys()].filter(
      (name) => !described.has(name) && !OF_EVERY_ANSWER.has(name),
    );
    return [
      ...missing,
      ...undescribed.map((name) => `the header ${name} is not documented`),
      ...this.#bodyProblems(operation, response, answer, text),
    ];
  }

  #bodyProblems({ method }: Operation, { content }: Response_, answer: Response, text: string): string[] {
    const type = normalised(answer.headers.get('content-type'));
    if (!content) return type === undefined && text === '' ? [] : [`no body is documented, but ${type} came`];
    const [, described] = Object.entries(content).find(([key]) => normalised(key) === type) ?? [];
    if (!described) return [`the media type ${type} is not documented`];
    if (method === 'head') return text === '' ? [] : ['HEAD was answered with a body'];
    if (type?.endsWith('json')) return this.#problems(described.schema ?? {}, JSON.parse(text));
    const description = described.schema?.description ?? '';
    if (!description.startsWith('XML')) return [];
    const root = parsedBody(text).name.replace(/^\{.*\}/, '');
    return description.includes(`:${root}`)
      ? []
      : [`the root element is ${root}, not as in "${description}"`];
  }

  #problems(schema: Json, value: unknown): string[] {
    const key = JSON.stringify(schema);
    const validate = this.#validators.get(key) ?? this.#ajv.compile(rooted(schema));
    this.#validators.set(key, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  /** Resolves a reference; its type is known at the place of use, as the document has been found valid. */
  #resolved(one: Json): unknown {
    const pointer = one['$ref'];
    if (typeof pointer !== 'string') return one;
    const [, ...keys] = pointer.split('/');
    let found: unknown = this.document;
    for (const key of keys) found = (found as Json)[key];
    if (found === undefined) throw new Error(`The description has no ${pointer}.`);
    return found;
  }
}

function requestProblems({ parameters, body }: Operation, call: Call): string[] {
  const known = (place: Parameter['in'], name: string): boolean =>
    parameters.some((one) => one.in === place && one.name.toLowerCase() === name.toLowerCase());
  const headers = Object.keys(call.headers ?? {}).filter((name) => !/^(accept|content-type)$/i.test(name));
  const sent = { path: Object.keys(call.path ?? {}), query: Object.keys(call.query ?? {}), header: headers };
  const unknown = (['path', 'query', 'header'] as const).flatMap((place) =>
    sent[place].filter((name) => !known(place, name)).map((name) => `${place} ${name} is not documented`),
  );
  const missing = parameters.filter(
    ({ name, in: place, required }) =>
      required && !sent[place].some((one) => one.toLowerCase() === name.toLowerCase()),
  );
  const type = normalised(call.headers?.['Content-Type'] ?? null, { bare: true });
  const types = Object.keys(body?.content ?? {}).map((key) => normalised(key, { bare: true }));
  const foreign =
    call.body !== undefined && !types.includes(type) ? [`the body ${type} is not documented`] : [];
  const absent = call.body === undefined && body?.required ? ['a body is required'] : [];
  return [...unknown, ...missing.map(({ name }) => `${name} is not required`), ...foreign, ...absent];
}

async function textOf(answer: Response, until: RegExp | undefined): Promise<string> {
  if (!until) return answer.text();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (until.test(text)) break;
  }
  return text;
}

/** Returns a media type without charset and spacing; `bare`: without any parameter. */
function normalised(type: string | null, { bare = false } = {}): string | undefined {
  if (type === null) return undefined;
  const [name = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  const kept = bare ? [] : parameters.filter((one) => !one.startsWith('charset='));
  return [name, ...kept].join(';');
}

/** Returns the schema without additional properties: otherwise undocumented fields would pass. */
function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closed) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isObject = inner['type'] === 'object' && typeof inner['properties'] === 'object';
  return (isObject ? { ...inner, additionalProperties: false } : inner) as Value;
}

/** Rewrites references within the description to the compiled schemas. */
function rooted(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', `"${DESCRIPTION}#/$defs/`));
}

const FORMATS = {
  binary: () => true,
  uri: (text: string) => URL.canParse(text),
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text)),
};

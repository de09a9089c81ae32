/** A JSON Schema of the 2020-12 edition, written in TypeScript. */
export type Schema = { readonly [key: string]: unknown };

export const text: Schema = { type: 'string' };
export const uri: Schema = { type: 'string', format: 'uri' };
/** RFC 3339, in UTC. */
export const time: Schema = { type: 'string', format: 'date-time' };
export const count: Schema = { type: 'integer', minimum: 0 };
export const depositId: Schema = { type: 'integer', minimum: 1 };
export const urn: Schema = { type: 'string', pattern: '^urn:uuid:[0-9a-f-]{36}(#.*)?$' };
export const sha256: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
export const swhid: Schema = { type: 'string', pattern: '^swh:1:(cnt|dir|rev|snp|rel):[0-9a-f]{40}$' };
export const qualifiedSwhid: Schema = {
  type: 'string',
  pattern: '^swh:1:(cnt|dir|rev|snp|rel):[0-9a-f]{40}(;.*)?$',
};

/** What is in `optional` may be left out, everything else is always there. */
export function object(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
  description?: string,
): Schema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
}

export function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export function described(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

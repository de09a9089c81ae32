import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv, type AnySchemaObject } from 'ajv';
import { parse } from 'yaml';

export const root = path.join(import.meta.dirname, '../..');

/** The fields of a service that tests read; the schema defines the others. */
export type ComposeService = {
  readonly image?: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly init?: boolean;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly security_opt?: readonly string[];
};

export type ComposeFile = {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks?: Readonly<Record<string, unknown>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, unknown>>;
};

/**
 * Returns a compose file with its anchors resolved and its variables replaced as compose does it. @throws {Error} a
 * required variable is missing or empty.
 */
export function composeFile(name: string, variables: Readonly<Record<string, string>>): ComposeFile {
  const text = readFileSync(path.join(root, name), 'utf8');
  return interpolated(parse(text, { merge: true }), variables) as ComposeFile;
}

/** Returns violations of the Compose specification, a sentence each. */
export function schemaErrors(compose: ComposeFile): string[] {
  const text = readFileSync(path.join(root, 'test/fixtures/compose-spec/schema.json'), 'utf8');
  // It names draft 7, which is the default anyway, by an address that ajv does not know.
  const { $schema: _, ...schema } = JSON.parse(text) as AnySchemaObject;
  const ajv = new Ajv({ strict: false, allErrors: true });
  if (ajv.validate(schema, compose) === true) return [];
  return (ajv.errors ?? []).map(({ instancePath, message = '', params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`;
  });
}

/** Returns the services that a service waits for, and their conditions. */
export function dependenciesOf({ depends_on: waited = {} }: ComposeService): (readonly [string, string])[] {
  if (isList(waited)) return waited.map((name) => [name, 'service_started'] as const);
  return Object.entries(waited).map(([name, { condition }]) => [name, condition] as const);
}

/** Returns the part before the first colon of each volume: a name, or a path of this machine. */
export function volumeSources({ volumes = [] }: ComposeService): string[] {
  return volumes.map((volume) => volume.split(':')[0] ?? '');
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

function interpolated(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return substituted(value, variables);
  if (Array.isArray(value)) return value.map((item) => interpolated(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolated(item, variables)]));
}

/** Replaces `${NAME:-default}` and `${NAME:?what is wrong}`, the two forms that the files use. */
function substituted(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    const value = variables[name] || (kind === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name} is missing: ${rest}`);
    return value;
  });
}

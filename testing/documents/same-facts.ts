import type { ExecutionContext } from 'ava';
import { type Parsed, parsedBody } from './parsed-body.ts';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Fields that differ between answers, that XML shows by other means, or that Atom has in feeds alone. */
const OTHERWISE = new Set(['updated', 'dry_run', 'mediation', 'generator']);

/** Asserts that every fact of the JSON is in the XML, too. */
export function assertSameFacts(t: ExecutionContext, id: string, json: string, xml: string): void {
  const facts = new Set(factsIn(parsedBody(xml)));
  const missing = valuesIn(JSON.parse(json) as Json).filter((value) => !facts.has(value));
  t.deepEqual(missing, [], `${id} ${xml}`);
}

function factsIn({ text, attributes, children }: Parsed): string[] {
  return [text, ...Object.values(attributes), ...children.flatMap(factsIn)];
}

function valuesIn(value: Json, key = ''): string[] {
  if (value === null || OTHERWISE.has(key)) return [];
  if (typeof value === 'object') return Object.entries(value).flatMap(([name, one]) => valuesIn(one, name));
  return [String(value)];
}

import type { RenderContext } from '../../sword/documents/document.ts';
import { serviceErrorNamespace } from '../../sword/documents/error-document.ts';
import { files } from '../../tools/files.ts';
import type { HttpSettings } from '../http-settings.ts';

/** Names the optional capabilities, as `x-module` marks their parts in docs/openapi.yaml. */
export const OPTIONAL_MODULES = ['resumable-uploads', 'dry-run', 'webhooks', 'status-events'] as const;

export type OptionalModule = (typeof OPTIONAL_MODULES)[number];

export type DescribedService = Pick<HttpSettings, 'maxUploadSize' | 'maxEntrySize'> &
  RenderContext & {
    readonly maxArchives: number;
    /** Maximum bytes of a resumable upload; `undefined` without the module. */
    readonly maxResumableUploadSize: number | undefined;
    /** The optional capabilities that are on. */
    readonly modules: ReadonlySet<string>;
  };

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const DOCUMENT = new URL('../../../docs/openapi.yaml', import.meta.url);

/** Resolves to docs/openapi.yaml with the values of this service and without the modules that are off. */
export async function openApiDocument(service: DescribedService): Promise<Json> {
  const { parse } = await import('yaml'); // loaded here: most processes are never asked
  const text = await files.readFile(DOCUMENT, 'utf8');
  const document = parse(text, { merge: true, maxAliasCount: -1 }) as Json; // the limit is for untrusted YAML
  return render(document, valuesOf(service), service.modules);
}

type Values = Readonly<Record<string, string | number>>;

/** Returns the value of each `{name}` in the document. */
function valuesOf({ iris, generator, maxResumableUploadSize, ...service }: DescribedService): Values {
  const { depositNamespace, maxUploadSize, maxEntrySize, maxArchives } = service;
  return {
    name: generator.name,
    version: generator.version,
    baseUrl: iris.base,
    depositNamespace,
    errorNamespace: serviceErrorNamespace(depositNamespace),
    maxUploadSize,
    maxEntrySize,
    maxArchives,
    maxUploadLength: maxResumableUploadSize ?? Number.MAX_SAFE_INTEGER,
    asResumable:
      maxResumableUploadSize === undefined ? '' : ` (as a resumable upload, ${maxResumableUploadSize})`,
  };
}

function render(part: Json, values: Values, modules: ReadonlySet<string>): Json {
  if (typeof part === 'string') return fill(part, values);
  if (part === null || typeof part !== 'object') return part;
  if (Array.isArray(part)) {
    return part.filter((item) => isOn(item, modules)).map((item) => render(item, values, modules));
  }
  const entries = Object.entries(part).filter(
    ([key, value]) => !key.startsWith('x-') && isOn(value, modules),
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, render(value, values, modules)]));
}

function isOn(part: Json, modules: ReadonlySet<string>): boolean {
  if (part === null || typeof part !== 'object' || Array.isArray(part)) return true;
  const module = part['x-module'];
  return typeof module !== 'string' || modules.has(module);
}

/** A text that is only the name of a value becomes that value, also a number. */
function fill(text: string, values: Values): string | number {
  const [, name = ''] = /^\{(\w+)\}$/.exec(text) ?? [];
  const value = values[name];
  if (typeof value === 'number') return value;
  return text.replace(/\{([a-z]\w*)\}/gi, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`docs/openapi.yaml names {${name}}, which has no value.`);
    return String(value);
  });
}

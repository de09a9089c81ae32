import { ENTRY_TYPES } from '../../sword/headers/media-type.ts';
import type { Offers } from '../../sword/headers/negotiate.ts';
import { type Content, type Json, schemaRef } from './operation.ts';
import type { SchemaName } from './schemas.ts';

/** A document in every media type in which it is offered: XML as text, JSON by its schema. */
export function documentContent(offers: Offers<string>, schema: SchemaName, root: string): Content {
  const pairs = offers.map(({ contentType, format }) => {
    return [contentType, format === 'json' ? { schema: schemaRef(schema) } : xml(root)] as const;
  });
  return Object.fromEntries(pairs);
}

export function jsonContent(schema: SchemaName): Content {
  return { 'application/json': { schema: schemaRef(schema) } };
}

/** Bytes as they are have no schema (OpenAPI 3.1, 4.8.14.2). */
export function binaryContent(types: readonly string[]): Content {
  return Object.fromEntries(types.map((type) => [type, {}]));
}

/** What a metadata entry may come as. */
export function entryContent(): Content {
  return Object.fromEntries(ENTRY_TYPES.map((type) => [type, xml('atom:entry')]));
}

/** An archive and an entry in one body, told by the names of the parts or by their media types. */
export function multipartContent(archives: readonly string[], { entry = true } = {}): Content {
  const form = (archive: string): Json => ({
    schema: {
      type: 'object',
      minProperties: 1,
      properties: {
        [archive]: { contentMediaType: 'application/octet-stream' },
        ...(entry && { atom: { type: 'string', contentMediaType: 'application/xml' } }),
      },
    },
    encoding: {
      [archive]: { contentType: archives.join(', ') },
      ...(entry && { atom: { contentType: ENTRY_TYPES.join(', ') } }),
    },
  });
  return { 'multipart/form-data': form('file'), 'multipart/related': form('payload') };
}

function xml(root: string): Json {
  return {
    schema: {
      type: 'string',
      contentMediaType: 'application/xml',
      description: `XML with the root element ${root}.`,
    },
  };
}

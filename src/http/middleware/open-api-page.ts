import { type Document, type Part, text } from '../../sword/documents/document.ts';
import type { Json } from './open-api-document.ts';

type JsonObject = { readonly [key: string]: Json };

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Describes the page for people of an OpenAPI document: each operation with its parameters, bodies and responses. */
export function openApiPage(document: Json): Document {
  const root = objectOf(document);
  const { title, version, description } = objectOf(root['info']);
  const operations = Object.entries(objectOf(root['paths'])).flatMap(([path, item]) =>
    METHODS.filter((method) => method in objectOf(item)).map((method) => ({
      tag: textOf(listOf(objectOf(objectOf(item)[method])['tags'])[0]) || 'Other',
      part: operationPart(`${method.toUpperCase()} ${path}`, objectOf(item), method, root),
    })),
  );
  const tags = new Set(operations.map(({ tag }) => tag));
  return {
    element: 'openapi',
    facts: [
      text('title', `${textOf(title)} ${textOf(version)}`),
      text('summary', textOf(description)),
      text('format', 'OpenAPI 3.1, for programs at this address as application/json'),
      ...[...tags].map((name) => ({
        name,
        parts: operations.filter(({ tag }) => tag === name).map(({ part }) => part),
      })),
    ],
  };
}

function operationPart(title: string, item: JsonObject, method: string, root: JsonObject): Part {
  const operation = objectOf(item[method]);
  const { summary, description, requestBody, responses } = operation;
  const parameters = [...listOf(item['parameters']), ...listOf(operation['parameters'])].map((parameter) => {
    const { name, in: place, description: means } = resolved(parameter, root);
    return `${textOf(name)} (${textOf(place)})${means === undefined ? '' : `: ${textOf(means)}`}`;
  });
  const answers = Object.entries(objectOf(responses)).map(
    ([status, response]) => `${status}: ${textOf(resolved(response, root)['description'])}`,
  );
  const body = resolved(requestBody ?? {}, root);
  return {
    element: 'operation',
    facts: [
      text('title', title),
      text('summary', textOf(summary)),
      text('description', textOf(description)),
      { name: 'parameters', value: parameters },
      { name: 'request_body', value: Object.keys(objectOf(body['content'])) },
      { name: 'responses', value: answers },
    ],
  };
}

/** Returns the object, or the component to which its `$ref` points. */
function resolved(value: Json, root: JsonObject): JsonObject {
  const object = objectOf(value);
  const reference = object['$ref'];
  if (typeof reference !== 'string') return object;
  const path = reference.replace(/^#\//, '').split('/');
  return objectOf(path.reduce<Json>((part, key) => objectOf(part)[key] ?? {}, root));
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

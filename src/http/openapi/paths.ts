import type { SwordErrorCode } from '../../sword/sword-error.ts';
import { OPEN_ROUTES, type OpenRouteName, ROUTES, type RouteName, UPLOAD_ROUTES } from '../route-table.ts';
import { ARCHIVE_OPERATIONS } from './archive-operations.ts';
import { DEPOSIT_OPERATIONS } from './deposit-operations.ts';
import type { Json, Operation, Operations, OperationsOf } from './operation.ts';
import { PROGRESS_OPERATIONS } from './progress-operations.ts';
import { ALWAYS, BEHIND_LOGIN, type Refusals, refusalsOf } from './refusals.ts';
import { RESOLVE_OPERATIONS } from './resolve-operations.ts';
import { headerRefs, type ResponseHeaderName } from './response-headers.ts';
import { OPEN_OPERATIONS, SERVICE_OPERATIONS } from './service-operations.ts';
import { UPLOAD_OPERATIONS } from './upload-operations.ts';

type Name = RouteName | OpenRouteName;

/** A route without its operations does not compile. */
const OPERATIONS: OperationsOf<Name> = {
  ...OPEN_OPERATIONS,
  ...SERVICE_OPERATIONS,
  ...DEPOSIT_OPERATIONS,
  ...ARCHIVE_OPERATIONS,
  ...PROGRESS_OPERATIONS,
  ...RESOLVE_OPERATIONS,
  ...UPLOAD_OPERATIONS,
};

const ALL = { ...OPEN_ROUTES, ...ROUTES };

/** Every path with what can be done there; without those of uploads where these are switched off. */
export function pathsOf(hasUploads: boolean): Json {
  return Object.fromEntries(
    namesOf(hasUploads).map((name) => [templateOf(ALL[name]), pathItemOf(name, hasUploads)]),
  );
}

/** The refusals of each operation. */
export function refusalLists(hasUploads: boolean): readonly Refusals[] {
  return namesOf(hasUploads).flatMap((name) => [
    ...Object.values(OPERATIONS[name]).map((one) => refusalsAt(name, one.refusals)),
    refusalsAt(name, refusalsOfOptions(name)),
  ]);
}

function namesOf(hasUploads: boolean): readonly Name[] {
  const names = Object.keys(OPERATIONS) as Name[]; // the keys of the table
  return names.filter((name) => hasUploads || !isOfUploads(name));
}

function pathItemOf(name: Name, hasUploads: boolean): Json {
  const operations = hasUploads ? OPERATIONS[name] : withoutUploads(OPERATIONS[name]);
  const parameters = [...ALL[name].matchAll(/[:*](\w+)/g)].map(([, parameter = '']) =>
    parameterRef(parameter),
  );
  return {
    ...(parameters.length > 0 && { parameters }),
    ...Object.fromEntries(
      Object.entries(operations).map(([method, one]) => [method, operationOf(name, one)]),
    ),
    ...headOf(name, operations),
    ...(hasOptions(name) && { options: optionsOf(name) }),
  };
}

/** Where there are none, none can be named. */
function withoutUploads(operations: Operations): Operations {
  const pairs = Object.entries(operations).map(([method, { parameters = [], ...one }]) => {
    return [method, { ...one, parameters: parameters.filter((name) => name !== 'namedUpload') }];
  });
  return Object.fromEntries(pairs);
}

/** What `path-to-regexp` writes as `:name` and `*name`; every IRI that is handed out ends with a slash. */
function templateOf(route: string): string {
  const template = route.replace(/[:*](\w+)/g, '{$1}');
  return route.startsWith('/1/') ? `${template}/` : template;
}

function operationOf(name: Name, one: Operation): Json {
  const answers = Object.entries(one.answers).map(([status, { description, headers = [], content }]) => {
    const told = { ...(headers.length > 0 && { headers: headerRefs(headers) }), ...(content && { content }) };
    return [status, { description, ...told }] as const;
  });
  return {
    operationId: one.id,
    tags: [one.tag],
    summary: one.summary,
    ...(one.description !== undefined && { description: one.description }),
    ...(one.parameters && { parameters: one.parameters.map(parameterRef) }),
    ...(one.body && { requestBody: one.body }),
    responses: { ...Object.fromEntries(answers), ...refusalsOf(refusalsAt(name, one.refusals)) },
    ...(isOpen(name) && { security: [] }),
  };
}

function headOf(name: Name, { get, head }: Operations): Json {
  if (!get || head) return {};
  const summary = `The head of: ${get.summary}`;
  return { head: operationOf(name, { ...get, id: `${get.id}Head`, tag: 'HEAD and OPTIONS', summary }) };
}

function optionsOf(name: Name): Json {
  const headers: readonly ResponseHeaderName[] = isOfUploads(name)
    ? ['Allow', 'TusResumable', 'TusVersion', 'TusExtension', 'TusMaxSize', 'TusChecksumAlgorithm']
    : ['Allow'];
  return operationOf(name, {
    id: `${name}Options`,
    tag: 'HEAD and OPTIONS',
    summary: 'What is possible here now',
    answers: { 204: { description: 'In Allow.', headers } },
    refusals: refusalsOfOptions(name),
  });
}

function refusalsOfOptions(name: Name): readonly SwordErrorCode[] {
  return ALL[name].match(/[:*]/) ? ['NotFound'] : [];
}

function refusalsAt(name: Name, own: readonly SwordErrorCode[] = []): Refusals {
  const codes = [...ALWAYS, ...(isOpen(name) ? [] : BEHIND_LOGIN), ...own];
  return { codes, isOfUploads: isOfUploads(name) };
}

function isOpen(name: Name): boolean {
  return name in OPEN_ROUTES;
}

/** Health is for those who watch the service: it has GET and HEAD alone. */
function hasOptions(name: Name): boolean {
  return name !== 'live' && name !== 'ready';
}

function isOfUploads(name: Name): boolean {
  return UPLOAD_ROUTES.some((one) => one === name);
}

function parameterRef(name: string): Json {
  return { $ref: `#/components/parameters/${name}` };
}

import type { ServiceContext } from '../../../http/service-context.ts';
import type { Viewer } from '../access/sessions.ts';
import { pathPattern } from '../protocol/path-pattern.ts';
import type { Permission } from '../protocol/permissions.ts';

/** A request that matched a route. */
export type RouteRequest = {
  readonly ctx: ServiceContext;
  /** The values of the `:name` segments of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON, or the fields of the form; `undefined` for GET. */
  readonly body: unknown;
};

/** A request of a signed-in person or client. */
export type ViewerRequest = RouteRequest & { readonly viewer: Viewer };

/**
 * A resource of the console. Its permission is data: it is checked before `answer` is called, and a test walks over all
 * routes with all roles. What `answer` returns or resolves to is sent as JSON, unless it is `undefined`.
 */
export type Route = {
  readonly method: 'GET' | 'POST';
  /** Begins with `/console`; `:name` stands for one segment, `*name` for the rest. */
  readonly path: string;
  /** Whether it also accepts the body of an HTML form. */
  readonly isForm?: true;
} & (
  | { readonly permission: 'public'; readonly answer: (request: RouteRequest) => unknown }
  | {
      readonly permission: Exclude<Permission, 'public'>;
      /** Requires that the person signed in a short time ago. */
      readonly needsFreshSession?: true;
      /** Whether pages ask for it by themselves: it does not prolong the session. */
      readonly isBackground?: true;
      readonly answer: (request: ViewerRequest) => unknown;
    }
);

/** A refusal of the console, sent as JSON, or as a page to a browser that opens an address. */
export class ConsoleRefusal extends Error {
  override readonly name = 'ConsoleRefusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function notFoundHere(message = 'There is nothing at this address.'): ConsoleRefusal {
  return new ConsoleRefusal(404, 'NOT_FOUND', message);
}

/** Returns a function that finds the route of a path, and the values in it. */
export function routeFinder(routes: readonly Route[]) {
  const compiled = routes.map((route) => ({ route, pattern: pathPattern(route.path) }));
  return (method: string, path: string) => {
    const found = compiled.flatMap(({ route, pattern }) => {
      const match = pattern.exec(path);
      return match ? [{ route, params: decoded(match.groups ?? {}) }] : [];
    });
    const wanted = method === 'HEAD' ? 'GET' : method;
    const allow = [...new Set(found.map(({ route }) => route.method))];
    return { match: found.find(({ route }) => route.method === wanted), allow };
  };
}

/** @throws {URIError} */
function decoded(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, decodeURIComponent(value)]));
}

import { isOriginOf } from '../../../http/middleware/refuse-other-origins.ts';
import { type BodyTimeouts, collect, requestBody } from '../../../http/requests/request-body.ts';
import type { ServiceContext } from '../../../http/service-context.ts';
import { parseJson } from '../../../tools/parse-json.ts';
import type { Viewer } from '../access/sessions.ts';
import { viewerText } from '../protocol/boot.ts';
import { ConsoleRefusal, type Route } from './route.ts';

/** Maximum bytes of the body of a request. */
const MAX_BODY_BYTES = 65_536;

/**
 * Refuses a request that changes something unless a page of this console sent it. A page of another site cannot set
 * `X-Console` or send JSON without a preflight, which is not answered; and its browser says so in `Sec-Fetch-Site`.
 */
export function assertFromConsole({ req }: ServiceContext, { isForm }: Pick<Route, 'isForm'>): void {
  const { headers } = req;
  const site = headers['sec-fetch-site'];
  const isSameOrigin = site === undefined ? isOriginOf(headers.origin, headers.host) : site === 'same-origin';
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const isOwnForm = isForm && type === 'application/x-www-form-urlencoded';
  const isScript = type === 'application/json' && headers['x-console'] !== undefined;
  if (isSameOrigin && (isOwnForm || isScript)) return;
  throw new ConsoleRefusal(403, 'NOT_FROM_CONSOLE', 'The request does not come from a page of this console.');
}

/**
 * Refuses a request of a page that shows another viewer, which it names in a header or, in links and forms, in a parameter.
 * All tabs of a browser have one session: a page may be open since before another person signed in.
 */
export function assertOfViewer({ req }: ServiceContext, query: URLSearchParams, viewer: Viewer): void {
  const header = req.headers['x-console-viewer'];
  const shown = header ?? query.get('viewer') ?? undefined;
  if (shown === undefined || shown === viewerText(viewer)) return;
  const text =
    header === undefined // the address may be from another browser
      ? `This link is for another person or client, and ${viewer.name} has signed in. Open the page in the console and follow the link there.`
      : `This page is not of your session: ${viewer.name} has signed in in this browser since. Load it again.`;
  throw new ConsoleRefusal(409, 'OTHER_VIEWER', text);
}

/** Resolves to the parsed body, which has to arrive in the time that every body has. */
export async function readBody(
  ctx: ServiceContext,
  { isForm }: Pick<Route, 'isForm'>,
  timeouts: BodyTimeouts,
): Promise<unknown> {
  const tooLarge = () => new ConsoleRefusal(413, 'TOO_LARGE', `The body exceeds ${MAX_BODY_BYTES} bytes.`);
  const bytes = await collect(requestBody(ctx, MAX_BODY_BYTES, timeouts), MAX_BODY_BYTES, tooLarge);
  const text = bytes.toString('utf8');
  if (isForm) return Object.fromEntries(new URLSearchParams(text));
  const value = text === '' ? {} : parseJson(text);
  if (value === Object(value)) return value;
  throw new ConsoleRefusal(400, 'BAD_JSON', 'The body is no JSON object.');
}

import type { ExecutionContext } from 'ava';
import { child, type Parsed, parsedBody, texts } from './parsed-body.ts';

const OWN = 'https://www.softwareheritage.org/schema/2018/deposit/error/';
const SWORD = 'http://purl.org/net/sword/error/';
const STANDARD = ['ErrorBadRequest', 'ErrorContent', 'ErrorChecksumMismatch', 'MediationNotAllowed'];

/** Asserts that the answer is the complete SWORD error document of this name; resolves to its summary. */
export async function assertSwordError(
  t: ExecutionContext,
  answer: Response,
  status: number,
  name: string,
  about = '',
): Promise<string> {
  const body = await answer.text();
  t.is(answer.status, status, `${about} ${body}`);
  t.is(answer.headers.get('content-type'), 'application/xml', about);
  return assertErrorDocument(t, body, name, about);
}

export function assertErrorDocument(t: ExecutionContext, body: string, name: string, about = ''): string {
  const error = parsedBody(body);
  const standard = [...STANDARD, 'MethodNotAllowed', 'MaxUploadSizeExceeded'].includes(name);
  t.is(error.name, '{http://purl.org/net/sword/terms/}error', about);
  t.is(error.attributes['href'], `${standard ? SWORD : OWN}${name}`, `${about} ${body}`);
  assertComplete(t, error);
  return texts(error, ATOM('summary'))[0] ?? '';
}

function assertComplete(t: ExecutionContext, error: Parsed): void {
  for (const required of ['title', 'updated', 'generator', 'summary']) {
    t.not(child(error, ATOM(required)).text, '', required);
  }
  t.is(child(error, '{http://purl.org/net/sword/terms/}treatment').text, 'processing failed');
  const verbose = child(error, '{http://purl.org/net/sword/terms/}verboseDescription').text;
  t.notRegex(verbose, /\n\s+at |node_modules|\/tmp\/|\.ts:/, 'no stack and no path of this machine');
}

function ATOM(local: string): string {
  return `{http://www.w3.org/2005/Atom}${local}`;
}

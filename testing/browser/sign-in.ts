import type { Role } from '../../src/domain/person/person.ts';
import { SessionKey } from '../../src/modules/console/access/session-key.ts';
import { consoleLink } from '../../src/operations/people/console-link.ts';
import { ControlClient } from '../../src/service/operator-port/control-client.ts';
import type { RunningService } from '../service/running-service.ts';

/** Resolves to a link that signs in a person with the role, who is added if necessary. */
export async function linkFor(
  service: RunningService,
  role: Role,
  client?: string,
  person = client === undefined ? role : `${role}-of-${client}`,
): Promise<string> {
  await service.administration
    .person({ type: 'AddPerson', person, role, client: client ?? null })
    .catch((error: { code?: string }) => {
      if (error.code !== 'PERSON_EXISTS') throw error;
    });
  const control = await ControlClient.find(service.folder);
  if (!control) throw new Error('The service does not answer at its operator port.');
  const { url } = await consoleLink(service.service.log, control, { kind: 'operator', name: 'test' }, person);
  return url;
}

/** A session in the console, for requests without a browser. */
export class ConsoleSession {
  readonly #url: string;
  readonly cookie: string;

  static async begin(service: RunningService, role: Role, client?: string): Promise<ConsoleSession> {
    return ConsoleSession.ofLink(service.url, await linkFor(service, role, client));
  }

  /** Begins the session of the person for whom a link was issued. */
  static async ofLink(url: string, link: string): Promise<ConsoleSession> {
    const answer = await fetch(new URL('/console/enter', url), {
      method: 'POST',
      headers: ownHeaders(url),
      body: JSON.stringify({ code: new URL(link).hash.slice(1) }),
    });
    return new ConsoleSession(url, await cookieIn(answer));
  }

  /** Begins the session of a client, as the form of the sign-in does. */
  static async ofClient(url: string, name: string, password: string): Promise<ConsoleSession> {
    const answer = await fetch(new URL('/console/sign-in', url), {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: new URL(url).origin },
      body: new URLSearchParams({ name, password }),
    });
    return new ConsoleSession(url, await cookieIn(answer));
  }

  constructor(url: string, cookie: string) {
    this.#url = url;
    this.cookie = cookie;
  }

  /** Returns the session with the cookie of an answer, if it has one. */
  renewedBy({ headers }: Response): ConsoleSession {
    const cookie = headers.getSetCookie()[0]?.split(';', 1)[0];
    return cookie === undefined ? this : new ConsoleSession(this.#url, cookie);
  }

  /** Resolves to the session as it is if it began or was used at these times; `folder` is that of the service. */
  async at(folder: string, times: { readonly seenAt?: number; readonly signedInAt?: number }) {
    const [name, sealed = ''] = this.cookie.split('=');
    const key = await SessionKey.open(folder);
    const contents = JSON.parse(key.open(sealed) ?? '') as object;
    return new ConsoleSession(this.#url, `${name}=${key.seal(JSON.stringify({ ...contents, ...times }))}`);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(new URL(path, this.#url), {
      redirect: 'manual',
      headers: { Cookie: this.cookie, ...headers },
    });
  }

  post(
    path: string,
    body: unknown = {},
    headers: Record<string, string> = ownHeaders(this.#url),
  ): Promise<Response> {
    return fetch(new URL(path, this.#url), {
      method: 'POST',
      redirect: 'manual',
      headers: { Cookie: this.cookie, ...headers },
      body: JSON.stringify(body),
    });
  }
}

/** Returns the headers of a request that a page of the console sends. */
export function ownHeaders(url: string): Record<string, string> {
  return { 'Content-Type': 'application/json', 'X-Console': '1', Origin: new URL(url).origin };
}

async function cookieIn(answer: Response): Promise<string> {
  const cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0];
  if (cookie === undefined) throw new Error(`No session: ${answer.status} ${await answer.text()}`);
  return cookie;
}

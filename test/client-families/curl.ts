import type { RawAnswer } from '../../testing/http/raw-connection.ts';
import { askAlone, type RawRequest } from '../../testing/http/raw-conversation.ts';
import { type Account, basic, hostOf } from './account.ts';

/** A file of a `-F` argument. */
export type FormFile = {
  readonly name: string;
  readonly filename: string;
  readonly type: string;
  readonly body: string | Buffer;
};

type Headers = RawRequest['headers'];

const BOUNDARY = '------------------------d743da4ee472c39b';
/** Bytes from which a body waits for `100 Continue`. */
const EXPECTING = 1024 * 1024;

/** Bytes as captured from curl 7.88.1. */
export class Curl {
  readonly #account: Account;

  constructor(account: Account) {
    this.#account = account;
  }

  /** `curl -u …`; without a body `-X` names the method. */
  ask(method: string, iri: string, headers: Headers = []): Promise<RawAnswer> {
    return askAlone({ method, iri, headers: [...this.#first(), ...headers] });
  }

  /** `--data-binary @file`, and `-T file` to an IRI without its last slash. */
  data(method: string, iri: string, headers: Headers, body: string | Buffer): Promise<RawAnswer> {
    const last = expecting([['Content-Length', String(body.length)]], body.length);
    return askAlone({ method, iri, headers: [...this.#first(), ...headers, ...last], body });
  }

  /** `-F name=@filename;type=…` for each. */
  form(iri: string, headers: Headers, files: readonly FormFile[]): Promise<RawAnswer> {
    const body = formOf(files);
    const last = [
      ['Content-Length', String(body.length)],
      ['Content-Type', `multipart/form-data; boundary=${BOUNDARY}`],
    ] as const;
    const all = [...this.#first(), ...headers, ...expecting(last, body.length)];
    return askAlone({ method: 'POST', iri, headers: all, body });
  }

  #first(): Headers {
    return [
      ['Host', hostOf(this.#account)],
      ['Authorization', basic(this.#account)],
      ['User-Agent', 'curl/7.88.1'],
      ['Accept', '*/*'],
    ];
  }
}

function expecting(headers: Headers, length: number): Headers {
  return length > EXPECTING ? [...headers, ['Expect', '100-continue']] : headers;
}

function formOf(files: readonly FormFile[]): Buffer {
  const pieces = files.flatMap(({ name, filename, type, body }) => [
    `--${BOUNDARY}\r\n`,
    `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\n`,
    `Content-Type: ${type}\r\n\r\n`,
    body,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}

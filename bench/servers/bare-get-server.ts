import { createServer } from 'node:http';
import type { ClientLogin } from '../../projections/client-logins.ts';
import { Credentials } from '../../src/http/middleware/credentials.ts';
import { credentialOf } from '../../src/tools/cryptography/password.ts';

/*
 * The least that a server of node:http can do for an authenticated GET: the credentials check of the service, on a
 * view in memory, and the headers and the body that the service sent for the same request.
 */
const { port, name, password, status, headers, body } = JSON.parse(process.argv[2] ?? '{}') as {
  port: number;
  name: string;
  password: string;
  status: number;
  headers: Record<string, string>;
  body: string;
};
const login: ClientLogin = await loginOf();
const logins = { get: (asked: string) => (asked === name ? login : undefined) };
const credentials = new Credentials(logins, async () => undefined); // nothing to renew

createServer((req, res) => {
  if (req.url === '/') return void res.end('ready');
  credentials.verify(req.headers.authorization, req.socket.remoteAddress ?? '', req.socket).then(
    () => res.writeHead(status, headers).end(body),
    () => res.writeHead(401).end(),
  );
}).listen(port, '127.0.0.1');

async function loginOf(): Promise<ClientLogin> {
  const credential = await credentialOf(password);
  return { client: name, credential, credentialRevision: 1, disabled: false } as ClientLogin; // the only field that is read
}

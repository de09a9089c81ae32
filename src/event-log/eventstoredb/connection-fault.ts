import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { clock } from '../../tools/clock.ts';
import { files } from '../../tools/files.ts';
import { outgoing } from '../../tools/outgoing.ts';

type Server = {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** The CAs that the client trusts. */
  readonly ca: string | readonly string[];
};

/** A server to connect to, until `closed` aborts. */
type Probe = Server & { readonly closed: AbortSignal };

type ConnectionError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** Milliseconds for one server. */
const TIMEOUT_MS = 2000;

/**
 * Resolves to the reason why no server of a connection string accepts connections, which errors of the client do not
 * have. Resolves to `undefined` if one accepts them. The reason names no server, since clients may read it. It is not
 * known if `closed` aborts meanwhile.
 */
export async function connectionFault(
  connectionString: string,
  closed: AbortSignal,
): Promise<string | undefined> {
  const faults = await Promise.all(
    serversOf(connectionString).map((server) => faultOf({ ...server, closed })),
  );
  if (faults.includes(undefined)) return undefined;
  return [...new Set(faults)].join('; ');
}

function serversOf(connectionString: string): readonly Server[] {
  const [, hosts = '', options = ''] = /^[^/]*\/\/(?:[^@]*@)?([^/?]*)\/?(.*)$/.exec(connectionString) ?? [];
  const tls = !/[?&]tls=false\b/i.test(options);
  const [, file] = /[?&]tls[-_]?ca[-_]?file=([^&?]+)/i.exec(options) ?? [];
  const ca = file === undefined ? rootCertificates : files.readFileSync(file, 'utf8');
  return hosts.split(',').map((host) => {
    const [name = '', port = '2113'] = host.trim().split(':');
    return { host: name, port: Number(port), tls, ca };
  });
}

async function faultOf(server: Probe): Promise<string | undefined> {
  if (server.tls && isIP(server.host) !== 0) return TLS_WITHOUT_NAME;
  const error = await errorOf(server);
  if (error === undefined || error.rawPacket?.[0] === HTTP2_SETTINGS) return undefined;
  if (!server.tls && (await acceptsTls(server))) return PLAIN_TO_TLS;
  const { code = 'no error code', message } = error;
  if (UNTRUSTED.has(code)) return NOT_TRUSTED;
  if (/wrong version number|packet length too long/.test(message)) return TLS_TO_PLAIN;
  return TEXTS.get(code) ?? `the server cannot be reached (${code})`;
}

/** First byte of the frame with which a server of HTTP/2 begins, behind its length, as read by a parser of HTTP/1.1. */
const HTTP2_SETTINGS = 0;
const TLS_WITHOUT_NAME = 'with TLS the URL must have the host name of the server, not its IP address';
const PLAIN_TO_TLS = 'the server expects TLS: name a user in the URL, and remove tls=false';
const TLS_TO_PLAIN =
  'the server does not speak TLS on this port: correct the port in the URL, or add tls=false';
const NOT_TRUSTED =
  'the certificate of the server is not trusted: add the file of its CA to the URL, as tlsCAFile';
const UNTRUSTED = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'the host name of the server is unknown: correct it in the URL, or in the DNS'],
  ['EAI_AGAIN', 'the host name of the server cannot be resolved at the moment: check the DNS'],
  ['CERT_HAS_EXPIRED', 'the certificate of the server has expired: renew it on the server'],
  ['CERT_NOT_YET_VALID', 'the certificate of the server is not valid yet: compare the clocks'],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'the certificate of the server is for other host names: use one of them in the URL',
  ],
]);

async function acceptsTls(server: Probe): Promise<boolean> {
  return (await errorOf({ ...server, tls: true }, { rejectUnauthorized: false })) === undefined;
}

/** Resolves to the error of a connection; `undefined` once TLS is established, or there is a response without it. */
async function errorOf(
  { host, port, tls, ca, closed }: Probe,
  trust = {},
): Promise<ConnectionError | undefined> {
  const { promise, resolve } = Promise.withResolvers<ConnectionError | undefined>();
  const signal = AbortSignal.any([closed, clock.timeoutSignal(TIMEOUT_MS)]);
  const secured = tls
    ? { ca, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['h2'], ...trust }
    : {};
  const protocol = tls ? 'https:' : 'http:';
  const request = outgoing.request({ protocol, host, port, agent: false, signal, ...secured });
  request.on('error', (error: ConnectionError) => resolve(error.name === 'AbortError' ? TIMED_OUT : error));
  request.on('response', () => resolve(undefined));
  if (tls) request.on('socket', (socket) => socket.on('secureConnect', () => resolve(undefined)));
  request.end();
  return promise.finally(() => request.destroy());
}

const TIMED_OUT = Object.assign(new Error('The server did not answer in time.'), { code: 'ETIMEDOUT' });

import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { BadConfig, type Config } from '../config.ts';
import { EventLogRefused } from '../event-log/event-log-refused.ts';
import { makeFolder, syncName } from '../make-folder.ts';
import { isDamage } from '../sqlite/codes.ts';
import { files } from '../tools/files.ts';
import { originOf } from '../views-place.ts';

/** Somebody else listens there, or a name has no address at present: a later start may go well. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
  readonly code = 'CANNOT_LISTEN';
}

type ListenError = NodeJS.ErrnoException & { readonly address?: string; readonly port?: number };

/** Why the service cannot listen, with the settings at fault; `undefined` when it is not for that. */
export function listenFault(error: unknown, config: Config): BadConfig | CannotListen | undefined {
  const fault = error as ListenError & { readonly hostname?: string };
  if (fault.syscall !== 'listen' && fault.syscall !== 'getaddrinfo') return undefined;
  const [host, port] = settingsOf(fault, config);
  switch (fault.code) {
    case 'EADDRINUSE':
      return new CannotListen(`${port}: something else listens there; stop it, or set another port.`);
    case 'EAI_AGAIN':
      return new CannotListen(`${host}: this name cannot be looked up at present.`);
    case 'ENOTFOUND':
      return new BadConfig([`${host}: no address of this machine, nor a name that has one`]);
    case 'EADDRNOTAVAIL':
      return new BadConfig([`${host}: this machine has no such address`]);
    case 'EACCES':
      return new BadConfig([`${port}: the user of the service may not listen on this port`]);
    default:
      return new CannotListen(`${host}, ${port}: ${fault.message}.`);
  }
}

/** Those of the operator port only when they are what the error names, and the others are not. */
function settingsOf(
  { address, hostname = address, port }: ListenError & { readonly hostname?: string },
  config: Config,
): readonly [host: string, port: string] {
  const isOfPort = port !== undefined && port !== config.port && port === config.operatorPort;
  const isOfHost = hostname !== config.host && hostname === config.operatorHost && isIP(config.host) !== 0;
  return isOfPort || isOfHost
    ? [`DEPOSIT_OPERATOR_HOST=${config.operatorHost}`, `DEPOSIT_OPERATOR_PORT=${config.operatorPort}`]
    : [`DEPOSIT_HOST=${config.host}`, `DEPOSIT_PORT=${config.port}`];
}

/**
 * Why the log keeps the service from starting. With the servers that it is about: faults of an EventStoreDB are told to
 * clients, too, and name none. A page of an embedded log that is damaged stays so, whatever passes elsewhere.
 */
export function logFault(error: unknown, { eventLog }: Pick<Config, 'eventLog'>): Error | undefined {
  const { code, message, cause } = error as NodeJS.ErrnoException;
  if (code !== 'EVENT_LOG_UNAVAILABLE') return undefined;
  if (eventLog.kind === 'sqlite') {
    return isDamage(cause) ? new EventLogRefused('LOG_DAMAGED', message, { cause: error }) : undefined;
  }
  const text = `DEPOSIT_EVENT_LOG (${originOf(eventLog)}): ${message}`;
  return Object.assign(new Error(text, { cause: error }), { code });
}

/** What OpenSSL says of them names neither. @throws {BadConfig} */
export function assertTlsFiles({ tls }: Config): void {
  if (!tls) return;
  const problems = [
    tlsProblem('DEPOSIT_TLS_CERT', tls.cert, 'holds no certificate in PEM', (cert) => ({ cert })),
    tlsProblem('DEPOSIT_TLS_KEY', tls.key, 'holds no private key in PEM without a passphrase', (key) => ({
      key,
    })),
  ].flatMap((problem) => problem ?? []);
  if (problems.length > 0) throw new BadConfig(problems);
  const fault = `is not the key of DEPOSIT_TLS_CERT=${tls.cert}`;
  const problem = tlsProblem('DEPOSIT_TLS_KEY', tls.key, fault, (key) => ({
    key,
    cert: files.readFileSync(tls.cert),
  }));
  if (problem !== undefined) throw new BadConfig([problem]);
}

function tlsProblem(
  setting: string,
  file: string,
  fault: string,
  options: (pem: Buffer) => { readonly cert?: Buffer; readonly key?: Buffer },
): string | undefined {
  try {
    createSecureContext(options(files.readFileSync(file)));
    return undefined;
  } catch (error) {
    return `${setting}=${file}: it ${fault} (${(error as Error).message})`;
  }
}

/** Wrong in the settings; a disk without room, say, is not. */
const IMPOSSIBLE = new Set(['EACCES', 'EEXIST', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']);

/** @throws {BadConfig} it is none, and cannot be made. */
export function makeDataFolder({ dataDir }: Config): void {
  try {
    makeFolder(dataDir);
    syncName(dataDir); // an earlier start may have made it and died before
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!IMPOSSIBLE.has(code)) throw error;
    throw new BadConfig([`DEPOSIT_DATA_DIR=${dataDir}: the folder cannot be made (${message})`]);
  }
}

import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Config } from '../../config/config.ts';
import { BadConfig } from '../../config/read-config.ts';
import { EventLogUnavailable, EventLogUnusable } from '../../event-log/event-log.ts';
import { codedError, errorsOfCode } from '../../tools/coded-error.ts';
import { makeDirectory } from '../../tools/files/make-directory.ts';
import { makeFolderPrivate } from '../../tools/files/private-files.ts';
import { files } from '../../tools/files.ts';
import { isDamage } from '../../tools/sqlite/codes.ts';
import { passingFault } from '../../tools/sqlite/passing-fault.ts';
import { logIdentity } from '../backends/engine-places.ts';
import { assertOwnFolder } from '../backends/own-folder.ts';

/** Another process listens on the port, or a name has no address at present: a later start may succeed. */
class CannotListen extends errorsOfCode('CANNOT_LISTEN') {}

type ListenError = NodeJS.ErrnoException & { readonly address?: string; readonly port?: number };

/** Returns why the service cannot listen, with the settings at fault; `undefined` for other errors. */
export function listenFault(error: unknown, config: Config): BadConfig | CannotListen | undefined {
  const fault = error as ListenError & { readonly hostname?: string };
  if (fault.syscall !== 'listen' && fault.syscall !== 'getaddrinfo') return undefined;
  const [host, port] = settingsOf(fault, config);
  switch (fault.code) {
    case 'EADDRINUSE':
      return new CannotListen(`${port}: another process listens there; stop it, or set another port.`);
    case 'EAI_AGAIN':
      return new CannotListen(`${host}: this name cannot be resolved at the moment.`);
    case 'ENOTFOUND':
      return new BadConfig([`${host}: no address of this machine, nor a name that has one`]);
    case 'EADDRNOTAVAIL':
      return new BadConfig([`${host}: this machine has no such address`]);
    case 'EACCES':
      return new BadConfig([`${port}: the user of the service is not allowed to listen on this port`]);
    default:
      return new CannotListen(`${host}, ${port}: ${fault.message}.`);
  }
}

/**
 * Returns the settings that an error is about: those of the operator port only if the error names it and not the
 * others.
 */
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
 * Returns why the log prevents the start, with its servers: errors of an EventStoreDB are also sent to clients, and
 * name no server. A corrupt page of an embedded log is permanent, although the error is otherwise transient. Must be
 * called when the log is closed.
 */
export function logFault(error: unknown, { eventLog }: Pick<Config, 'eventLog'>): Error | undefined {
  const { code, message, cause } = error as NodeJS.ErrnoException;
  if (code !== 'EVENT_LOG_UNAVAILABLE' && code !== 'LOG_DAMAGED') return undefined;
  if (eventLog.kind === 'sqlite') {
    if (!isDamage(cause)) return undefined;
    const passing = passingFault(eventLog.file);
    return passing === undefined
      ? new EventLogUnusable('LOG_DAMAGED', message, { cause: error })
      : new EventLogUnavailable(passing, { cause: error });
  }
  const text = `DEPOSIT_EVENT_LOG (${logIdentity(eventLog)}): ${message}`;
  return codedError(code, text, { cause: error });
}

/** Verifies the TLS files, since the errors of OpenSSL name neither file nor setting. @throws {BadConfig} */
export function assertTlsFiles({ tls }: Config): void {
  if (!tls) return;
  const problems = [
    tlsProblem('DEPOSIT_TLS_CERT', tls.cert, 'is not a certificate in PEM', (cert) => ({ cert })),
    tlsProblem('DEPOSIT_TLS_KEY', tls.key, 'is not a private key in PEM without a passphrase', (key) => ({
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

/** Error codes that mean wrong settings; for example, a full disk does not. */
const IMPOSSIBLE = new Set(['EACCES', 'EEXIST', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']);

/**
 * Creates the data folder, and takes the access of other users from it.
 * @throws {BadConfig} it does not exist and cannot be created.
 * @throws {FolderNotOwn} it is a folder of other programs.
 * @throws {NotPermitted} another user owns it, or a file in it.
 */
export function makeDataFolder({ dataDir }: Config): void {
  try {
    makeDirectory(dataDir);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!IMPOSSIBLE.has(code)) throw error;
    throw new BadConfig([`DEPOSIT_DATA_DIR=${dataDir}: the folder cannot be created (${message})`]);
  }
  assertOwnFolder('data folder', dataDir);
  makeFolderPrivate(dataDir);
}

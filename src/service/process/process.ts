import { parseArgs } from 'node:util';
import type { Config } from '../../config/config.ts';
import { packageInfo } from '../../config/package-info.ts';
import { describeSettings, readServiceConfig } from '../../config/read-config.ts';
import { clock } from '../../tools/clock.ts';
import { describeFsError } from '../../tools/files/describe-fs-error.ts';
import { createPrivately } from '../../tools/files/private-files.ts';
import { createLogger, type Logger, terminalStream } from '../../tools/logger.ts';
import { ProgressBars } from '../../tools/terminal/progress-bar.ts';
import type { ProjectorProgress } from '../../views/projector.ts';
import { type Service, startService } from '../service.ts';
import { onUncaughtException } from './on-uncaught-exception.ts';
import { assertTlsFiles, listenFault, logFault, makeDataFolder } from './start-errors.ts';
import { printWelcome } from './welcome.ts';

const HELP = `Starts the deposit service.

  npm start

Settings, from the environment:

${describeSettings()}

OTEL_EXPORTER_OTLP_ENDPOINT switches tracing on; the other OTEL_… variables count as well.

SIGTERM, SIGINT and SIGHUP let running requests finish, stop the reactors and end with exit code 0.
Exit codes: 0 stopped as asked, 1 a temporary fault, 2 a fault that no restart repairs: wrong settings or usage, a data
folder or an embedded log that is in use, a corrupt lock, log or archive store, a log or an archive store of a newer
release.
`;

/** Error codes that end every start until an operator fixes the cause. */
const PERMANENT_ERRORS = new Set([
  'BAD_CONFIG',
  'COPY_UNFINISHED',
  'DATA_FOLDER_IN_USE',
  'FOLDER_NOT_OWN',
  'FOREIGN_JOURNAL',
  'LOCK_DAMAGED',
  'LOG_DAMAGED',
  'LOG_FORMAT_UNKNOWN',
  'OTHER_STORE',
  'STORE_DAMAGED',
  'STORE_FORMAT_UNKNOWN',
  'UNREADABLE_EVENT',
  'EACCES',
  'EROFS',
]);
/**
 * Error codes of transient causes, such as an unreachable engine or a full disk: the supervisor should restart the
 * service.
 */
const TRANSIENT_ERRORS = new Set([
  'EVENT_LOG_UNAVAILABLE',
  'EVENT_LOG_RESTORED',
  'ARCHIVE_STORE_UNAVAILABLE',
  'VIEW_UNAVAILABLE',
  'VIEW_DAMAGED',
  'CANNOT_LISTEN',
  'CANNOT_LOCK',
  'NODE_NAME_IN_USE',
]);

/** A signal within this time after the first one counts as the same request to stop. */
const SIGNAL_DEBOUNCE_MS = 1000;

/** Runs the service until it is asked to stop; resolves to the exit code. */
export async function main(argv: string[]): Promise<number> {
  process.stderr.on('error', () => undefined); // its reader has gone: what is for people cannot be reported anywhere
  try {
    const { values } = parseArgs({ args: argv, options: { help: { type: 'boolean', short: 'h' } } });
    if (!values.help) return await run();
    process.stdout.on('error', () => undefined); // the reader has closed the pipe
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    const { code = '', message, stack } = error as NodeJS.ErrnoException;
    const isUsage = code.startsWith('ERR_PARSE_ARGS');
    process.stderr.write(`${describeFsError(error) ?? (isUsage || isKnown(code) ? message : stack)}\n`);
    return isUsage || PERMANENT_ERRORS.has(code) ? 2 : 1;
  }
}

async function run(): Promise<number> {
  createPrivately();
  const config = readServiceConfig();
  const logger = createLogger(config.logLevel, process.stdout.isTTY ? await terminalStream() : undefined);
  logger.info(aboutStart(config), 'start');
  try {
    makeDataFolder(config);
    assertTlsFiles(config);
    const exitCode = await serve(config, logger);
    logger.info({ exitCode }, 'stop');
    return exitCode;
  } catch (fault) {
    const error = listenFault(fault, config) ?? logFault(fault, config) ?? fault;
    const { code, message } = error as NodeJS.ErrnoException;
    logger.error(isKnown(code) ? { code, reason: message } : { err: error }, 'the service cannot continue');
    throw error;
  }
}

/** Whether the message of the error is sufficient, without a stack. */
function isKnown(code = ''): boolean {
  return PERMANENT_ERRORS.has(code) || TRANSIENT_ERRORS.has(code);
}

/**
 * Serves until the process is asked to stop, or a fault ends the service; resolves to the exit code. Rejects when the
 * start fails.
 */
async function serve(config: Config, logger: Logger): Promise<number> {
  const uncaught = onUncaughtException(logger);
  const stopped = stopAsked(logger);
  using bars = new ProgressBars();
  const progress: ProjectorProgress = (events, total) =>
    bars.at('events applied to the views', events, total);
  await using _tracing = config.tracing
    ? (await import('../../observability/start-tracing.ts')).startTracing(logger, packageInfo())
    : undefined; // disposed of after the service, to send its last spans
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  const starting = startService(config, { logger, progress, stop: stop.signal });
  await using service = await starting.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
    return undefined;
  });
  if (!service) return 0;
  const outcome = await Promise.race([stopped, service.ready, service.failed, uncaught]);
  bars.end();
  if (outcome !== 'stopped') await announceReady(service, config, logger);
  try {
    await Promise.race([stopped, service.failed, uncaught]);
    return 0;
  } catch (error) {
    logger.error({ err: error }, 'the service cannot continue');
    return 1;
  }
}

/** Resolves at the first signal. A signal that arrives a second or more later ends the process at once. */
function stopAsked(logger: Logger): Promise<'stopped'> {
  const { promise, resolve } = Promise.withResolvers<'stopped'>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    let isStopping = false;
    const stop = (): void => {
      if (isStopping) return; // npm forwards a signal that the terminal has also sent to the service: it is the same request
      isStopping = true;
      logger.info({ signal }, 'stopping');
      resolve('stopped');
      clock.setTimeout(() => process.off(signal, stop), SIGNAL_DEBOUNCE_MS).unref();
    };
    process.on(signal, stop);
  }
  return promise;
}

/** Returns the log fields of the start. Engines are named by their kind, since their addresses may hold passwords. */
function aboutStart({ roles, eventLog, archiveStore, dataDir }: Config) {
  const { version } = packageInfo();
  const engines = { eventLog: eventLog.kind, archiveStore: archiveStore.kind };
  return { version, node: process.version, pid: process.pid, roles, ...engines, dataDir };
}

async function announceReady(service: Service, config: Config, logger: Logger): Promise<void> {
  const { url } = service;
  logger.info({ url, baseUrl: config.baseUrl ?? url }, 'ready');
  if (config.roles.includes('http')) await printWelcome(service, config);
}

import { parseArgs } from 'node:util';
import { type Config, describeSettings, readConfig } from './config.ts';
import { createLogger, type Logger } from './logger.ts';
import { manifest } from './manifest.ts';
import { introduce } from './process/first-start.ts';
import { lineProgress } from './process/progress.ts';
import { assertTlsFiles, listenFault, logFault, makeDataFolder } from './process/start-faults.ts';
import { uncaughtExceptions } from './process/uncaught-exceptions.ts';
import { type Service, startService } from './service.ts';
import { systemErrorText } from './system-error.ts';
import { clock } from './tools/clock.ts';

const HELP = `Starts the deposit service.

  npm start

Settings, from the environment:

${describeSettings()}

OTEL_EXPORTER_OTLP_ENDPOINT switches tracing on; the other OTEL_… variables count as well.

SIGTERM and SIGINT let running requests finish, stop the reactors and end with exit code 0.
Exit codes: 0 stopped as asked, 1 a fault that may pass, 2 what no restart mends: wrong settings or usage, a data folder
that is in use, a lock, a log or an archive store that is damaged, a log or an archive store of a newer release.
`;

/** Faults that end every start until somebody has mended them. */
const TO_BE_MENDED = new Set([
  'BAD_CONFIG',
  'DATA_FOLDER_IN_USE',
  'LOCK_DAMAGED',
  'LOG_DAMAGED',
  'LOG_FORMAT_UNKNOWN',
  'OTHER_STORE',
  'STORE_DAMAGED',
  'STORE_FORMAT_UNKNOWN',
  'UNREADABLE_EVENT',
  'EACCES',
]);
/** An engine that is not there yet, a disk without room: whoever supervises the service starts it again. */
const PASSING = new Set([
  'EVENT_LOG_UNAVAILABLE',
  'ARCHIVE_STORE_UNAVAILABLE',
  'VIEW_UNAVAILABLE',
  'VIEW_DAMAGED',
  'CANNOT_LISTEN',
  'CANNOT_LOCK',
]);

/** For a signal to come twice, in milliseconds. */
const SAME_WISH = 1000;
/** For what a start that is given up leaves under way, in milliseconds. */
const LAST_STEPS = 1000;

/** Runs the service until it is told to stop; resolves to the exit code. */
export async function main(argv: string[]): Promise<number> {
  try {
    const { values } = parseArgs({ args: argv, options: { help: { type: 'boolean', short: 'h' } } });
    if (!values.help) return await run();
    process.stdout.on('error', () => undefined); // nobody reads on
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    const { code = '', message, stack } = error as NodeJS.ErrnoException;
    const isUsage = code.startsWith('ERR_PARSE_ARGS');
    process.stderr.write(`${systemErrorText(error) ?? (isUsage || isKnown(code) ? message : stack)}\n`);
    return isUsage || TO_BE_MENDED.has(code) ? 2 : 1;
  }
}

async function run(): Promise<number> {
  const config = readConfig();
  const logger = createLogger(config.logLevel);
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
    logger.error(isKnown(code) ? { code, reason: message } : { err: error }, 'the service cannot go on');
    throw error;
  }
}

/** Its message says all. */
function isKnown(code = ''): boolean {
  return TO_BE_MENDED.has(code) || PASSING.has(code);
}

/** Until it is told to stop, or cannot go on; resolves to the exit code. Rejects when it does not come to that. */
async function serve(config: Config, logger: Logger): Promise<number> {
  const uncaught = uncaughtExceptions(logger);
  const stopped = stopAsked(logger);
  const progress = lineProgress('views built from events');
  await using _tracing = config.tracing
    ? (await import('./tracing/start-tracing.ts')).startTracing(logger, manifest())
    : undefined; // ends after the service, whose last spans it sends
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  await using service = await startService(config, { logger, progress, stop: stop.signal }).catch(
    endedBy(stop),
  );
  if (!service) return 0;
  const outcome = await Promise.race([stopped, service.ready, service.failed, uncaught]);
  if (outcome !== 'stopped') await tellReady(service, config, logger);
  try {
    await Promise.race([stopped, service.failed, uncaught]);
    return 0;
  } catch (error) {
    logger.error({ err: error }, 'the service cannot go on');
    return 1;
  }
}

/** For a start that was told to end: it may have begun to open what it could not close. */
function endedBy({ signal }: AbortController): (error: unknown) => undefined {
  return (error) => {
    if (!signal.aborted) throw error;
    clock.setTimeout(() => process.exit(0), LAST_STEPS).unref();
  };
}

/** Resolves at the first signal. One that comes a second or more after it ends the process at once. */
function stopAsked(logger: Logger): Promise<'stopped'> {
  const { promise, resolve } = Promise.withResolvers<'stopped'>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    let isStopping = false;
    const stop = (): void => {
      if (isStopping) return; // npm passes on what a terminal has sent to the service, too: that is no second wish
      isStopping = true;
      logger.info({ signal }, 'stopping');
      resolve('stopped');
      clock.setTimeout(() => process.off(signal, stop), SAME_WISH).unref();
    };
    process.on(signal, stop);
  }
  return promise;
}

/** What runs here, and on what: engines by their kind, since their addresses may hold passwords. */
function aboutStart({ roles, eventLog, archiveStore, dataDir }: Config) {
  const { version } = manifest();
  const engines = { eventLog: eventLog.kind, archiveStore: archiveStore.kind };
  return { version, node: process.version, pid: process.pid, roles, ...engines, dataDir };
}

async function tellReady(service: Service, config: Config, logger: Logger): Promise<void> {
  const { url } = service;
  logger.info({ url, baseUrl: config.baseUrl ?? url }, 'ready');
  if (config.roles.includes('http')) await introduce(service, config);
}

import { type DestinationStream, pino } from 'pino';
import { clock } from './clock.ts';
import { files } from './files.ts';

/** The logger that the modules need: a constant message, values as fields. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Creates a logger that writes JSON lines, to standard output by default. */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const redacting = pino({ ...options, redact: REDACTED }, destination);
  const plain = pino(options, destination);
  return {
    debug: (fields, message) => redacting.debug(fields, message),
    info: (fields, message) => (FREQUENT.has(message) ? plain : redacting).info(fields, message),
    warn: (fields, message) => redacting.warn(fields, message),
    error: (fields, message) => redacting.error(fields, message),
  };
}

/** Creates a stream that writes log lines for a person at a terminal: time, level, message, and fields in one line. */
export async function terminalStream(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ colorize: true, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' });
}

export const silentLogger: Logger = pino({ level: 'silent' });

/** Messages of nearly all lines. Their fields are the same few, none of them secret: they are not searched. */
const FREQUENT: ReadonlySet<string> = new Set(['event', 'request']);

/** Fields that are never logged, even if a caller passes them by mistake. */
const REDACTED = ['authorization', 'password', 'accessKey', 'secretKey', 'connectionString'].flatMap(
  (name) => [name, `*.${name}`, `*.*.${name}`],
);

/** Milliseconds that an exit waits for lines that another thread is writing. */
const EXIT_WAIT_MS = 100;

/**
 * Returns a stream that writes the lines of one turn of the event loop together, also those before an exit. A reader of
 * the lines that is slow must not stop the event loop, so another thread writes them.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ sync: false });
  let [lines, isWriting] = ['', false];
  output.on('drain', () => {
    isWriting = false;
  });
  const flush = (): void => {
    if (lines === '') return;
    isWriting = true;
    output.write(lines);
    lines = '';
  };
  process.on('exit', () => {
    if (isWriting) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_WAIT_MS);
    try {
      output.flushSync();
      if (lines !== '') files.writeSync(process.stdout.fd, lines);
    } catch {
      // the reader of the lines has gone
    }
  });
  return {
    write: (line) => {
      if (lines === '') clock.setImmediate(flush);
      lines += line;
    },
  };
}

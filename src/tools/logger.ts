import { type DestinationStream, pino } from 'pino';
import { clock } from './clock.ts';
import { files } from './files.ts';
import { printable } from './terminal/printable.ts';

/** The logger that the modules need: a constant message, values as fields. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Creates a logger that writes JSON lines, to standard output by default. Names of clients and texts of engines are
 * fields, so what a terminal would execute or hide is escaped, as JSON allows.
 */
export function createLogger(level: string, output: DestinationStream = new StandardOutput()): Logger {
  const destination = {
    write: (line: string) => output.write(NOT_PLAIN.test(line) ? printable(line) : line),
  };
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
  const { prettyFactory } = await import('pino-pretty');
  const prettify = prettyFactory({ colorize: true, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' });
  const output = new StandardOutput();
  return { write: (line) => output.write(printableAroundColours(prettify(line))) };
}

/** The values of the line were parsed, so they must be escaped again. */
function printableAroundColours(line: string): string {
  const parts = line.split(COLOUR);
  return parts.map((part, index) => (index % 2 === 0 ? printable(part) : part)).join('');
}

export const silentLogger: Logger = pino({ level: 'silent' });

/** A fast test: nearly all lines are ASCII, and JSON escapes the controls before these. */
const NOT_PLAIN = /[\x7f-\uffff]/;
/** A sequence with which pino-pretty changes the colour of text. */
// oxlint-disable-next-line no-control-regex
const COLOUR = /(\u001b\[[39]\dm)/;

/** Messages of nearly all lines. Their fields are the same few, none of them secret: they are not searched. */
const FREQUENT: ReadonlySet<string> = new Set(['event', 'request']);

/** Fields that are never logged, even if a caller passes them by mistake. */
const REDACTED = ['authorization', 'password', 'accessKey', 'secretKey', 'connectionString'].flatMap(
  (name) => [name, `*.${name}`, `*.*.${name}`],
);

/** Milliseconds that an exit waits for lines that another thread is writing. */
const EXIT_WAIT_MS = 100;
/** Milliseconds before lines are offered again to a reader that is slow. */
const RETRY_MS = 20;
/** Characters of lines that may wait for a slow reader. */
const MAX_WAITING = 4 * 1024 ** 2;
/** How often an exit offers the last lines to a reader that is slow. */
const MAX_EXIT_TRIES = 250;

const NOTHING = Buffer.alloc(0);
const LINE_FEED = 0x0a;

/**
 * Writes the lines of one turn of the event loop together to standard output, also those before an exit. A reader of
 * the lines that is slow must not stop the event loop, so another thread writes them. Lines that cannot be written are
 * dropped, as on a full disk or after the reader has closed the pipe, and so are those that would use too much memory
 * while the reader does not read: the service continues without them.
 */
class StandardOutput implements DestinationStream {
  readonly #fd = process.stdout.fd;
  #lines = '';
  /** The bytes that are being written. */
  #rest = NOTHING;
  #isFlushing = false;
  #isWriting = false;
  /** Whether the last line that was written lacks its end. */
  #isTorn = false;

  constructor() {
    process.on('exit', () => this.#flushAtExit());
  }

  write(line: string): void {
    if (this.#lines.length > MAX_WAITING) return;
    this.#lines += line;
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    clock.setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#takeLines();
    this.#isFlushing = this.#rest.length > 0;
    if (!this.#isFlushing) return;
    this.#isWriting = true;
    files.write(this.#fd, this.#rest, (error, count) => {
      this.#isWriting = false;
      this.#wrote(error, count);
      if (isSlowReader(error)) clock.setTimeout(() => this.#flush(), RETRY_MS);
      else this.#flush();
    });
  }

  #takeLines(): void {
    if (this.#rest.length > 0 || this.#lines === '') return;
    this.#rest = Buffer.from(this.#isTorn ? `\n${this.#lines}` : this.#lines);
    this.#lines = '';
  }

  #wrote(error: unknown, count: number): void {
    if (isSlowReader(error)) return;
    if (!error && count > 0) this.#isTorn = this.#rest[count - 1] !== LINE_FEED;
    this.#rest = error ? NOTHING : this.#rest.subarray(count);
  }

  #flushAtExit(): void {
    if (this.#isWriting) {
      pause(EXIT_WAIT_MS);
      this.#rest = NOTHING; // what the other thread has not written is lost
    }
    for (let tries = 0; tries < MAX_EXIT_TRIES; ) {
      this.#takeLines();
      if (this.#rest.length === 0) return;
      try {
        this.#wrote(null, files.writeSync(this.#fd, this.#rest));
      } catch (error) {
        this.#wrote(error, 0);
        tries += 1;
        if (isSlowReader(error)) pause(RETRY_MS);
      }
    }
  }
}

function isSlowReader(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'EAGAIN';
}

/** Stops the thread, which is about to exit. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

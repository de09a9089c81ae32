import { type DestinationStream, pino } from 'pino';

/** The logger that the modules need: a constant message, values as fields. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Creates a logger that writes JSON lines, to standard output by default. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: REDACTED,
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Creates a stream that writes log lines for a person at a terminal: time, level, message, and fields in one line. */
export async function terminalStream(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ colorize: true, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' });
}

export const silentLogger: Logger = pino({ level: 'silent' });

/** Fields that are never logged, even if a caller passes them by mistake. */
const REDACTED = ['authorization', 'password', 'accessKey', 'secretKey', 'connectionString'].flatMap(
  (name) => [name, `*.${name}`, `*.*.${name}`],
);

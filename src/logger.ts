import { pino } from 'pino';

/** What the rooms need of a logger: a constant message, values as fields. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** JSON lines on standard output. */
export function createLogger(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: REDACTED,
  });
}

export const silentLogger: Logger = pino({ level: 'silent' });

/** Never in a log, whoever passes them by mistake. */
const REDACTED = ['*.authorization', '*.password', 'authorization', 'password'];

import { createLogger, type Logger } from '../../src/tools/logger.ts';

export type Line = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

/** A logger of the service, and the lines that it has written. */
export function keptLines(level = 'info'): { readonly logger: Logger; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  return { logger: createLogger(level, { write }), lines };
}

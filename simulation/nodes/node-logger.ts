import type { Logger } from '../../src/tools/logger.ts';
import { running } from '../world/host.ts';
import { world } from '../world/world.ts';

/** Returns a logger that writes into the trace, and passes on errors. */
export function nodeLogger(onError: (text: string) => void): Logger {
  const note = (level: string, fields: object, message: string): string => {
    const { err } = fields as { readonly err?: Error };
    const text = err ? `${message}: ${err.message}` : message;
    world().note('log', `${running.getStore()?.name} ${level} ${text}`);
    return text;
  };
  return {
    debug: () => undefined,
    info: (fields, message) => void note('info', fields, message),
    warn: (fields, message) => void note('warn', fields, message),
    error: (fields, message) => onError(note('error', fields, message)),
  };
}

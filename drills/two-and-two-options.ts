import { parseArgs } from 'node:util';
import { UsageError } from '../scripts/command.ts';
import { integer } from '../src/setting-values.ts';

export type Drill = {
  readonly deposits: number;
  readonly writers: number;
  readonly kills: number;
  /** Seconds. */
  readonly logDown: number;
};

const number = (fallback: string) => ({ type: 'string', default: fallback }) as const;

/** @throws {UsageError} */
export function drillIn(args: string[]): Drill | 'help' {
  const { help, ...values } = parsed(args);
  if (help) return 'help';
  const whole = (name: keyof typeof values, least: number): number => {
    try {
      return integer(least)(values[name]);
    } catch (error) {
      throw new UsageError(`--${name} ${(error as Error).message}, not ${values[name]}.`, { cause: error });
    }
  };
  return {
    deposits: whole('deposits', 1),
    writers: whole('writers', 1),
    kills: whole('kill-reactors', 0),
    logDown: whole('log-down', 0),
  };
}

function parsed(args: string[]) {
  const options = {
    deposits: number('500'),
    writers: number('8'),
    'kill-reactors': number('0'),
    'log-down': number('0'),
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

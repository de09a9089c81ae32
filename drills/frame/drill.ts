import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { integer } from '../../src/config/parsers.ts';
import { UsageError } from '../../src/operations/command/command.ts';
import { keepRefusals } from './kept-output.ts';

/** The result of a drill, which is the last thing it prints. */
export type Finding = {
  /** One sentence in the past tense: what was done to the service, with its numbers. */
  readonly tried: string;
  /** One sentence: what still holds. */
  readonly held: string;
  /** One sentence for each thing that did not hold; empty if all did. */
  readonly broken: readonly string[];
  readonly numbers: Readonly<Record<string, number>>;
  /** Why nothing was tried, if this machine does not have what the drill needs. */
  readonly skipped?: string;
};

export type Values<Options extends ParseArgsOptionsConfig> = Common &
  ReturnType<typeof parseArgs<{ options: Options }>>['values'];

type Common = { readonly short: boolean; readonly json: boolean; readonly help: boolean };

const COMMON = {
  short: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/**
 * Runs a drill as a program: `--short` asks for its form of a few seconds, `--json` for the finding as one line of
 * JSON at the end of stdout. Progress goes to stderr. Exit codes: 0 all held, 1 something broke, 2 wrong usage.
 */
export async function runDrill<Options extends ParseArgsOptionsConfig>(
  help: string,
  options: Options,
  drill: (values: Values<Options>) => Promise<Finding>,
): Promise<void> {
  const values = argumentsOf(options);
  if (values === undefined) return;
  if (values.help) {
    process.stdout.write(
      `${help}\n  --short  a form of a few seconds\n  --json   the finding as one line of JSON\n`,
    );
    return;
  }
  keepRefusals();
  const finding = await outcomeOf(() => drill(values));
  if (finding === undefined) return;
  process.stdout.write(values.json ? `${JSON.stringify(finding)}\n` : text(finding));
  process.exitCode = finding.broken.length === 0 ? 0 : 1;
}

/** Resolves to `undefined` if the arguments of the drill were wrong. */
async function outcomeOf(drill: () => Promise<Finding>): Promise<Finding | undefined> {
  try {
    return await drill();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

/** Returns the finding of a drill that cannot run on this machine. */
export function skipped(reason: string): Finding {
  return { tried: 'nothing', held: '', broken: [], numbers: {}, skipped: reason };
}

/** Reads an option that is a whole number; the default depends on the full or the short form. @throws {UsageError} */
export function amount<Name extends string>(
  values: { readonly short: boolean } & { readonly [option in Name]?: string | undefined },
  name: Name,
  { full, short, least = 1 }: { readonly full: number; readonly short: number; readonly least?: number },
): number {
  const text = values[name];
  if (text === undefined) return values.short ? short : full;
  try {
    return integer(least)(text);
  } catch (error) {
    throw new UsageError(`--${name} ${(error as Error).message}, not ${text}.`, { cause: error });
  }
}

function argumentsOf<Options extends ParseArgsOptionsConfig>(options: Options): Values<Options> | undefined {
  try {
    return parseArgs({ options: { ...COMMON, ...options } }).values as Values<Options>; // parsed by these very options
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

function text({ tried, held, broken, numbers, skipped: reason }: Finding): string {
  if (reason !== undefined) return `skipped: ${reason}\n`;
  const outcome = broken.length === 0 ? [`held: ${held}`] : broken.map((what) => `BROKEN: ${what}`);
  const counted = Object.entries(numbers).map(([name, number]) => `${name} ${number}`);
  return `tried: ${tried}\n${outcome.join('\n')}\nnumbers: ${counted.join(', ')}\n`;
}

/** Prints the progress of a drill on stderr. */
export function printProgress(progress: string): void {
  process.stderr.write(`${progress}\n`);
}

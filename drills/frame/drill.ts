import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
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

/** A whole number from `least` (usually 1): its default in either form, or one for both. */
type Amount = number | { readonly full: number; readonly short: number; readonly least?: number };

/** The options of a drill: amounts, and others as `parseArgs` describes them. */
export type Options = Readonly<Record<string, Amount | ParseArgsOptionDescriptor>>;

export type Values<Known extends Options> = Common & {
  readonly [Name in keyof Known]: Known[Name] extends Amount ? number : Parsed<Known[Name]>;
};

type Parsed<Option> = Option extends { readonly type: 'boolean' }
  ? boolean
  : (Option extends { readonly multiple: true } ? readonly string[] : string) | undefined;

type Common = { readonly short: boolean; readonly json: boolean; readonly help: boolean };

const COMMON = {
  short: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const COMMON_HELP = `  --short  a form of a few seconds
  --json   the finding as one line of JSON

Exit codes: 0 all held, 1 something broke, 2 wrong usage.
`;

/**
 * Runs a drill as a program: `--short` asks for its form of a few seconds, `--json` for the finding as one line of
 * JSON at the end of stdout. Progress goes to stderr.
 */
export async function runDrill<const Known extends Options>(
  help: string,
  options: Known,
  drill: (values: Values<Known>) => Promise<Finding>,
): Promise<void> {
  try {
    const values = valuesOf(options);
    if (values.help) {
      process.stdout.write(`${help}\n${COMMON_HELP}`);
      return;
    }
    keepRefusals();
    const finding = await drill(values);
    process.stdout.write(values.json ? `${JSON.stringify(finding)}\n` : text(finding));
    process.exitCode = finding.broken.length === 0 ? 0 : 1;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!(error instanceof UsageError) && !String(code).startsWith('ERR_PARSE_ARGS')) throw error;
    process.stderr.write(`${message}\n`);
    process.exitCode = 2;
  }
}

/** @throws {UsageError} an amount is no whole number or too small. */
function valuesOf<Known extends Options>(options: Known): Values<Known> {
  const parsed = Object.entries(options).map(
    ([name, option]) => [name, isAmount(option) ? ({ type: 'string' } as const) : option] as const,
  );
  const values: Record<string, unknown> = parseArgs({
    options: { ...COMMON, ...Object.fromEntries(parsed) },
  }).values;
  for (const [name, option] of Object.entries(options))
    if (isAmount(option))
      values[name] = amount(name, option, values[name] as string | undefined, values['short'] === true);
  return values as Values<Known>; // parsed by these very options
}

function isAmount(option: Amount | ParseArgsOptionDescriptor): option is Amount {
  return typeof option === 'number' || 'full' in option;
}

function amount(name: string, option: Amount, text: string | undefined, isShort: boolean): number {
  const { full, short, least = 1 } = typeof option === 'number' ? { full: option, short: option } : option;
  if (text === undefined) return isShort ? short : full;
  try {
    return integer(least)(text);
  } catch (error) {
    throw new UsageError(`--${name} ${(error as Error).message}, not ${text}.`, { cause: error });
  }
}

/** Returns the finding of a drill that cannot run on this machine. */
export function skipped(reason: string): Finding {
  return { tried: 'nothing', held: '', broken: [], numbers: {}, skipped: reason };
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

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** What a drill tried and what it found; the last thing it tells. */
export type Finding = {
  /** One sentence in the past: what was done to the service, with its numbers. */
  readonly tried: string;
  /** One sentence: what still holds. */
  readonly held: string;
  /** One sentence for each thing that did not hold; empty when all did. */
  readonly broken: readonly string[];
  readonly numbers: Readonly<Record<string, number>>;
};

type Values<Options extends ParseArgsOptionsConfig> = Common &
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
  const finding = await drill(values);
  process.stdout.write(values.json ? `${JSON.stringify(finding)}\n` : told(finding));
  process.exitCode = finding.broken.length === 0 ? 0 : 1;
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

function told({ tried, held, broken, numbers }: Finding): string {
  const outcome = broken.length === 0 ? [`held: ${held}`] : broken.map((what) => `BROKEN: ${what}`);
  const counted = Object.entries(numbers).map(([name, number]) => `${name} ${number}`);
  return `tried: ${tried}\n${outcome.join('\n')}\nnumbers: ${counted.join(', ')}\n`;
}

/** Tells how far a drill is, on stderr. */
export function tell(progress: string): void {
  process.stderr.write(`${progress}\n`);
}

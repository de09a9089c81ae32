import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readArguments } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { describeMachine, load, machineText } from './frame/machine.ts';
import { ProgressLine } from './frame/progress-line.ts';
import { rounded } from './frame/table.ts';
import { Inputs } from './inputs/inputs.ts';
import { byClients } from './scale/by-clients.ts';
import { byDeposits } from './scale/by-deposits.ts';
import { byMembers } from './scale/by-members.ts';
import { byNewNode } from './scale/by-new-node.ts';
import { bySize } from './scale/by-size.ts';
import { type Plot, svgOf } from './scale/plot.ts';

const DIMENSIONS = [byDeposits, byNewNode, byMembers, bySize, byClients];

const HELP = `Measures how cost grows as work grows, and draws it.

  node bench/scale.ts [${DIMENSIONS.map(({ name }) => name).join(' | ')} | all] [--sizes N,N,…] [--plots FOLDER] [--json FILE]

${DIMENSIONS.map(({ name, what, sizes }) => `  ${name.padEnd(9)} ${what}: ${sizes.join(', ')}`).join('\n')}

--sizes:  other sizes, for one dimension
--plots:  writes an SVG picture of each plot into this folder
--json:   writes the points into this file
A million deposits take some 10 GB in the folder of temporary files, and minutes; logs are kept there for other runs.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    sizes: { type: 'string' },
    plots: { type: 'string' },
    json: { type: 'string' },
  });
  const chosen = positionals.includes('all') ? DIMENSIONS : positionals.map(named);
  if (values.sizes !== undefined && chosen.length !== 1)
    throw new UsageError('--sizes is for one dimension.');
  const sizes = values.sizes === undefined ? undefined : sizesIn(values.sizes);
  using temporary = mkdtempDisposableSync(path.join(tmpdir(), 'deposit-scale-'));
  const folder = temporary.path;
  const progress = new ProgressLine();
  const tell = (text: string) => progress.tell(text);
  const inputs = new Inputs({ cache: path.join(tmpdir(), 'deposit-bench-cache'), offline: false, tell });
  const machine = describeMachine(folder);
  say(machineText(machine));
  const plots: Record<string, Plot> = {};
  for (const dimension of chosen) {
    const found = await dimension.measure({ folder, inputs, tell }, sizes ?? dimension.sizes);
    progress.clear();
    for (const plot of Object.values(found)) say(tableOf(plot));
    Object.assign(plots, found);
  }
  say(`\nload ${rounded(load())}`);
  if (values.plots !== undefined) writePlots(values.plots, plots);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ machine, plots }, null, 2)}\n`);
});

function named(name: string) {
  const found = DIMENSIONS.find((dimension) => dimension.name === name);
  if (!found)
    throw new UsageError(`${name} is none of ${DIMENSIONS.map((each) => each.name).join(', ')}, all.`);
  return found;
}

function sizesIn(text: string): number[] {
  const sizes = text.split(',').map(Number);
  if (sizes.every((size) => Number.isSafeInteger(size) && size > 0)) return sizes;
  throw new UsageError(`--sizes ${text} is no list of numbers.`);
}

function tableOf({ title, x, y, curves }: Plot): string {
  const rows = curves.map(({ name, points }) => {
    return `  ${name.padEnd(24)} ${points.map(([at, value]) => `${at.toLocaleString('en')}: ${rounded(value)}`).join('   ')}`;
  });
  return `\n${title} (${y}; ${x})\n${rows.join('\n')}`;
}

function writePlots(folder: string, plots: Readonly<Record<string, Plot>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, plot] of Object.entries(plots))
    writeFileSync(path.join(folder, `${name}.svg`), svgOf(plot));
}

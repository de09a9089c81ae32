import { type DepositStatusView, depositStatus } from '../projections/deposit-status.ts';
import { Administration } from '../src/administration.ts';
import { load } from '../src/command-handler.ts';
import { type Config, readConfig } from '../src/config.ts';
import { deposits } from '../src/domain/aggregates.ts';
import { Refusal } from '../src/domain/decider.ts';
import type { DepositCommand } from '../src/domain/deposit/commands.ts';
import { DepositRefusal } from '../src/domain/deposit/errors.ts';
import { openView } from '../src/engines.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { operator, readArguments, runCommand, say, UsageError, warn } from './command.ts';
import { depositsOfView } from './deposits-of-view.ts';
import { progressBar } from './progress-bar.ts';
import { openServiceLog } from './service-engines.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `Has the service load failed deposits again, or check rejected ones again.

  npm run retry -- ID… [--recheck] [--json]
  npm run retry -- --status failed|rejected [--json]

--recheck: also deposits that were rejected, after the rule or the configuration at fault was changed.
--status: all that are in this state, as the views of this node have it; with rejected, --recheck is meant.
Each gets an event that names you. Exit codes: 0 all are tried again, 1 some are not (the reason is told), 2 wrong usage.
`;

type Refused = { readonly depositId: number; readonly code: string; readonly reason: string };

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    recheck: { type: 'boolean' },
    status: { type: 'string' },
    json: { type: 'boolean' },
  });
  const wanted = wantedOf(positionals, values.status);
  const config = readConfig();
  await using log = await openServiceLog(config);
  const administration = new Administration(log, operator(config));
  const ids = wanted.status === undefined ? wanted.ids : depositsIn(config, wanted.status);
  const commandFor = async (id: number): Promise<DepositCommand> =>
    wanted.status === 'rejected'
      ? { type: 'RetryChecks', depositId: id } // by now it may have been checked again, and be no more rejected
      : commandFitting(log, id, values.recheck ?? false);
  const bar = progressBar({ what: 'deposits looked at', total: ids.length });
  const [retried, refused]: [number[], Refused[]] = [[], []];
  try {
    for (const depositId of ids) {
      try {
        await administration.deposit(depositId, await commandFor(depositId));
        retried.push(depositId);
        if (!values.json) say(`Deposit ${depositId} is tried again.`);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { code, message: reason } = error;
        refused.push({ depositId, code, reason });
        if (!values.json) warn(reason);
      }
      bar.at(retried.length + refused.length);
    }
  } finally {
    bar.end();
    // What was done is told in any case.
    if (values.json) say(JSON.stringify({ retried, refused }));
  }
  if (!values.json && ids.length === 0) say(`No deposit is ${wanted.status}.`);
  return refused.length > 0 ? 1 : 0;
});

type Wanted =
  | { readonly status?: never; readonly ids: readonly number[] }
  | { readonly status: 'failed' | 'rejected' };

function wantedOf(positionals: readonly string[], status: string | undefined): Wanted {
  if (positionals.length > 0 === (status !== undefined))
    throw new UsageError('Name deposits by their ids, or --status.');
  if (status === 'failed' || status === 'rejected') return { status };
  if (status !== undefined) throw new UsageError(`--status must be failed or rejected, not ${status}.`);
  return { ids: positionals.map(idIn) };
}

function idIn(text: string): number {
  const id = wholeNumber(text);
  if (id === undefined) throw new UsageError(`Name deposits by their ids, numbers from 1: ${text} is none.`);
  return id;
}

function depositsIn(config: Config, status: string): readonly number[] {
  using view = openView(config, depositStatus);
  const found = depositsOfView<DepositStatusView>(view, { equal: { status } });
  return Array.from(found, ({ depositId }) => depositId).toReversed();
}

/** What fits the deposit as it is; the rules say no to what does not. */
async function commandFitting(log: EventLog, depositId: number, recheck: boolean): Promise<DepositCommand> {
  const { state } = await load(log, deposits, depositId);
  if (recheck && state.status === 'rejected') return { type: 'RetryChecks', depositId };
  if (state.status === 'rejected') {
    const text = `Deposit ${depositId} is rejected: give --recheck to have it checked again.`;
    throw new DepositRefusal('DEPOSIT_NOT_FAILED', text);
  }
  return { type: 'RetryLoading', depositId };
}

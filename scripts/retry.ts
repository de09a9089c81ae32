import { type DepositStatusView, depositStatus } from '../projections/deposit-status.ts';
import { Administration } from '../src/administration.ts';
import { load } from '../src/command-handler.ts';
import { type Config, readConfig } from '../src/config.ts';
import { deposits } from '../src/domain/aggregates.ts';
import { Refusal } from '../src/domain/decider.ts';
import type { RetryChecks, RetryLoading } from '../src/domain/deposit/commands.ts';
import { DepositRefusal } from '../src/domain/deposit/errors.ts';
import { openView } from '../src/engines.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { AWAITED } from '../src/sweep/stuck-deposits.ts';
import { operator, readArguments, runCommand, say, UsageError, warn } from './command.ts';
import { depositsOfView } from './deposits-of-view.ts';
import { progressBar } from './progress-bar.ts';
import { openServiceLog } from './service-engines.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `Has the service load failed deposits again, check rejected ones again, or begin anew with stuck ones.

  npm run retry -- ID… [--recheck] [--json]
  npm run retry -- --status failed|rejected [--json]
  npm run retry -- --stuck [--json]

--recheck: also deposits that were rejected, after the rule or the configuration at fault was changed.
--status: all that are in this state, as the views of this node have it; with rejected, --recheck is meant.
--stuck: all that wait for checks or loading and have not changed for longer than DEPOSIT_STUCK_AFTER.
Each gets an event that names you: ChecksRetried for a deposit that is deposited or rejected, LoadingRetried for one
that is verified, loading or failed. An outcome of the attempt before it then changes nothing.
Exit codes: 0 all are tried again, 1 some are not (each with its reason), 2 wrong usage.
`;

type Retried = {
  readonly depositId: number;
  readonly event: 'ChecksRetried' | 'LoadingRetried';
  readonly attempt: number;
};
type Refused = { readonly depositId: number; readonly code: string; readonly reason: string };

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    recheck: { type: 'boolean' },
    status: { type: 'string' },
    stuck: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const wanted = wantedOf(positionals, values);
  const config = readConfig();
  await using log = await openServiceLog(config);
  const administration = new Administration(log, operator(config));
  const ids = 'ids' in wanted ? wanted.ids : depositsIn(config, wanted.status);
  const commandFor = async (id: number): Promise<RetryChecks | RetryLoading> =>
    'status' in wanted && wanted.status === 'rejected'
      ? { type: 'RetryChecks', depositId: id } // by now it may have been checked again, and be no more rejected
      : commandFitting(log, id, values.recheck ?? false);
  const bar = progressBar({ what: 'deposits looked at', total: ids.length });
  const [retried, refused]: [Retried[], Refused[]] = [[], []];
  try {
    for (const depositId of ids) {
      try {
        const appended = await administration.retry(depositId, await commandFor(depositId));
        retried.push({ depositId, ...appended });
        if (!values.json) say(`Deposit ${depositId}: ${appended.event}, attempt ${appended.attempt}.`);
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
  if (!values.json && ids.length === 0) say(`No deposit is ${'status' in wanted ? wanted.status : 'named'}.`);
  return refused.length > 0 ? 1 : 0;
});

type Wanted = { readonly ids: readonly number[] } | { readonly status: 'failed' | 'rejected' | 'stuck' };

function wantedOf(
  positionals: readonly string[],
  { status, stuck = false }: { readonly status?: string | undefined; readonly stuck?: boolean | undefined },
): Wanted {
  const ways = [positionals.length > 0, status !== undefined, stuck].filter(Boolean).length;
  if (ways !== 1) throw new UsageError('Name deposits by their ids, --status or --stuck.');
  if (stuck) return { status: 'stuck' };
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
  const idsOf = (query: Parameters<typeof depositsOfView>[1]): number[] =>
    Array.from(depositsOfView<DepositStatusView>(view, query), ({ depositId }) => depositId);
  if (status !== 'stuck') return idsOf({ equal: { status } }).toReversed();
  const limit = new Date(Date.now() - config.stuckAfter).toISOString();
  const stuck = Object.keys(AWAITED).flatMap((awaited) =>
    [...depositsOfView<DepositStatusView>(view, { equal: { status: awaited } })].filter(
      ({ updatedAt }) => updatedAt <= limit,
    ),
  );
  return stuck.map(({ depositId }) => depositId).sort((a, b) => a - b);
}

/** What fits the deposit as it is; the rules say no to what does not. */
async function commandFitting(
  log: EventLog,
  depositId: number,
  recheck: boolean,
): Promise<RetryChecks | RetryLoading> {
  const { state } = await load(log, deposits, depositId);
  if (state.status === 'deposited') return { type: 'RetryChecks', depositId };
  if (recheck && state.status === 'rejected') return { type: 'RetryChecks', depositId };
  if (state.status === 'rejected') {
    const text = `Deposit ${depositId} is rejected: give --recheck to have it checked again.`;
    throw new DepositRefusal('DEPOSIT_NOT_FAILED', text);
  }
  return { type: 'RetryLoading', depositId };
}

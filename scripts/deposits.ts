import { clientLogins } from '../projections/client-logins.ts';
import { collections } from '../projections/collections.ts';
import { type DepositStatusView, depositStatus } from '../projections/deposit-status.ts';
import { readConfig } from '../src/config/read-config.ts';
import { isStatus, STATUSES } from '../src/domain/deposit/status-detail.ts';
import { pluralize } from '../src/domain/description.ts';
import { beginningOf, limitOf, readOptions } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, sayInTurn, warn } from '../src/operations/command/output.ts';
import { depositsOfView } from '../src/operations/deposits/deposits-of-view.ts';
import { openView } from '../src/service/backends/open-view.ts';
import { printableLine } from '../src/tools/terminal/printable.ts';
import { columnsOf, wrapLines } from '../src/tools/terminal/wrap-lines.ts';

const HELP = `Lists deposits, the newest first, from the views of this node.

Usage: deposit-service deposits [--status S] [--client C] [--collection C] [--since TIME] [--limit N] [--json]

--status  ${STATUSES.join(', ')}
--since   changed at or after this time, RFC 3339 as in 2026-03-01T10:00:00Z, or a date
--limit   at most N deposits, 100 by default; 0 for all
--json    print one JSON object per deposit

Example: deposit-service deposits --status rejected --since 2026-03-01

Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

/** Columns of a terminal: it would wrap a line that is longer without a mark. */
const WIDTH = process.stdout.columns ?? Infinity;

await runCommand(
  HELP,
  async (args) => {
    const values = readOptions(args, {
      status: { type: 'string' },
      client: { type: 'string' },
      collection: { type: 'string' },
      since: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
    });
    const { status, client, collection } = values;
    if (status !== undefined && !isStatus(status))
      throw new UsageError(`--status must be one of ${STATUSES.join(', ')}, not ${status}.`);
    const equal = {
      ...(client !== undefined && { client }),
      ...(collection !== undefined && { collection }),
      ...(status !== undefined && { status }),
    };
    const since = values.since === undefined ? undefined : beginningOf('since', values.since);
    const limit = limitOf(values.limit);
    using view = openView(readConfig(), depositStatus);
    const query = {
      equal,
      ...(since !== undefined && { from: { field: 'updatedAt', value: new Date(since).toISOString() } }),
    };
    let shown = 0;
    for (const deposit of depositsOfView<DepositStatusView>(view, query, limit + 1)) {
      if (shown === limit) {
        warn(`Stopped after ${pluralize(limit, 'deposit')}; --limit shows more.`);
        break;
      }
      await sayInTurn(values.json ? jsonLine(deposit) : line(deposit));
      shown += 1;
    }
    if (shown > 0) return;
    if (client !== undefined && view.isIn(clientLogins, client) === false)
      warn(`Client ${client} not found.`);
    if (collection !== undefined && view.isIn(collections, collection) === false)
      warn(`Collection ${collection} not found.`);
  },
  { mayBeBare: true, onlyPrints: true },
);

function line(deposit: DepositStatusView): string {
  const { depositId, status, updatedAt, client, collection, statusDetail } = deposit;
  const title = printableLine(deposit.title ?? '(no title)');
  const head = `${String(depositId).padStart(7)}  ${status.padEnd(9)}  ${updatedAt}  ${client} in ${collection}`;
  const row = `${head}  ${title}`;
  const texts = [
    ...(columnsOf(row) <= WIDTH ? [] : [title]),
    ...(status === 'rejected' || status === 'failed' ? statusDetail.split('\n') : []),
  ];
  const below = texts.flatMap((text) => wrapLines(`| ${text}`, 4, WIDTH));
  return [columnsOf(row) <= WIDTH ? row : head, ...below].join('\n');
}

import { readConfig } from '../src/config/read-config.ts';
import {
  type Actions,
  assertAction,
  assertNoPositionals,
  onlyPositional,
  readArguments,
} from '../src/operations/command/arguments.ts';
import { operator, refused, runCommand } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { openServiceLog } from '../src/operations/command/service-engines.ts';
import { confirmations } from '../src/service/nodes/confirmations.ts';
import { appendNodeEvent, registeredNodes } from '../src/service/nodes/node-stream.ts';

const HELP = `Lists the nodes that are registered in a shared event log, and asks each whether it follows the log.

Usage: deposit-service nodes list [--json]
       deposit-service nodes forget NODE [--json]

list    waits up to 5 s for each node to confirm that its views have applied the log. Commands that change something wait
        for the same nodes
forget  removes a node that was killed and will not come back under this name. One that still runs registers again when
        it is asked next

A node registers when it starts, and is removed when it stops. Its name is that of its machine and its data folder.

Exit codes: 0 done, 1 failed, or a node has not confirmed, 2 wrong usage.
`;

const ACTIONS: Actions = { list: ['json'], forget: ['json'] };

await runCommand(HELP, async ([action = '', ...rest]) => {
  const { values, positionals } = readArguments(rest, { json: { type: 'boolean' } });
  assertAction(ACTIONS, action, values);
  const node = action === 'forget' ? onlyPositional(positionals, 'NODE') : undefined;
  if (node === undefined) assertNoPositionals(positionals);
  const config = readConfig();
  if (config.eventLog.kind === 'sqlite')
    throw refused(
      'ONE_NODE',
      'The event log is embedded, so there is one node: "deposit-service status" reports how it is.',
    );
  await using log = await openServiceLog(config);
  if (node !== undefined) {
    if (!(await registeredNodes(log)).nodes.includes(node))
      throw refused(
        'NODE_UNKNOWN',
        `No node ${node} is registered. "deposit-service nodes list" lists them.`,
      );
    const metadata = { actor: operator(config) };
    await appendNodeEvent(log, { type: 'NodeForgotten', data: { node }, metadata });
    say(values.json ? jsonLine({ node, forgotten: true }) : `The node ${node} is forgotten.`);
    return 0;
  }
  const nodes = await confirmations(log);
  for (const [node, confirmed] of nodes)
    say(
      values.json
        ? jsonLine({ node, confirmed })
        : `${node}  ${confirmed ? 'has confirmed' : 'HAS NOT CONFIRMED within 5 s'}`,
    );
  if (nodes.size === 0 && !values.json) say('No node is registered.');
  return [...nodes.values()].every(Boolean) ? 0 : 1;
});

import { parseArgs } from 'node:util';
import type { DoubleOptions } from './double-options.ts';
import type { User } from './services/access-control.ts';

export const USAGE = `Serves the double of EventStoreDB until its input ends. Prints the ports of its nodes in one line.

  node main.ts [PORT] [options]

--port PORT           the port of a node; repeated, there are several nodes
--nodes N             that many nodes, each on a free port but for the first
--file FILE           the log is in this file instead of memory
--load FILE           begins with the events of a dump, if the log is empty: one event a line, as JSON
--dump FILE           writes such a dump when the input ends
--server-version V    the version that the server reports (24.10.14)
--election-ms MS      from the loss of a leader to the next one (300 to 4000 at random)
--stale-ms MS         for how long a former leader still answers (400)
--tick-ms MS          how often groups look at time-outs and checkpoints (1000)
--push-delay-ms MS    from an event to its push (at once)
--tls-cert FILE --tls-key FILE
--user NAME:PASSWORD:GROUP,GROUP   repeated for each user; clients send their names only over TLS
--no-gzip             answers are not compressed

Input, one command a line. Each is answered by "done" or "failed" and the command.
  restart · stop · listen · drop [error|silent end|silence] · restart-subsystem · clear
  kill-leader [ELECTION_MS [RETURN_MS]] · partition [STALE_MS [ELECTION_MS]] · pause MS [ELECTION_MS]
  lose-quorum MS keep|truncate [RESIGN_MS] · gossip NODE on|off · scavenge [CHUNK_BYTES] · dump FILE
  {"call": "append", "fault": {"kind": "commit and hang"}, "times": 1}
`;

export type MainOptions = {
  readonly help: boolean;
  readonly load: string | undefined;
  readonly dump: string | undefined;
  readonly double: DoubleOptions;
};

/** @throws {TypeError} an option is unknown. */
export function readMainOptions(args: string[]): MainOptions {
  const { values, positionals } = parseArgs({
    args,
    options: OPTIONS,
    allowPositionals: true,
    allowNegative: true,
  });
  const ports = [...positionals, ...(values.port ?? [])].map(Number);
  const { file, 'server-version': version, 'tls-cert': cert, 'tls-key': key } = values;
  const [tickMs, pushDelayMs] = [numberOf(values['tick-ms']), numberOf(values['push-delay-ms'])];
  const [electionMs, staleMs] = [numberOf(values['election-ms']), numberOf(values['stale-ms'])];
  const nodes = numberOf(values.nodes);
  const double: DoubleOptions = {
    compresses: values.gzip !== false,
    times: { ...(electionMs !== undefined && { electionMs }), ...(staleMs !== undefined && { staleMs }) },
    ...(ports.length > 1 ? { ports } : { port: ports[0] ?? 0, ...(nodes !== undefined && { nodes }) }),
    ...(file !== undefined && { file }),
    ...(version !== undefined && { version }),
    ...(cert !== undefined && key !== undefined && { tls: { cert, key } }),
    ...(values.user && { users: Object.fromEntries(values.user.map(userOf)) }),
    ...(tickMs !== undefined && { tickMs }),
    ...(pushDelayMs !== undefined && { pushDelayMs }),
  };
  return { help: values.help === true, load: values.load, dump: values.dump, double };
}

const TEXT = { type: 'string' } as const;
const OPTIONS = {
  help: { type: 'boolean' },
  port: { type: 'string', multiple: true },
  nodes: TEXT,
  file: TEXT,
  load: TEXT,
  dump: TEXT,
  'server-version': TEXT,
  'election-ms': TEXT,
  'stale-ms': TEXT,
  'tick-ms': TEXT,
  'push-delay-ms': TEXT,
  'tls-cert': TEXT,
  'tls-key': TEXT,
  user: { type: 'string', multiple: true },
  gzip: { type: 'boolean' },
} as const;

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function userOf(text: string): readonly [string, User] {
  const [name = '', password = '', groups = ''] = text.split(':');
  return [name, { password, groups: groups.split(',').filter((group) => group !== '') }];
}

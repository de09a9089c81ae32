import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readArguments, runCommand } from '../src/operations/command/command.ts';
import { describeMachine } from './frame/machine.ts';
import { goalsNamed, measureGoals } from './frame/measured-goals.ts';
import { pairsIn } from './frame/pairs-option.ts';
import { peerArchives } from './peer/peer-archives.ts';
import { peerRequests } from './peer/peer-requests.ts';

const CACHE = path.join(tmpdir(), 'deposit-bench-cache');

const HELP = `Measures requests and archives beside the deposit server of Software Heritage, both in one interleaved run.

  node bench/peer.ts [P1 | P2 | all] [--pairs N] [--json FILE]

P1: the service document, lists of 100, a status, and multipart final requests, after 2,000 deposits on each side.
P2: check and load of a zip and a tar.gz, made of node_modules, beside the loader: it unpacks, in memory if the system has
    a folder there, and identifies. The identifiers must be equal. Then the peak memory with up to 80,000 small files.

The peer is installed once, from PyPI, in the versions of bench/peer/python/requirements.txt. It runs under gunicorn
with two workers, on PostgreSQL, with the cheapest password hasher. Its storage is in memory, and its scheduler accepts
tasks and does nothing: unlike the service it neither checks nor loads what it accepts. Without PostgreSQL or PyPI the
goal is not measured.
Exit codes: 0 every goal that was measured holds, 1 one does not, or failed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    pairs: { type: 'string', default: '5' },
    json: { type: 'string' },
  });
  const goals = goalsNamed(positionals.length === 0 ? ['all'] : positionals, [
    peerRequests(CACHE),
    peerArchives(CACHE),
  ]);
  const folder = mkdtempSync(path.join(tmpdir(), 'deposit-bench-'));
  try {
    const options = { pairs: pairsIn(values.pairs), folder, cache: CACHE, offline: true };
    return await measureGoals(goals, describeMachine(folder), options, values.json);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

import { createWriteStream } from 'node:fs';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { XMLParser } from 'fast-xml-parser';
import { pack } from 'tar-stream';
import { readConfig } from '../src/config/read-config.ts';
import { AdminCommands } from '../src/deposits/admin-commands.ts';
import type { DepositLoaded } from '../src/domain/deposit/events.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { type Service, startService } from '../src/service/service.ts';
import { clock } from '../src/tools/clock.ts';
import { generatePassword } from '../src/tools/cryptography/password.ts';
import { silentLogger } from '../src/tools/logger.ts';

const HELP = `Runs the whole workflow: starts a service on a free port and in a temporary folder, deposits the source code of this
project over HTTP, prints every event as it happens, then the identifiers and the git commands that compute them again.

Usage: deposit-service demo [--exit]

--exit  end when the deposit is done; otherwise the service runs until Ctrl-C

Exit codes: 0 done, 1 the deposit did not become done, 2 wrong usage.
`;

await runCommand(HELP, async (args) => demo(readOptions(args, { exit: { type: 'boolean' } }).exit ?? false), {
  mayBeBare: true,
});

async function demo(exit: boolean): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-demo-'));
  const config = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: path.join(folder, 'data') });
  await using service = await startService(config, { logger: silentLogger });
  const interrupted = new Promise<void>((resolve) => process.once('SIGINT', resolve));
  await service.ready;
  const shown = showEvents(service);
  const password = generatePassword();
  const administration = new AdminCommands(service.log, { kind: 'service', name: 'demo' });
  await administration.registerClient('demo', password);
  await administration.grant('demo', 'demo');

  const archive = path.join(folder, 'source.tar.gz');
  const size = await packSources(archive);
  say(`\nThe service listens at ${service.url}; depositing ${archive} (${size} bytes).\n`);
  const credentials = `Basic ${Buffer.from(`demo:${password}`).toString('base64')}`;
  const receipt = await deposit(service.url, credentials, await readFile(archive));
  const status = await outcome(receipt.alternate, credentials);
  const loaded = await shown;
  say(`\nStatus: ${status['deposit_status']}. ${status['deposit_status_detail']}`);
  if (!loaded) return 1;
  say(`\n${status['deposit_swh_id_context']}\n`);
  say(recomputing(archive, loaded));
  if (!exit) {
    say(`The service stays up at ${service.url} (client demo, password ${password}); Ctrl-C ends it.`);
    await interrupted;
  }
  await rm(path.join(folder, 'data'), { recursive: true, force: true });
  return 0;
}

/** Prints events until a deposit reaches a final status. Resolves to the loaded event, if there is one. */
async function showEvents({ log }: Service): Promise<DepositLoaded['data'] | undefined> {
  for await (const message of log.subscribe()) {
    if (message.kind === 'caught-up') continue;
    for (const { stream, revision, type, data, metadata } of message.events) {
      const { name } = (metadata['actor'] ?? { name: 'service' }) as { name: string };
      say(`  ${stream}@${revision}  ${type.padEnd(18)} by ${name}`);
      if (type === 'DepositLoaded') return data as unknown as DepositLoaded['data'];
      if (type === 'DepositRejected' || type === 'LoadingFailed') return undefined;
    }
  }
  return undefined;
}

/** Packs the sources of this project as a tar.gz with the same bytes each time. */
async function packSources(file: string): Promise<number> {
  const root = path.join(import.meta.dirname, '..');
  const tar = pack();
  const written = pipeline(tar, createGzip(), createWriteStream(file));
  const names = await Array.fromAsync(glob('{src,projections,scripts}/**/*.ts', { cwd: root }));
  for (const name of names.sort((a, b) => (a < b ? -1 : 1))) {
    tar.entry(
      { name: `source/${name}`, mode: 0o644, mtime: new Date(0) },
      await readFile(path.join(root, name)),
    );
  }
  tar.finalize();
  await written;
  return (await readFile(file)).length;
}

async function deposit(
  url: string,
  authorization: string,
  archive: Uint8Array,
): Promise<{ alternate: string }> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(archive)], { type: 'application/x-tar' }), 'source.tar.gz');
  const entry = '<title>This deposit service</title><author><name>Its authors</name></author>';
  const atom = `<entry xmlns="http://www.w3.org/2005/Atom">${entry}</entry>`;
  form.append('atom', new Blob([atom], { type: 'application/atom+xml;charset=UTF-8' }), 'entry.xml');
  const headers = { Authorization: authorization, 'In-Progress': 'false' };
  const answer = await fetch(`${url}/1/demo/`, { method: 'POST', headers, body: form });
  const links = (await entryOf(answer))['link'] as { rel: string; href: string }[];
  return { alternate: links.find(({ rel }) => rel === 'alternate')?.href ?? '' };
}

/** Polls the status until it is final. */
async function outcome(statusIri: string, authorization: string): Promise<Record<string, string>> {
  for (;;) {
    const answer = await fetch(statusIri, { headers: { Authorization: authorization } });
    const status = (await entryOf(answer)) as Record<string, string>; // every value used here is text
    if (['done', 'rejected', 'failed'].includes(status['deposit_status'] ?? '')) return status;
    await clock.sleep(100);
  }
}

async function entryOf(answer: Response): Promise<Record<string, unknown>> {
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '', parseTagValue: false });
  return (parser.parse(await answer.text()) as { entry: Record<string, unknown> }).entry;
}

/** Returns shell lines that use only git: each prints an identifier for comparison. */
function recomputing(archive: string, loaded: DepositLoaded['data']): string {
  const { directory, revision, snapshot, identity, authorDate, committerDate, depositId } = loaded;
  const octal = [...Buffer.from(revision, 'hex')]
    .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
    .join('');
  const lines = [
    `tree ${directory}`,
    `author ${identity} ${authorDate.seconds} ${authorDate.offset}`,
    `committer ${identity} ${committerDate.seconds} ${committerDate.offset}`,
    '',
    `demo: Deposit ${depositId} in collection demo`,
  ];
  return `The same identifiers, by other means:

  # swh:1:dir:${directory}
  d=$(mktemp -d) && tar xzf ${archive} -C "$d" && cd "$d" && git init -q && git add -A && git write-tree

  # swh:1:rev:${revision}
  printf '${lines.join('\\n')}' | git hash-object -t commit --stdin

  # swh:1:snp:${snapshot}
  printf 'snapshot 37\\0revision HEAD\\00020:${octal}' | sha1sum
`;
}

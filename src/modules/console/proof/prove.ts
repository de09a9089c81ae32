import { anchorDigest, fingerprint, isSignedByItsKey } from './anchor.ts';
import { sha256 } from './digests.ts';
import { type Evidence, MAX_EARLIER_ANCHORS, type SignedAnchor } from './evidence.ts';
import { type CreatedData, type LoadedData, revisionId, snapshotId } from './git-objects.ts';
import { chainFaults } from './hash-chain.ts';
import { directoryFaults, readManifest } from './manifest.ts';
import { leafHash, rootOfPath } from './merkle-tree.ts';

/** The result of one step of the proof. */
export type ProofStep = {
  readonly name: 'chain' | 'signature' | 'root' | 'anchors' | 'identifiers';
  /** `open`: not shown by this evidence, for the reason in the text. */
  readonly outcome: 'proven' | 'broken' | 'open';
  readonly text: string;
  /** Revisions of the events at fault. */
  readonly revisions?: readonly number[];
};

type Check = (evidence: Evidence, keys: readonly string[]) => Promise<Omit<ProofStep, 'name'>>;

/** Maximum number of faults of anchors in a text. */
const MAX_TEXTS = 5;

/**
 * Proves a deposit step by step, without asking the service.
 * @param keys public keys that the auditor trusts, in base64 of their DER
 */
export async function* prove(evidence: Evidence, keys: readonly string[]): AsyncGenerator<ProofStep> {
  const checks = {
    chain: proveChain,
    signature: proveSignature,
    root: proveRoot,
    anchors: proveEarlierAnchors,
    identifiers: proveIdentifiers,
  };
  for (const [name, check] of Object.entries(checks) as [ProofStep['name'], Check][])
    yield { name, ...(await resultOf(check, evidence, keys)) };
}

async function resultOf(check: Check, evidence: Evidence, keys: readonly string[]) {
  try {
    return await check(evidence, keys);
  } catch (error) {
    return broken(`It cannot be computed: ${(error as Error).message}`);
  }
}

async function proveChain({ deposit, events }: Evidence) {
  const faults = await chainFaults(`deposit-${deposit}`, events);
  if (faults.length === 0)
    return proven(
      `Each event carries the hash of its contents and is linked to the one before it. Events: ${events.length}.`,
    );
  const texts = faults.map(({ revision, text }) => `Event #${revision} ${text}.`);
  return broken(texts.join(' '), [...new Set(faults.map(({ revision }) => revision))]);
}

async function proveSignature({ anchor }: Evidence, keys: readonly string[]) {
  if (anchor === null) return open('The log has no anchor: a rewritten log cannot be recognised.');
  const [isSigned, print] = [await isSignedByItsKey(anchor), await fingerprint(anchor.publicKey)];
  if (!isSigned) return broken(`The anchor of ${anchor.madeAt} does not carry a signature of its contents.`);
  if (keys.length === 0)
    return open(
      `The anchor is signed by the key ${print}. Compare it with the one that you have stored, or paste that.`,
    );
  if (!keys.includes(anchor.publicKey)) return broken(`The anchor is signed by another key: ${print}.`);
  return proven(`The anchor of ${anchor.madeAt} is signed by your key ${print}.`);
}

async function proveRoot({ anchor, covered, earlier = [], events }: Evidence) {
  if (anchor === null) return open('The log has no anchor.');
  if (covered === null)
    return open(`No event of this deposit is among the ${anchor.events} that the anchor covers.`);
  const event = events.find(({ revision }) => revision === covered.revision);
  if (event === undefined) return broken(`The evidence has no event #${covered.revision}.`);
  if ((await rootOfPath(await leafHash(event), covered, anchor.events)) !== anchor.root) {
    const held = earlier.findLast(({ anchor: one, root }) => root === one.root)?.anchor;
    return broken(
      `The hashes of the log do not give the root of the anchor over ${anchor.events} events: the log was changed since ${anchor.madeAt}.${
        held
          ? ` As the evidence states, they give that of ${held.madeAt} over ${held.events}: the change is in what follows.`
          : ''
      }`,
      [event.revision],
    );
  }
  const under = `Event #${covered.revision} and those before it are under the root of the anchor of ${anchor.madeAt}.`;
  const [first, last] = [covered.revision + 1, events.at(-1)?.revision ?? 0];
  if (first > last) return proven(under);
  const later = first === last ? `Event #${last} is` : `Events #${first} to #${last} are`;
  return open(
    `${under} ${later} not shown to be under it: make an anchor with “deposit-service anchor”, then save the evidence again.`,
  );
}

/**
 * Proves that the anchors before the newest one are signed and linked. The roots that the log gave are only stated in
 * the evidence: one that differs is a fault, one that does not proves nothing.
 */
async function proveEarlierAnchors({ anchor, earlier }: Evidence, keys: readonly string[]) {
  if (anchor === null) return open('The log has no anchor.');
  if (earlier === undefined) return open('The evidence does not have the earlier anchors.');
  const [first] = earlier;
  const oldest = first?.anchor ?? anchor;
  if (oldest['previous'] !== null && earlier.length < MAX_EARLIER_ANCHORS)
    return broken(`The anchor of ${oldest.madeAt} names an earlier one, which the evidence does not have.`);
  if (first === undefined) return proven('The log has no earlier anchor.');
  const all = [...earlier.map((one) => one.anchor), anchor];
  const faults = await Promise.all(
    earlier.map(async ({ anchor: one, root }, index) => {
      const texts = [
        ...(await signatureFaults(one, keys)),
        root !== one.root && 'does not have the root that the hashes of the log gave, as the evidence states',
        all[index + 1]?.['previous'] !== (await anchorDigest(one)) &&
          'is not the one that the next anchor names',
      ];
      return texts
        .filter((text) => text !== false)
        .map((text) => `The anchor of ${one.madeAt} over ${one.events} events ${text}.`);
    }),
  );
  const texts = faults.flat();
  const more = texts.length > MAX_TEXTS ? [`More faults: ${texts.length - MAX_TEXTS}.`] : [];
  if (texts.length > 0) return broken([...texts.slice(0, MAX_TEXTS), ...more].join(' '));
  const whole = `Each since ${first.anchor.madeAt} is signed and named by the next one. That the log gave its root is only stated. Anchors: ${earlier.length}.`;
  return keys.length === 0 ? open(`${whole} Their keys were not compared with yours.`) : proven(whole);
}

async function signatureFaults(anchor: SignedAnchor, keys: readonly string[]): Promise<string[]> {
  if (!(await isSignedByItsKey(anchor))) return ['does not carry a signature of its contents'];
  if (keys.length === 0 || keys.includes(anchor.publicKey)) return [];
  return [`is signed by another key: ${await fingerprint(anchor.publicKey)}`];
}

async function proveIdentifiers({ events, manifest }: Evidence) {
  const loaded = events.findLast(({ type }) => type === 'DepositLoaded');
  if (loaded === undefined) return open('The deposit is not loaded, so it has no identifiers.');
  if (manifest === null)
    return open(
      'The deposit is loaded, but the evidence has no manifest: the service could not read it, or it is too large for a browser. Run deposit-service verify with the number.',
    );
  const faults = await identifierFaults(events[0]?.data as CreatedData, loaded.data as LoadedData, manifest);
  if (faults.length > 0) return broken(faults.join(' '), [loaded.revision]);
  return proven(
    'The manifest gives every directory, the root, the revision and the snapshot of the deposit.',
  );
}

async function identifierFaults(created: CreatedData, loaded: LoadedData, text: string): Promise<string[]> {
  if ((await sha256(text)) !== loaded.manifest)
    return ['The manifest differs from the one that the event names.'];
  const manifest = readManifest(text);
  const faults = (await directoryFaults(manifest)).map(
    (path) => `The identifier of the directory ${path} differs.`,
  );
  const expected = {
    directory: manifest.directory,
    revision: await revisionId(created, loaded),
    snapshot: await snapshotId(loaded.revision),
  };
  for (const name of ['directory', 'revision', 'snapshot'] as const)
    if (loaded[name] !== expected[name])
      faults.push(`The event names the ${name} ${loaded[name]}, not ${expected[name]}.`);
  if (manifest.archives.join() !== loaded.archives.join())
    faults.push('The manifest is of other archives than those that the event names.');
  return faults;
}

function proven(text: string) {
  return { outcome: 'proven', text } as const;
}

function open(text: string) {
  return { outcome: 'open', text } as const;
}

function broken(text: string, revisions?: readonly number[]) {
  return { outcome: 'broken', text, ...(revisions && { revisions }) } as const;
}

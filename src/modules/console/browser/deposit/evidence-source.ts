import type { SignedAnchor } from '../../proof/anchor.ts';
import type { EvidenceSource } from '../../proof/collect.ts';
import { loadStream } from './stream-events.ts';

type LeafPage = { readonly leaves: readonly string[]; readonly next: string | null };

/** Reads from the service of this page what evidence is made of. Used in a worker, which has no document. */
export const serviceSource: EvidenceSource = {
  async events(stream) {
    const events = await loadStream(stream, readJson);
    return events.map(({ stream: name, revision, id, type, data, metadata }) => {
      return { stream: name, revision, id, type, data, metadata };
    });
  },
  async anchors() {
    const { anchors } = await readJson<{ readonly anchors: readonly SignedAnchor[] }>('/console/api/anchors');
    return anchors;
  },
  async *leaves() {
    for (let after: string | null = ''; after !== null; ) {
      const page: LeafPage = await readJson(`/console/api/leaves${after === '' ? '' : `?after=${after}`}`);
      yield page.leaves.map((leaf) => Uint8Array.fromHex(leaf));
      after = page.next;
    }
  },
  async manifest(deposit) {
    const answer = await fetch(`/console/api/deposits/${deposit}/manifest`);
    return answer.ok ? answer.text() : null; // not loaded, too large, or not readable: the rest is proven without it
  },
};

async function readJson<Answer>(path: string): Promise<Answer> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`The service answered ${answer.status} for ${path}.`);
  return (await answer.json()) as Answer; // the server is of the same release
}

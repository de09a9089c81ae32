import type { SignedAnchor } from '../../proof/anchor.ts';
import type { EvidenceSource } from '../../proof/collect.ts';
import type { Bytes } from '../../proof/digests.ts';
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
  async newestAnchor() {
    const { anchor } = await readJson<{ readonly anchor: SignedAnchor | null }>(
      '/console/api/anchors/newest',
    );
    return anchor;
  },
  async leaves(count) {
    const leaves: Bytes[] = [];
    let after = '';
    while (leaves.length < count) {
      const page = await readJson<LeafPage>(`/console/api/leaves${after === '' ? '' : `?after=${after}`}`);
      for (const leaf of page.leaves.slice(0, count - leaves.length)) leaves.push(Uint8Array.fromHex(leaf));
      if (page.next === null) break;
      after = page.next;
    }
    return leaves;
  },
  async manifest(deposit) {
    const answer = await fetch(`/console/api/deposits/${deposit}/manifest`);
    if (answer.status === 404 || answer.status === 413) return null;
    if (!answer.ok) throw new Error(`The service answered ${answer.status} for the manifest.`);
    return answer.text();
  },
};

async function readJson<Answer>(path: string): Promise<Answer> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`The service answered ${answer.status} for ${path}.`);
  return (await answer.json()) as Answer; // the server is of the same release
}

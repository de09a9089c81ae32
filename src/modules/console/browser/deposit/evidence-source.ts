import type { EvidenceSource } from '../../proof/collect.ts';
import type { SignedAnchor } from '../../proof/evidence.ts';
import { loadStream } from './stream-events.ts';

type LeafPage = { readonly leaves: readonly string[]; readonly next: string | null };

/** Statuses without a manifest: the deposit is not loaded, the manifest is too large, or the service cannot read it. */
const WITHOUT_MANIFEST = [404, 413, 500];

/**
 * Reads from the service of this page what evidence is made of. Used in a worker, which has no document.
 * @param viewer whom the page shows: requests are refused in the session of another viewer
 */
export function serviceSource(viewer: string): EvidenceSource {
  const request = (path: string) =>
    fetch(path, { headers: { 'X-Console-Viewer': viewer } }).catch(() => {
      throw new Error('The service does not answer.');
    });
  async function readJson<Answer>(path: string): Promise<Answer> {
    const answer = answered(await request(path), path);
    return (await answer.json()) as Answer; // the server is of the same release
  }
  return {
    async events(stream) {
      const events = await loadStream(stream, readJson);
      return events.map(({ stream: name, revision, id, type, data, metadata }) => {
        return { stream: name, revision, id, type, data, metadata };
      });
    },
    async anchors() {
      const { anchors } = await readJson<{ readonly anchors: readonly SignedAnchor[] }>(
        '/console/api/anchors',
      );
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
      const path = `/console/api/deposits/${deposit}/manifest`;
      const answer = await request(path);
      if (WITHOUT_MANIFEST.includes(answer.status)) return null;
      return answered(answer, path).text();
    },
  };
}

/** Returns the answer. @throws {Error} it is a refusal: nothing is concluded from what was not read */
function answered(answer: Response, path: string): Response {
  if (!answer.ok) throw new Error(`The service answered ${answer.status} for ${path}.`);
  return answer;
}

import { useEffect, useState } from 'preact/hooks';
import type { Progress } from '../../proof/collect.ts';
import type { Evidence } from '../../proof/evidence.ts';
import type { ProofStep } from '../../proof/prove.ts';
import { openWorker } from '../parts/console-worker.ts';

/** A request to prove a deposit with these keys. */
export type ProofRequest = Pick<Evidence, 'deposit' | 'service' | 'savedAt'> & {
  readonly keys: readonly string[];
  /** Whom the page shows. */
  readonly viewer: string;
};

/** The progress of a proof. */
export type ProofRun = {
  readonly progress: Progress;
  readonly steps: readonly ProofStep[];
  readonly evidence?: Evidence;
  readonly failed?: string;
};

const NOTHING: ProofRun = { progress: { hashes: 0, events: 0, of: 0 }, steps: [] };

/** Proves in a worker whenever the request changes; without a request nothing runs. */
export function useProof(request: ProofRequest | undefined): ProofRun {
  const [run, setRun] = useState<ProofRun>(NOTHING);
  useEffect(() => {
    setRun(NOTHING);
    if (!request) return undefined;
    const worker = openWorker(new URL('./proof-worker.ts', import.meta.url));
    worker.addEventListener('message', ({ data }: MessageEvent<Partial<ProofRun>>) =>
      setRun((old) => ({ ...old, ...data })),
    );
    worker.addEventListener('error', () =>
      setRun((old) => ({ ...old, failed: 'The proof could not be started.' })),
    );
    worker.postMessage(request);
    return () => worker.terminate();
  }, [request]);
  return run;
}

import { collectEvidence, type Progress } from '../../proof/collect.ts';
import type { Evidence } from '../../proof/evidence.ts';
import { type ProofStep, prove } from '../../proof/prove.ts';
import { serviceSource } from './evidence-source.ts';

/** A request to prove a deposit with these keys. */
export type ProofRequest = Pick<Evidence, 'deposit' | 'service' | 'savedAt'> & {
  readonly keys: readonly string[];
};

/** A report of the worker. */
export type ProofReport =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'step'; readonly step: ProofStep }
  | { readonly kind: 'evidence'; readonly evidence: Evidence }
  | { readonly kind: 'failed'; readonly message: string };

addEventListener('message', ({ data }: MessageEvent<ProofRequest>) => void proveDeposit(data));

async function proveDeposit({ keys, ...about }: ProofRequest): Promise<void> {
  try {
    const evidence = await collectEvidence(serviceSource, about, (progress) =>
      report({ kind: 'progress', progress }),
    );
    for await (const step of prove(evidence, keys)) report({ kind: 'step', step });
    report({ kind: 'evidence', evidence });
  } catch (error) {
    report({ kind: 'failed', message: (error as Error).message });
  }
}

function report(message: ProofReport): void {
  postMessage(message);
}

import { collectEvidence } from '../../proof/collect.ts';
import { type ProofStep, prove } from '../../proof/prove.ts';
import { serviceSource } from './evidence-source.ts';
import type { ProofRequest, ProofRun } from './proof-run.ts';

addEventListener('message', ({ data }: MessageEvent<ProofRequest>) => void proveDeposit(data));

async function proveDeposit({ keys, viewer, ...about }: ProofRequest): Promise<void> {
  try {
    const evidence = await collectEvidence(serviceSource(viewer), about, (progress) => report({ progress }));
    const steps: ProofStep[] = [];
    for await (const step of prove(evidence, keys)) {
      steps.push(step);
      report({ steps });
    }
    report({ evidence });
  } catch (error) {
    report({ failed: (error as Error).message });
  }
}

/** Reports what has changed of the progress. */
function report(changed: Partial<ProofRun>): void {
  postMessage(changed);
}

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { fingerprint, publicKeysIn } from '../../proof/anchor.ts';
import { sha256 } from '../../proof/digests.ts';
import type { Evidence } from '../../proof/evidence.ts';
import type { ProofStep } from '../../proof/prove.ts';
import { NOT_PROVEN, OUTCOMES, STEP_TITLES, verdictOf } from '../../proof/steps.ts';
import { type Boot, viewerText } from '../../protocol/boot.ts';
import { html } from '../../protocol/html.ts';
import { getBytes, ofViewer } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Copyable } from '../parts/copy.ts';
import { valueOf } from '../parts/fields.ts';
import { Problem } from '../parts/pending.ts';
import { Shown } from '../parts/shown.ts';
import { withQuery } from '../router.ts';
import { countText, numberText } from '../texts/count.ts';
import { ArchiveCheck } from './archive-check.ts';
import type { DepositSummary } from './deposit-summary.ts';
import { type ProofRequest, type ProofRun, useProof } from './proof-run.ts';

type Props = { readonly summary: DepositSummary; readonly boot: Boot };

/** Proves the deposit in this browser, and saves the evidence and the verifier that proves it without the service. */
export function ProofTab({ summary, boot }: Props): VNode {
  const [pem, setPem] = useState('');
  const [request, setRequest] = useState<ProofRequest>();
  const run = useProof(request);
  const { depositId } = summary;
  if (!globalThis.isSecureContext) {
    return html`<p class="problem">This page can hash only on https or on this machine. Run instead:
      <${Copyable} text=${`npx deposit-service verify ${depositId}`} /></p>`;
  }
  const start = (event: Event): void => {
    event.preventDefault();
    if (isRunning) return;
    const savedAt = new Date().toISOString();
    const about = { deposit: depositId, service: boot.service.url, savedAt };
    setRequest({ ...about, keys: publicKeysIn(pem), viewer: viewerText(boot.viewer) });
  };
  const isRunning = request !== undefined && !run.evidence && run.failed === undefined;
  return html`<section class="proof" aria-label="Proof">
    <p class="notice">This page comes from the service that is being checked. Save the evidence and the verifier, and
      check them without a network.</p>
    <form onSubmit=${start}>
      <label for="pem">Public keys of the service that you have stored, in PEM</label>
      <textarea id="pem" rows="4" spellcheck=${false} value=${pem} onInput=${(event: Event) =>
        setPem(valueOf(event))}></textarea>
      <${Fingerprints} pem=${pem} />
      <button class="primary" aria-disabled=${isRunning}>Prove deposit ${depositId}</button>
    </form>
    <p role="status">${statusText(run, request !== undefined, isRunning)}</p>
    ${
      isRunning &&
      html`<progress aria-label="Events of the log" max=${Math.max(1, run.progress.of)} value=${run.progress.events}></progress>
        <p class="quiet">${numberText(run.progress.events)} of ${countText(run.progress.of, 'event')}</p>`
    }
    <${Problem} text=${run.failed} />
    <ol class="steps">${run.steps.map((step) => html`<${Step} step=${step} />`)}</ol>
    ${run.evidence && html`<${Saving} evidence=${run.evidence} />`}
    <h2>What this does not prove</h2>
    <ul>${NOT_PROVEN.map((text) => html`<li>${text}</li>`)}</ul>
    ${summary.row && html`<${ArchiveCheck} archives=${summary.row.archives} />`}
    <p class="quiet">The command that proves also the bytes: <${Copyable} text=${`npx deposit-service verify ${depositId}`} /></p>
  </section>`;
}

function statusText(
  { progress: { hashes, events, of }, steps, failed }: ProofRun,
  isStarted: boolean,
  isRunning: boolean,
): string {
  if (!isStarted) return 'Nothing has been computed yet.';
  if (failed !== undefined) return 'The proof was not finished.';
  if (isRunning) return 'Reading the events …';
  const finished = `Finished: ${verdictOf(steps).text}.`;
  if (of === 0) return `${finished} Without an anchor, only the events of this deposit were read.`;
  return `${finished} ${numberText(hashes)} hashes over ${countText(events, 'event')} were recomputed in this browser.`;
}

function Fingerprints({ pem }: { readonly pem: string }): VNode {
  const { value = [], problem } = useLoaded(
    async () => Promise.all(publicKeysIn(pem).map(fingerprint)), // rejects, also if one throws at once
    [pem],
  );
  if (problem !== undefined) return html`<p class="problem">This is not a public key: ${problem}</p>`;
  return html`<p class="quiet">${
    value.length === 0
      ? 'Without a key, the signature is only compared with the key that the anchor names.'
      : html`Fingerprints: ${value.map((print) => html`<code class="digest">${print}</code> `)}`
  }</p>`;
}

function Step({ step: { name, outcome, text, revisions = [] } }: { readonly step: ProofStep }): VNode {
  const { mark, word } = OUTCOMES[outcome];
  return html`<li class=${`step-${outcome}`}>
    <strong>${mark} ${STEP_TITLES[name]}: ${word}</strong>
    <${Shown} text=${text} />
    ${revisions.map(
      (revision) =>
        html`<a href=${withQuery({ tab: 'timeline', at: String(revision) })}>Open event #${revision}</a>`,
    )}
  </li>`;
}

/** Offers the evidence and the verifier as files. */
function Saving({ evidence }: { readonly evidence: Evidence }): VNode {
  const { value: digest, problem } = useLoaded(
    async (reading) => sha256(await getBytes('/console/api/verifier', reading)),
    [],
  );
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([JSON.stringify(evidence)], { type: 'application/json' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `deposit-${evidence.deposit}.audit.json`;
    link.click();
    URL.revokeObjectURL(url);
  };
  return html`<div class="saving">
    <p class="actions">
      <button type="button" onClick=${save}>Save the evidence</button>
      <a class="button" href=${ofViewer('/console/api/verifier')} download="deposit-verifier.html">Save the verifier</a>
    </p>
    <p>SHA-256 of the verifier, to be compared with docs/auditing.md: <code class="digest">${digest ?? problem ?? '…'}</code></p>
  </div>`;
}

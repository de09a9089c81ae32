import type { ProofStep } from './prove.ts';

/** Titles of the steps of a proof, and marks of their outcomes with the words for them. */
export const STEP_TITLES: Readonly<Record<ProofStep['name'], string>> = {
  chain: 'Hash chain',
  signature: 'Signature of the anchor',
  root: 'Root of the log',
  anchors: 'Chain of anchors',
  identifiers: 'Identifiers',
};

export const OUTCOMES: Readonly<
  Record<ProofStep['outcome'], { readonly mark: string; readonly word: string }>
> = {
  proven: { mark: '✔', word: 'proven' },
  broken: { mark: '✖', word: 'broken' },
  open: { mark: '–', word: 'not shown' },
};

/** Sums up all steps: the worst outcome, and the titles of the steps that have it. */
export function verdictOf(steps: readonly ProofStep[]): Pick<ProofStep, 'outcome' | 'text'> {
  const titlesOf = (wanted: ProofStep['outcome']): string =>
    steps
      .filter(({ outcome }) => outcome === wanted)
      .map(({ name }) => STEP_TITLES[name])
      .join(', ');
  const [broken, open] = [titlesOf('broken'), titlesOf('open')];
  if (broken !== '') return { outcome: 'broken', text: `BROKEN: ${broken}` };
  if (open === '') return { outcome: 'proven', text: 'everything is proven' };
  return { outcome: 'open', text: `nothing is broken, but not everything is shown: ${open}` };
}

/** Limits of the proof, which every page with a proof states. */
export const NOT_PROVEN: readonly string[] = [
  'That the events repeat what the metadata entries and the archives say: no file was read. “deposit-service verify” reads them.',
  'That the deposit has no later events: a service can withhold them. “deposit-service verify --anchors FILE” reads the whole log.',
  'That the log gave the roots of the earlier anchors: the evidence only states them. “deposit-service verify --anchors FILE” computes them.',
  'That the key is the one of the service: compare its fingerprint with one that you received another way.',
  'Anything about events after the last one that is shown to be under the anchor, except that they are linked.',
  'That the evidence is of the service whose address it names, and was saved at the time that it states: neither is signed.',
  'That the times in the events are right: they are those of the clock of the service.',
];

import { publicKeysIn } from '../../proof/anchor.ts';
import { type ProvenEvent, readEvidence } from '../../proof/evidence.ts';
import { type ProofStep, prove } from '../../proof/prove.ts';
import { NOT_PROVEN, OUTCOMES, STEP_TITLES, verdictOf } from '../../proof/steps.ts';
import { visibleText } from '../texts/visible.ts';

// The script of the offline verifier: it reads an evidence file, proves it and shows each step.

const [file, keys] = [part('evidence') as HTMLInputElement, part('keys') as HTMLTextAreaElement];
const [verdict, steps, events, limits] = [part('verdict'), part('steps'), part('events'), part('limits')];

let chosen: File | undefined;
/** Number of verifications that have begun: only the newest shows what it finds. */
let begun = 0;

file.addEventListener('click', () => {
  file.value = ''; // browsers report no change if a changed file is chosen again under its name
  choose(undefined);
});
file.addEventListener('change', () => choose(file.files?.[0]));
keys.addEventListener('input', () => void verifyChosen());
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  choose(event.dataTransfer?.files[0]);
});
limits.append(...NOT_PROVEN.map((text) => element('li', text)));

function choose(dropped: File | undefined): void {
  chosen = dropped;
  steps.replaceChildren();
  events.replaceChildren();
  verdict.textContent = 'No evidence is chosen.';
  delete verdict.dataset['outcome'];
  void verifyChosen();
}

async function verifyChosen(): Promise<void> {
  begun += 1;
  const [run, evidenceFile] = [begun, chosen];
  if (evidenceFile === undefined) return;
  const name = visibleText(evidenceFile.name);
  verdict.textContent = `Reading ${name}…`;
  try {
    const evidence = readEvidence(await evidenceFile.text());
    const found = await Array.fromAsync(prove(evidence, publicKeysIn(keys.value)));
    if (run !== begun) return;
    steps.replaceChildren(...found.map(stepItem));
    events.replaceChildren(...evidence.events.map(eventRow));
    const { outcome, text } = verdictOf(found);
    const { deposit, service, savedAt } = evidence;
    verdict.textContent = `${OUTCOMES[outcome].mark} ${text}. Deposit ${deposit} of ${service}, evidence saved ${savedAt}.`;
    verdict.dataset['outcome'] = outcome;
  } catch (error) {
    if (run !== begun) return;
    steps.replaceChildren();
    events.replaceChildren();
    verdict.textContent = `${OUTCOMES.broken.mark} The evidence cannot be read: ${name}. ${visibleText((error as Error).message)}`;
    verdict.dataset['outcome'] = 'broken';
  }
}

function stepItem({ name, outcome, text }: ProofStep): HTMLElement {
  const { mark, word } = OUTCOMES[outcome];
  const item = element('li', `${mark} ${STEP_TITLES[name]}: ${word}. ${visibleText(text)}`);
  item.dataset['outcome'] = outcome;
  return item;
}

function eventRow({ revision, type, data, metadata }: ProvenEvent): HTMLElement {
  const { kind, name } = Object(metadata['actor']) as { readonly kind?: string; readonly name?: string };
  const row = element('tr', '');
  const cells = [
    `#${revision}`,
    metadata['occurredAt'] as string,
    `${kind} ${name}`,
    type,
    JSON.stringify(data),
  ];
  row.append(...cells.map((text) => element('td', visibleText(text))));
  return row;
}

/** Returns a part of the page, which has all of them. */
function part(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

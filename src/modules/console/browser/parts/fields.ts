import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';

/** Returns the text in the field of an event. */
export function valueOf({ currentTarget }: Event): string {
  return (currentTarget as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement).value;
}

/** Keeps the browser from sending a form, and returns the text in one of its fields. */
export function submittedText(event: SubmitEvent, name: string): string {
  event.preventDefault();
  const value = new FormData(event.currentTarget as HTMLFormElement).get(name);
  return typeof value === 'string' ? value.trim() : '';
}

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  /** Each value, and the text that is shown for it. */
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
};

export function Choice({ label, value, options, onChoose }: ChoiceProps): VNode {
  return html`<label>${label} <select value=${value} onChange=${(event: Event) => onChoose(valueOf(event))}>
    ${options.map(([one, text]) => html`<option value=${one}>${text}</option>`)}
  </select></label>`;
}

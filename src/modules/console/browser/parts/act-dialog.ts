import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Filter } from '../../protocol/deposit-list.ts';
import { html } from '../../protocol/html.ts';
import type { Act, JobView } from '../../protocol/job.ts';
import { ApiError, getJson, postJson } from '../api.ts';
import { commandLine } from '../texts/command-line.ts';
import { countText, numberText } from '../texts/count.ts';
import { useAct } from './act.ts';
import { Copyable } from './copy.ts';
import { Dialog } from './dialog.ts';
import { Problem } from './pending.ts';

/** Milliseconds between two questions about the progress of a job. */
const POLL_MS = 300;

/** The deposits of an act: some by their ids, or all that a filter selects, as counted by the server. */
export type Selected =
  | { readonly ids: readonly number[] }
  | { readonly filter: Filter; readonly count: number };

const TITLES: Readonly<Record<Act, string>> = { retry: 'Retry', recheck: 'Check again' };
const MEANINGS: Readonly<Record<Act, string>> = {
  retry: 'Failed deposits are loaded again, and stuck ones continue. Rejected ones stay unchanged.',
  recheck: 'Rejected deposits are checked again. Failed ones are loaded again.',
};

type ActDialogProps = { readonly act: Act; readonly selected: Selected; readonly onClose: () => void };

/** Says what an act will do and to how many deposits, starts it, and shows how far the server is. */
export function ActDialog({ act, selected, onClose }: ActDialogProps): VNode {
  const [job, setJob] = useState<JobView | undefined>(undefined);
  const acts = useAct();
  const count = 'ids' in selected ? selected.ids.length : selected.count;
  const what = countText(count, 'deposit');
  const command = commandLine(act, 'ids' in selected ? selected : { filter: selected.filter });
  usePolled(job, setJob);
  const start = (): void =>
    acts.run(async () => setJob(await postJson<JobView>('/console/api/jobs', { act, ...selected })));
  return html`<${Dialog} title=${`${TITLES[act]}: ${what}`} onClose=${onClose}>
    <p>${MEANINGS[act]} Each gets an event that names you.</p>
    ${command !== undefined && html`<p class="quiet">The same on the command line:</p><p><${Copyable} text=${command} /></p>`}
    <${Problem} text=${acts.problem} />
    ${job && html`<${Progress} job=${job} />`}
    <div class="actions">
      ${!job && html`<button type="button" class="primary" onClick=${start}>${act === 'recheck' ? `Check ${what} again` : `Retry ${what}`}</button>`}
      ${
        job?.state === 'running' &&
        html`<button type="button" onClick=${() => acts.run(() => postJson<void>(`/console/api/jobs/${job.id}/stop`))}>Stop</button>`
      }
      <button type="button" onClick=${onClose}>${job && job.state !== 'running' ? 'Close' : job ? 'Let it run' : 'Cancel'}</button>
    </div>
  </${Dialog}>`;
}

const STATES: Readonly<Record<JobView['state'], string>> = {
  running: 'Running',
  done: 'Finished',
  stopped: 'Stopped',
  failed: 'Failed',
};

function Progress({ job }: { readonly job: JobView }): VNode {
  const { state, total, done, refused, refusals, problem } = job;
  return html`<div>
    <progress max=${total} value=${done + refused} aria-label="Progress"></progress>
    <p>
      <span role="status">${STATES[state]}</span>: ${numberText(done)} of ${numberText(total)} started again${refused > 0 ? `, ${numberText(refused)} refused` : ''}.
    </p>
    <${Problem} text=${problem ?? undefined} />
    ${
      refusals.length > 0 &&
      html`<ul class="refusals">
        ${refusals.map(({ depositId, message }) => html`<li key=${depositId}>${message}</li>`)}
      </ul>`
    }
  </div>`;
}

/** Reads the job again until it has ended, also after the service did not answer for a while. */
function usePolled(job: JobView | undefined, setJob: (job: JobView) => void): void {
  useEffect(() => {
    if (job?.state !== 'running') return undefined;
    const timer = setTimeout(() => {
      getJson<JobView>(`/console/api/jobs/${job.id}`).then(setJob, (error: Error) => {
        const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500;
        setJob({ ...job, state: isRefused ? 'failed' : 'running', problem: error.message });
      });
    }, POLL_MS);
    return () => clearTimeout(timer);
  }, [job]);
}

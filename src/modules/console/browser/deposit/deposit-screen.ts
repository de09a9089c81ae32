import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Boot } from '../../protocol/boot.ts';
import { html } from '../../protocol/html.ts';
import type { Act } from '../../protocol/job.ts';
import { FilesTab } from '../files/files-tab.ts';
import { useChanges } from '../live.ts';
import { useJson } from '../loaded.ts';
import { ActDialog } from '../parts/act-dialog.ts';
import { Copyable } from '../parts/copy.ts';
import { Pending } from '../parts/pending.ts';
import { Shown, Title } from '../parts/shown.ts';
import { StatusMark } from '../parts/status.ts';
import { Tabs } from '../parts/tabs.ts';
import type { ScreenProps } from '../screens/screen-props.ts';
import type { DepositSummary } from './deposit-summary.ts';
import { ProofTab } from './proof-tab.ts';
import { TimelineTab } from './timeline-tab.ts';

const TABS = [
  { name: 'timeline', title: 'Timeline', permission: 'service:read' },
  { name: 'files', title: 'Files', permission: 'deposits:read' },
  { name: 'proof', title: 'Proof', permission: 'service:read' },
] as const;

/** One deposit: its events and states, its files, and its proof. */
export function DepositScreen({ boot, place, params }: ScreenProps): VNode {
  const { id = '' } = params;
  const [version, setVersion] = useState(0);
  useChanges(
    ({ depositId }) => {
      if (String(depositId) === id) setVersion((before) => before + 1);
    },
    [id],
  );
  const loaded = useJson<DepositSummary>(`/console/api/deposits/${encodeURIComponent(id)}`, version);
  const { value: data } = loaded;
  if (!data) return html`<${Pending} of=${loaded} />`;
  const tabs = TABS.filter(({ permission }) => boot.viewer.permissions.includes(permission));
  const tab = tabs.find(({ name }) => name === place.query.get('tab')) ?? tabs[0];
  return html`
    <${Pending} of=${loaded} />
    <${Head} summary=${data} boot=${boot} />
    <${Tabs} label="Parts of the deposit" tabs=${tabs.map(({ name, title }) => ({
      href: `${place.path}?tab=${name}`,
      text: title,
      isCurrent: name === tab?.name,
    }))} />
    ${tab?.name === 'timeline' && html`<${TimelineTab} id=${id} place=${place} version=${version} />`}
    ${tab?.name === 'files' && html`<${FilesTab} summary=${data} boot=${boot} place=${place} />`}
    ${tab?.name === 'proof' && html`<${ProofTab} summary=${data} boot=${boot} />`}
  `;
}

function Head({
  summary: { row, context, depositId },
  boot: { service, viewer },
}: {
  readonly summary: DepositSummary;
  readonly boot: Boot;
}): VNode {
  if (!row) return html`<p class="quiet">Deposit ${depositId} was deleted. Its history remains.</p>`;
  const { client, collection, status, statusDetail } = row;
  const iri = `${service.url}/1/${encodeURIComponent(collection)}/${depositId}`;
  return html`<section class="deposit-head">
    <p class="deposit-title">
      <${Title} title=${row.title} /> <${StatusMark} status=${status} /> <span class="quiet">${client} / ${collection}</span>
    </p>
    <p class=${status in ACTS ? 'notice reasons' : 'quiet detail'}><${Shown} text=${statusDetail} /></p>
    ${context !== null && html`<p><${Copyable} text=${context} /></p>`}
    <p class="actions">
      ${
        viewer.client !== null &&
        html`<a href=${`${iri}/status/`}>Status page</a> <a href=${`${iri}/metadata/`}>Receipt</a>`
      }
      ${viewer.permissions.includes('service:read') && html`<${Copyable} text=${`npx deposit-service history ${depositId}`} />`}
      ${viewer.permissions.includes('deposits:act') && html`<${Acts} depositId=${depositId} status=${status} />`}
    </p>
  </section>`;
}

/** Acts of operators by the status of a deposit. */
const ACTS: Readonly<Record<string, { readonly act: Act; readonly title: string }>> = {
  rejected: { act: 'recheck', title: 'Check again…' },
  failed: { act: 'retry', title: 'Retry…' },
};

function Acts({ depositId, status }: { readonly depositId: number; readonly status: string }): VNode {
  const [acting, setActing] = useState<Act>();
  const possible = ACTS[status];
  return html`
    ${possible && html`<button type="button" onClick=${() => setActing(possible.act)}>${possible.title}</button>`}
    ${
      acting !== undefined &&
      html`<${ActDialog} act=${acting} selected=${{ ids: [depositId] }} onClose=${() => setActing(undefined)} />`
    }
  `;
}

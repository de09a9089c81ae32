import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Boot } from '../../protocol/boot.ts';
import { html } from '../../protocol/html.ts';
import { SCREENS, type Screen } from '../../protocol/screens.ts';
import { ofViewer, outdated } from '../api.ts';
import { live } from '../live.ts';
import { preferences, setPreferences } from '../preferences.ts';
import { navigate, type Place, withQuery } from '../router.ts';
import { useStore } from '../store.ts';
import { Clock } from './clock.ts';
import { copied } from './copy.ts';
import { Dialog } from './dialog.ts';
import { Choice, submittedText } from './fields.ts';
import { useKeys } from './keys.ts';
import { Time } from './time.ts';

type FrameProps = {
  readonly boot: Boot;
  readonly place: Place;
  readonly title: string;
  readonly children?: ComponentChildren;
};

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'search'],
  ['f', 'search in the list of deposits'],
  ['?', 'this list'],
  ['j, k', 'next and previous row'],
  ['x', 'select the row'],
  ['o or Enter', 'open the row'],
];

const THEMES = [
  ['system', 'as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
] as const;

/** Ids of the fields that a key opens. */
const FIELDS: Readonly<Record<string, string>> = { '/': 'search', f: 'filter-text' };

/** The frame of every page: skip link, top bar, navigation, and the keys that work everywhere. */
export function Frame({ boot, place, title, children }: FrameProps): VNode {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const screens: readonly Screen[] = SCREENS;
  const shown = screens.filter(
    ({ key, permission }) => key !== undefined && boot.viewer.permissions.includes(permission),
  );
  const isAfterG = useRef(false);
  useKeys((event) => {
    const target = isAfterG.current ? shown.find(({ key }) => key === event.key) : undefined;
    isAfterG.current = event.key === 'g';
    if (target) {
      event.stopPropagation(); // a row of the page may have the same key
      navigate(target.path);
    } else if (FIELDS[event.key] !== undefined) {
      event.preventDefault();
      document.getElementById(FIELDS[event.key] ?? '')?.focus();
    } else if (event.key === '?') setHelpOpen(true);
  }, true);
  const reason = useStore(outdated);
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <${TopBar} boot=${boot} place=${place} />
    <nav aria-label="Pages">
      ${shown.map(
        ({ path, title: name }) =>
          html`<a href=${path} aria-current=${isCurrent(path, place) ? 'page' : undefined}>${name}</a>`,
      )}
    </nav>
    <p class="unseen" role="status">${useStore(copied)}</p>
    <main id="content" tabindex="-1">
      <h1>${title}</h1>
      <div role="status">${reason !== undefined && html`<p class="notice">${reason}: <a href=${withQuery({})} target="_self">load this page again</a>.</p>`}</div>
      ${children}
    </main>
    ${isHelpOpen && html`<${KeyList} screens=${shown} onClose=${() => setHelpOpen(false)} />`}
  `;
}

function isCurrent(path: string, place: Place): boolean {
  return path === '/console/' ? place.path === path : place.path.startsWith(path);
}

function TopBar({ boot: { service, viewer }, place }: Pick<FrameProps, 'boot' | 'place'>): VNode {
  const { theme } = useStore(preferences);
  const search = (event: SubmitEvent): void => {
    const wanted = submittedText(event, 'q');
    if (wanted !== '') navigate(`/console/search?q=${encodeURIComponent(wanted)}`);
  };
  const text = place.query.get('q') ?? '';
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current) field.current.value = text; // also over what was typed for another address
  }, [text]);
  const setTheme = (chosen: typeof theme): void => setPreferences({ theme: chosen });
  return html`<header>
    <a class="brand" href="/console/">Deposits</a>
    <span class="node" title=${`${service.name} ${service.version}`}>
      ${new URL(service.url).host} · ${service.version}
    </span>
    <${LiveLight} />
    <form role="search" onSubmit=${search}>
      <input
        id="search"
        name="q"
        type="search"
        aria-label="Search"
        placeholder="Id, SWHID, digest, origin, client, text"
        ref=${field}
      />
    </form>
    <${Clock} />
    <button type="button" class="menu" popovertarget="menu">${viewer.name} <span class="role">${viewer.role}</span></button>
    <div id="menu" popover>
        <${Choice} label="Colours" value=${theme} options=${THEMES} onChoose=${setTheme} />
        <form method="post">
          <button formaction="/console/api/sign-out">Sign out</button>
          ${viewer.kind === 'person' && html`<button formaction=${ofViewer('/console/api/end-sessions')}>End all my sessions</button>`}
        </form>
    </div>
  </header>`;
}

function LiveLight(): VNode {
  const state = useStore(live.state);
  const toggle = (): void => live.pause(state !== 'paused');
  const label = state === 'paused' ? 'Continue the live view' : 'Pause the live view';
  const { staleSince } = live;
  const isStale = state === 'reconnecting' && staleSince !== undefined;
  return html`<button type="button" class=${`live live-${state}`} title=${label} onClick=${toggle}>
    <span aria-hidden="true">●</span> ${isStale ? html`stale since <${Time} at=${staleSince} isShort />` : state}
  </button>`;
}

function KeyList({
  screens,
  onClose,
}: {
  readonly screens: readonly Screen[];
  readonly onClose: () => void;
}): VNode {
  const rows = [...KEYS, ...screens.map(({ key = '', title }) => [`g ${key}`, title] as const)];
  return html`<${Dialog} title="Keys" onClose=${onClose}>
    <dl class="facts">
      ${rows.map(
        ([key, meaning]) => html`<div>
          <dt><kbd>${key}</kbd></dt>
          <dd>${meaning}</dd>
        </div>`,
      )}
    </dl>
    <form method="dialog"><button>Close</button></form>
  </${Dialog}>`;
}

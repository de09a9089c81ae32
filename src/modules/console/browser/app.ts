import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import type { Boot } from '../protocol/boot.ts';
import { html } from '../protocol/html.ts';
import { pathPattern } from '../protocol/path-pattern.ts';
import { SCREENS, type ScreenPath } from '../protocol/screens.ts';
import { ApiError } from './api.ts';
import { keepScroll } from './kept-scroll.ts';
import { live } from './live.ts';
import { useLoaded } from './loaded.ts';
import { Frame } from './parts/frame.ts';
import { keepFocus } from './parts/kept-focus.ts';
import { Pending } from './parts/pending.ts';
import { Shown } from './parts/shown.ts';
import { followLinks, type Place, presentPlace, withQuery } from './router.ts';
import { Deposits } from './screens/deposits.ts';
import { Overview } from './screens/overview.ts';
import type { ScreenProps } from './screens/screen-props.ts';
import { Search } from './screens/search.ts';
import { Work } from './screens/work.ts';
import { useStore } from './store.ts';

const COMPONENTS: Readonly<Record<ScreenPath, (props: ScreenProps) => VNode>> = {
  '/console/': Overview,
  '/console/deposits': Deposits,
  '/console/work': Work,
  '/console/search': Search,
  '/console/deposits/:id': LazyDepositScreen,
};

/** The whole page: its frame, and the screen of the address. */
export function App({ boot }: { readonly boot: Boot }): VNode {
  const place = useStore(presentPlace);
  useEffect(() => {
    live.start();
    const ends = [followLinks(), keepFocus(), keepScroll()];
    return () => ends.forEach((end) => end());
  }, []);
  const found = SCREENS.flatMap((screen) => {
    const match = pathPattern(screen.path).exec(place.path);
    return match ? [{ screen, params: { ...match.groups } }] : [];
  })[0];
  const title = found ? [found.screen.title, ...Object.values(found.params)].join(' ') : 'Not found';
  useEffect(() => {
    document.title = `${title} · Deposits`;
  }, [title]);
  const mayShow = found && boot.viewer.permissions.includes(found.screen.permission);
  return html`<${Frame} boot=${boot} place=${place} title=${title}>
    <${Guarded} place=${place}>
      ${
        found && mayShow
          ? html`<${COMPONENTS[found.screen.path]} boot=${boot} place=${place} params=${found.params} />`
          : html`<p>This page does not exist, or your role does not permit it.</p>`
      }
    </${Guarded}>
  </${Frame}>`;
}

type GuardedProps = { readonly place: Place; readonly children?: ComponentChildren };

/** Shows a page, or why it failed while it was rendered, until another address is opened. The frame stays usable. */
function Guarded({ place, children }: GuardedProps): VNode {
  const failedAt = useRef<Place>(undefined);
  const [error] = useErrorBoundary((thrown) => {
    failedAt.current = place;
    reportError(thrown); // as if nothing had caught it: on the console of the browser, and to tests
  });
  if (failedAt.current !== place) return html`${children}`;
  const again = html`<a href=${withQuery({})} target="_self">load it again</a>`;
  return html`<p class="problem" role="alert">The page failed while it was shown (<${Shown} text=${String(error)} />): ${again}, and report this sentence if it fails again.</p>`;
}

/** The page of a deposit. Its code brings the domain and the projections, so it is loaded when it is first opened. */
function LazyDepositScreen(props: ScreenProps): VNode {
  const loaded = useLoaded(() => import('./deposit/deposit-screen.ts').catch(asUnanswered), []);
  if (loaded.problem !== undefined)
    return html`<p class="problem" role="alert">The page could not be loaded: <a href=${withQuery({})} target="_self">try again</a>.</p>`;
  if (!loaded.value) return html`<${Pending} of=${loaded} />`;
  return html`<${loaded.value.DepositScreen} ...${props} />`;
}

/** @throws {ApiError} the script could not be fetched, so that it is fetched again */
function asUnanswered(error: Error): never {
  throw error instanceof TypeError ? new ApiError('NO_ANSWER', error.message, 0) : error;
}

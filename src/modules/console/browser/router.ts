import { notePlace } from './kept-scroll.ts';
import { Store } from './store.ts';

/** The address of the page; everything that a page shows is in it. */
export type Place = { readonly path: string; readonly query: URLSearchParams };

function placeNow(): Place {
  const { pathname, search } = location;
  return { path: pathname, query: new URLSearchParams(search) };
}

export const presentPlace = new Store(placeNow());

/** Opens a page of the console without loading it from the server. The focus moves into another page. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const { pathname } = location;
  const isSamePage = new URL(to, location.href).pathname === pathname;
  if (replace) history.replaceState(isSamePage ? history.state : null, '', to);
  else {
    notePlace();
    history.pushState(null, '', to);
  }
  presentPlace.value = placeNow();
  if (!isSamePage) document.getElementById('content')?.focus({ preventScroll: true });
}

/**
 * Returns the address of this page with other values in its query; an empty value removes a parameter. It has no fragment:
 * the browser would go to that part of the page, and load nothing.
 */
export function withQuery(changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return `${location.pathname}${text === '' ? '' : `?${text}`}`;
}

/**
 * Opens links to pages of the console in this page, and follows the buttons back and forward. A link with a fragment leads
 * to that part of the page, as in other pages.
 */
export function followLinks(): () => void {
  const onClick = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin)
      return;
    if (!/^\/console\/(?!api\/|assets\/)/.test(link.pathname)) return;
    if (link.pathname === location.pathname && link.search === location.search && link.hash !== '') return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
    const target = document.getElementById(link.hash.slice(1));
    if (!target) return window.scrollTo(0, 0);
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  };
  const onPop = (): void => {
    presentPlace.value = placeNow();
  };
  document.addEventListener('click', onClick);
  window.addEventListener('popstate', onPop);
  return () => {
    document.removeEventListener('click', onClick);
    window.removeEventListener('popstate', onPop);
  };
}

/** Milliseconds in which the data of a page should have arrived. */
const MAX_WAIT_MS = 5000;

/** Where the page should be, while it is being filled. */
let wanted: number | undefined;

/** Notes where the page is left. It is called before another address is opened as well: the page may be scrolling still. */
export function notePlace(): void {
  if (wanted === undefined) history.replaceState({ top: scrollY }, '');
}

/** Scrolls to the part that the address of a page names, unless the page returns to the place where it was left. */
export function showPart(part: Element | null | undefined): void {
  if (!part || history.state !== null || location.hash !== '') return;
  wanted = undefined;
  part.scrollIntoView({ block: 'center' });
}

/**
 * Returns to the place where a page was left, after the buttons back and forward and a reload. Browsers try so at once,
 * when the data of the page are missing. Here it waits until the page is long enough, or its reader acts.
 */
export function keepScroll(): () => void {
  history.scrollRestoration = 'manual';
  let part = ''; // of a page that is opened at a fragment
  let timer: ReturnType<typeof setTimeout> | undefined;
  const forget = (): void => {
    [wanted, part] = [undefined, ''];
  };
  const begin = (): void => {
    const left = history.state as { readonly top: number } | null; // null: it was not scrolled
    part = left ? '' : location.hash.slice(1);
    wanted = part === '' ? (left?.top ?? 0) : undefined;
    observer.unobserve(document.body);
    observer.observe(document.body); // calls back soon, also if the page is as long as the one before
    clearTimeout(timer);
    timer = setTimeout(forget, MAX_WAIT_MS);
  };
  const observer = new ResizeObserver(() => {
    const target = document.getElementById(part);
    if (wanted !== undefined && document.documentElement.scrollHeight - innerHeight >= wanted)
      window.scrollTo(0, wanted);
    else if (target) target.scrollIntoView();
    else return;
    forget();
  });
  const ended = new AbortController();
  const { signal } = ended;
  for (const act of ['wheel', 'touchstart', 'pointerdown', 'keydown'])
    window.addEventListener(act, forget, { signal, passive: true });
  window.addEventListener('popstate', begin, { signal });
  document.addEventListener('scrollend', notePlace, { signal });
  begin();
  return () => {
    ended.abort();
    observer.disconnect();
  };
}

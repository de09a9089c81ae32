import { useEffect, useRef } from 'preact/hooks';

/**
 * Calls the listener with each key that is neither text in a field nor a shortcut of the browser. Keys may come faster than
 * the page is rendered: the listener is that of the last rendering.
 * @param isFirst calls it before other listeners, which get no event whose propagation it stops
 */
export function useKeys(listener: (event: KeyboardEvent) => void, isFirst = false): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && !isField(event.target)) latest.current(event);
    };
    document.addEventListener('keydown', onKey, isFirst);
    return () => document.removeEventListener('keydown', onKey, isFirst);
  }, []);
}

/** Returns whether keys that are typed there are text. A checkbox has none: its row is moved from by keys. */
function isField(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null;
}

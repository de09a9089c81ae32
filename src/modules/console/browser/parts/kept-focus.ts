/**
 * Keeps the focus at its place when the control that has it is removed, as a filter that a click removes: it moves to the
 * nearest part of the page around the control that is left. Without this, screen readers begin at the top of the page.
 */
export function keepFocus(): () => void {
  let around: readonly Element[] = []; // the focused control, and what contains it
  const onFocus = (event: FocusEvent): void => {
    around = event.composedPath().filter((target) => target instanceof Element);
  };
  const observer = new MutationObserver(() => {
    if (document.activeElement !== document.body || around[0]?.isConnected !== false) return;
    const content = document.getElementById('content');
    const left = around.find((element) => element.isConnected);
    const part = left instanceof HTMLElement && !left.contains(content) ? left : content;
    part?.setAttribute('tabindex', '-1');
    part?.focus({ preventScroll: true });
  });
  document.addEventListener('focusin', onFocus);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener('focusin', onFocus);
    observer.disconnect();
  };
}

/** Milliseconds by which the clock of the service is ahead of that of this browser. */
let ahead = 0;

/** Compares the clock of the service with that of the browser, by the time that the service wrote into the page. */
export function setServiceClock(written: string): void {
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const arrived = Date.now() - performance.now() + (page?.responseStart ?? 0);
  ahead = Date.parse(written) - arrived;
}

/** Returns the present time of the service, which the times of its events are compared with. */
export function serviceTime(): Date {
  return new Date(Date.now() + ahead);
}

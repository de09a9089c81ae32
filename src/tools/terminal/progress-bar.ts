import { clock } from '../clock.ts';

/** Milliseconds between two redraws, and between two plain lines. */
const [REDRAW, NEXT_LINE] = [100, 2000];
/** Milliseconds over which the rate is computed. */
const RATE_WINDOW_MS = 10_000;

/** Whether a bar is on the line of the cursor of a terminal. */
let isOnLine = false;

/** Clears the line of a bar, so that a text can be printed there. The bar is shown again with its next progress. */
export function clearBar(): void {
  if (isOnLine) process.stderr.write('\r\x1b[K');
  isOnLine = false;
}

/**
 * Shows progress on standard error: a bar on a terminal, otherwise occasional lines. Shows nothing for work that
 * finishes at once. Each step of the work has a bar of its own, one after the other.
 */
export class ProgressBars implements Disposable {
  #bar: ReturnType<typeof progressBar> | undefined;

  /** @param what the counted unit, as in "1200 events copied"; with "MB", as in "MB sent", bytes are counted. */
  at(what: string, done: number, total?: number): void {
    if (what !== this.#bar?.what) {
      this.end();
      this.#bar = progressBar(what);
    }
    this.#bar?.at(done, total);
  }

  /** Ends the bar; the next step begins another one. */
  end(): void {
    this.#bar?.end();
    this.#bar = undefined;
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

type Reached = { readonly time: number; readonly done: number };

function progressBar(what: string) {
  const { stderr } = process;
  const pause = stderr.isTTY ? REDRAW : NEXT_LINE;
  const reached: Reached[] = [];
  let shownAt = clock.monotonic();
  let last: Progress = { done: 0, total: undefined };
  let shown = false;

  const show = (): void => {
    const text = progressText(what, last, rateOf(reached, last.done));
    [shown, isOnLine] = [true, stderr.isTTY];
    stderr.write(stderr.isTTY ? `\r\x1b[K${withBar(text, last, stderr.columns || 80)}` : `${text}\n`);
  };
  return {
    what,
    /** Sets the progress; may be called at any rate. */
    at(done: number, of = last.total): void {
      last = { done, total: of };
      const now = clock.monotonic();
      if (reached.length === 0) reached.push({ time: now, done });
      if (now - shownAt < pause) return;
      shownAt = now;
      show();
      reached.push({ time: now, done });
      while (reached.length > 2 && now - (reached[0] as Reached).time > RATE_WINDOW_MS) reached.shift();
    },
    /** Leaves the cursor at the beginning of a line. */
    end(): void {
      if (!shown) return;
      show();
      if (stderr.isTTY) stderr.write('\n');
      isOnLine = false;
    },
  };
}

type Progress = { readonly done: number; readonly total: number | undefined };

/** Formats "1200 of 5000 events copied, 300/s, 13 s left". */
function progressText(what: string, { done, total }: Progress, rate: number): string {
  const left = total === undefined || rate <= 0 ? undefined : Math.max(0, total - done) / rate;
  const isBytes = what.startsWith('MB ');
  const amount = isBytes ? megabytes : (number: number) => Math.round(number).toLocaleString('en');
  const parts = [
    total === undefined ? `${amount(done)} ${what}` : `${amount(done)} of ${amount(total)} ${what}`,
    rate > 0 ? `${amount(rate)}${isBytes ? ' MB' : ''}/s` : '',
    left === undefined || left === 0 ? '' : `${duration(left)} left`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** Adds a bar if the line has space for one. */
function withBar(text: string, { done, total }: Progress, columns: number): string {
  const width = Math.min(30, columns - text.length - 4);
  if (!total || width < 5) return text.slice(0, columns - 1);
  const filled = Math.round(Math.min(1, done / total) * width);
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${text}`;
}

function rateOf(reached: readonly Reached[], done: number): number {
  const [first] = reached;
  const seconds = first ? (clock.monotonic() - first.time) / 1000 : 0;
  return first && seconds > 0 ? (done - first.done) / seconds : 0;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** Formats a number of bytes as megabytes: "77.7". */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

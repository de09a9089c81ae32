import { tmpdir } from 'node:os';
import path from 'node:path';
import { everyView } from '../../../projections/every-view.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { exists } from '../../tools/files/access.ts';
import { files } from '../../tools/files.ts';
import { Rebuild } from '../../views/rebuild.ts';
import type { ViewDifference } from '../../views/view-difference.ts';
import type { Check } from './report.ts';

/** The views of this node, and the log whose positions they contain. */
export type ShownViews = {
  readonly folder: string;
  readonly origin: string;
  readonly openLog: () => Promise<EventLog & AsyncDisposable>;
  readonly served?: ServedViews;
};

/** The views that a running service has built. One of an older release does not report their versions. */
export type ServedViews = readonly { readonly name: string; readonly version?: number }[];

/** Rebuilds all views in a temporary folder and compares those of this node with them. */
export function viewsCheck(
  { folder, origin, openLog, served = [] }: ShownViews,
  progress: (events: number) => void,
  signal?: AbortSignal,
): Check {
  return async (report) => {
    const versions = new Map(served.map(({ name, version }) => [name, version]));
    const current = everyView.filter(({ name, version }) => versions.get(name) === version);
    if (current.length === 0 && !exists(folder)) {
      report.notes.push(
        `No view was compared: there is no ${folder}, where a service builds its views at its start.`,
      );
      return;
    }
    await using temporary = await files.mkdtempDisposable(path.join(tmpdir(), 'views-'));
    try {
      await using log = await openLog();
      const options = {
        folder,
        origin,
        checkIn: temporary.path,
        projections: everyView,
        served: current.map(({ name }) => name),
        progress,
      };
      using rebuild = new Rebuild({ log, ...options, signal });
      await rebuild.build();
      for await (const difference of rebuild.differences()) {
        report.find({
          check: 'views',
          code: 'VIEW_DIFFERS',
          text: textOf(difference),
          file: difference.view,
        });
      }
      report.notes.push(...rebuild.notCompared);
    } catch (error) {
      signal?.throwIfAborted();
      // If the log is unreadable, its checks have already reported why.
      if (report.findings === 0) throw error;
      report.notes.push(`The views were not compared: ${(error as Error).message}`);
    }
  };
}

function textOf({ view, key, kind }: ViewDifference): string {
  if (!everyView.some(({ name }) => name === view))
    return `The file of the views ${view} is corrupt: ${key}; "deposit-service rebuild --all" repairs it.`;
  const texts = {
    missing: `lacks ${key}`,
    'not of the log': `shows ${key || 'an entry without a key'}, which is not in the log`,
    different: `shows ${key} otherwise than the log`,
    damaged: `is corrupt: ${key}`,
  };
  return `The view ${view} ${texts[kind]}; "deposit-service rebuild ${view}" repairs it.`;
}

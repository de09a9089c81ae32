import {
  type Archives,
  type NumberedArchive,
  withArchive,
  withArchiveReplaced,
  withoutArchive,
  withoutArchives,
} from '../src/domain/deposit/archive-list.ts';
import type { Archive, DepositEvent } from '../src/domain/deposit/events.ts';
import type { Projection, Recorded } from '../src/views/projection.ts';
import { type DepositFields, withChange } from './deposit-fields.ts';

/**
 * Returns the handlers of the events that change the archives of a deposit. `keptOf` returns what the view contains of
 * an archive, without its number.
 */
export function archiveChanges<
  View extends DepositFields & Archives<Kept>,
  Kept extends NumberedArchive = NumberedArchive,
>(keptOf: (archive: Archive, event: Recorded) => Omit<Kept, 'number'>) {
  const changed = (view: View, event: Recorded, archives: Archives<Kept>): View =>
    withChange(view, event, archives as Partial<View>);
  return {
    ArchiveAdded: (view, event) =>
      view && changed(view, event, withArchive(view, keptOf(event.data.archive, event))),
    ArchivesReplaced: (view, event) =>
      view && changed(view, event, withArchive(withoutArchives(view), keptOf(event.data.archive, event))),
    ArchivesRemoved: (view, event) => view && changed(view, event, withoutArchives(view)),
    ArchiveReplaced: (view, event) => {
      const { number, archive } = event.data;
      return view && changed(view, event, withArchiveReplaced(view, number, keptOf(archive, event)));
    },
    ArchiveRemoved: (view, event) => view && changed(view, event, withoutArchive(view, event.data.number)),
  } satisfies Projection<View, DepositEvent>['when'];
}

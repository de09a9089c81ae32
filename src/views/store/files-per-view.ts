import { files } from '../../tools/files.ts';
import { ViewFile } from './view-file.ts';
import { isMarkedDamaged, type ViewFolder } from './view-folder.ts';

/**
 * Removes the files of releases that stored each view in a file of its own, if the file in use was created before a
 * time and is not damaged. Returns their number.
 */
export function removeFilesPerView(folder: ViewFolder, createdBefore: Date): number {
  const [inUse, old] = [folder.fileOf(folder.current), folder.filesPerView];
  if (old.length === 0 || !files.existsSync(inUse) || isMarkedDamaged(inUse)) return 0;
  using views = new ViewFile(inUse);
  const created = views.about()?.created;
  if (views.lastSeen === undefined || created === undefined) return 0;
  if (Date.parse(created) >= createdBefore.getTime()) return 0;
  folder.removeFilesPerView();
  return old.length;
}

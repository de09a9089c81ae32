import { readManifest } from '../../proof/manifest.ts';
import { getBytes, type Reading } from '../api.ts';
import { type TreeNode, treeOf } from './tree.ts';

/** Resolves to the text at a path of the console. @throws {ApiError} */
export async function loadText(path: string, reading: Reading): Promise<string> {
  return new TextDecoder().decode(await getBytes(path, reading));
}

/** Resolves to the tree of a loaded deposit. @throws {ApiError} */
export async function loadTree(depositId: number | string, reading: Reading): Promise<TreeNode> {
  return treeOf(readManifest(await loadText(`/console/api/deposits/${depositId}/manifest`, reading)));
}

/** Maximum bytes of a file that is shown as text. */
export const MAX_TEXT_BYTES = 1024 ** 2;

/** Resolves to a file as text. @throws {Error} it has a NUL byte, or is not UTF-8 */
export async function loadFileText(path: string, reading: Reading): Promise<string> {
  const bytes = await getBytes(path, reading);
  if (bytes.includes(0)) throw new Error('The file is not text: download it.');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('The file is not text in UTF-8: download it.');
  }
}

import { ApiError } from '../api.ts';

/** Resolves to the text at a path of the console. @throws {ApiError} */
export async function loadText(path: string, signal: AbortSignal): Promise<string> {
  return new TextDecoder().decode(await loadBytes(path, signal));
}

/** Maximum bytes of a file that is shown as text. */
export const MAX_TEXT_BYTES = 1024 ** 2;

/** Resolves to a file as text. @throws {Error} it is not text in UTF-8 */
export async function loadFileText(path: string, signal: AbortSignal): Promise<string> {
  return textIn(await loadBytes(path, signal));
}

/** Resolves to the bytes at a path of the console. @throws {ApiError} */
async function loadBytes(path: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(path, { headers: { 'X-Console': '1' }, signal });
  if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
  const { error } = (await answer.json().catch(() => ({}))) as { error?: { code: string; message: string } };
  throw new ApiError(
    error?.code ?? 'UNAVAILABLE',
    error?.message ?? 'The service cannot answer.',
    answer.status,
  );
}

/** Decodes a file as UTF-8; one with a NUL byte or other bytes is not text. */
function textIn(bytes: Uint8Array<ArrayBuffer>): string {
  if (bytes.includes(0)) throw new Error('The file is not text: download it.');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('The file is not text in UTF-8: download it.');
  }
}

import { stripTypeScriptTypes } from 'node:module';

/** Removes the types, without the warning of Node that it does so by an experimental function. */
export function withoutTypes(source: string): string {
  const own = Object.getOwnPropertyDescriptor(process, 'emitWarning');
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source);
  } finally {
    if (own) Object.defineProperty(process, 'emitWarning', own);
  }
}

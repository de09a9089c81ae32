import path from 'node:path';

/** Tells where the running service listens to operators, and the token it asks for. */
export function operatorFile(dataDir: string): string {
  return path.join(dataDir, 'operator.json');
}

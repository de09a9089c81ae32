import { readDryRun, type Status } from '../documents/deposit-documents.ts';
import { Fault, UsageFault } from '../faults.ts';
import type { Connection } from '../http/connection.ts';
import { formatNumber } from '../output.ts';
import type { Target } from './find-deposit.ts';
import type { Step } from './plan.ts';
import { requestOf } from './step-request.ts';

export type DryRunOptions = {
  readonly connection: Connection;
  readonly slug: string | undefined;
  /** Called with the number of bytes sent so far. */
  readonly onSent: (bytes: number, total: number) => void;
};

/** @throws {UsageFault} the options are for something else than a new deposit in one request. */
export function assertDryRun(
  { deposit, partial, wait }: { deposit: string | undefined; partial: boolean; wait: boolean },
  sources: readonly string[],
): void {
  const other = partial ? '--partial' : wait ? '--wait' : deposit === undefined ? undefined : '--deposit';
  if (other !== undefined) throw new UsageFault(`--dry-run cannot be combined with ${other}.`);
  if (sources.length > 1) throw new UsageFault('--dry-run checks one archive or folder at a time.');
}

/** Sends the deposit to be checked, and not created. @throws {Fault} the server has no dry runs. */
export async function dryRun(
  create: Step,
  { service, collection }: Target,
  { connection, slug, onSent }: DryRunOptions,
): Promise<Pick<Status, 'status' | 'detail'>> {
  // Another server would ignore the parameter, and create the deposit.
  if (!collection.dryRun)
    throw new Fault(`The server has no dry runs in ${collection.name}. Nothing was sent.`);
  const { archive } = create;
  const limit = service.maxUploadSize;
  if (archive && limit !== null && archive.length > limit)
    throw new Fault(
      `${archive.source} is too large for a dry run: ${formatNumber(archive.length)} bytes; the server accepts at most ${formatNumber(limit)}.`,
    );
  const iri = new URL(collection.iri);
  iri.searchParams.set('dry-run', 'true');
  const { headers, body } = requestOf(create, { collection, slug, upload: null });
  const answer = await connection.write('POST', iri.href, {
    headers,
    body,
    repeatable: true, // nothing is stored
    onSent: (bytes) => onSent(bytes, body?.length ?? 0),
  });
  return readDryRun(answer);
}

import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext, TestFn } from 'ava';
import type { Config } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { makeAnchor } from '../../src/modules/anchors/make-anchor.ts';
import { type Finding, Report } from '../../src/operations/verify/report.ts';
import { type Verification, verifyService } from '../../src/operations/verify/verify-service.ts';
import { makeDeposits } from '../../testing/http/varied-deposits.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';

/** The folder of a stopped service that has accepted deposits of every kind, with anchors made on the way. */
export type AuditedService = {
  readonly folder: string;
  /** Copies the folder, to be altered. */
  readonly copy: (t: ExecutionContext) => Promise<string>;
};

/** Makes the folder before the tests of a file. */
export function auditedService(test: TestFn, deposits = 16): AuditedService {
  const made = { folder: '' };
  test.before(async () => {
    made.folder = await mkdtemp(path.join(tmpdir(), 'audited-'));
    await using running = await RunningService.startIn(path.join(made.folder, 'data'));
    const alice = await running.register('alice', { collections: ['software'] });
    for (const count of [deposits - 5, 5]) {
      await makeDeposits(alice, 'software', count, randomBytes);
      await until(() => isSettled(running));
      await makeAnchor(running.service.log, configOf(running.folder));
    }
    await running.stop();
    await cp(running.folder, path.join(made.folder, 'kept'), { recursive: true });
  });
  test.after.always(() => rm(made.folder, { recursive: true, force: true }));
  return {
    get folder() {
      return path.join(made.folder, 'kept');
    },
    async copy(t) {
      const folder = await mkdtemp(path.join(made.folder, 'copy-'));
      t.teardown(() => rm(folder, { recursive: true, force: true }));
      await cp(path.join(made.folder, 'kept'), folder, { recursive: true });
      return folder;
    },
  };
}

/** Returns the configuration; anchors are written to a file in the folder. */
export function configOf(folder: string): Config {
  return readConfig({
    DEPOSIT_DATA_DIR: folder,
    DEPOSIT_ANCHOR_FILE: path.join(folder, 'anchors.ndjson'),
    DEPOSIT_ARCHIVE_WORKERS: '1',
  });
}

export type Verified = { readonly findings: readonly Finding[]; readonly report: Report };

export async function verified(
  folder: string,
  verification: Partial<Verification> = {},
  limit = 1000,
): Promise<Verified> {
  const findings: Finding[] = [];
  const report = new Report({ limit, onFinding: (finding) => findings.push(finding) });
  await verifyService(configOf(folder), { what: 'all', ...verification }, report);
  return { findings, report };
}

/** Returns the codes of the findings, for a test to compare. */
export function codesOf({ findings }: Verified): string[] {
  return findings.map(({ code }) => code);
}

async function isSettled({ service }: RunningService): Promise<boolean> {
  const open = new Set<string>();
  for await (const { stream, type } of service.log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (type === 'DepositCompleted') open.add(stream);
    if (['DepositRejected', 'DepositLoaded'].includes(type)) open.delete(stream);
  }
  return open.size === 0;
}

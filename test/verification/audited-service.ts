import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext, TestFn } from 'ava';
import { Anchorer } from '../../src/anchors/anchorer.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { type Finding, Report } from '../../src/verification/report.ts';
import { type Verification, verifyService } from '../../src/verification/verify-service.ts';
import { RunningService, until } from '../support/running-service.ts';
import { makeDeposits } from '../support/varied-deposits.ts';

/** The folder of a service that has taken deposits of every kind and was stopped, anchored on the way. */
export type AuditedService = {
  readonly folder: string;
  /** The folder once more, to be altered. */
  readonly copy: (t: ExecutionContext) => Promise<string>;
};

/** Made before the tests of a file. */
export function auditedService(test: TestFn, deposits = 16): AuditedService {
  const made = { folder: '' };
  test.before(async () => {
    made.folder = await mkdtemp(path.join(tmpdir(), 'audited-'));
    await using running = await RunningService.startIn(path.join(made.folder, 'data'));
    const { url, authorization } = await running.register('alice', { collections: ['software'] });
    const anchorer = new Anchorer(running.service.log, configOf(running.folder));
    for (const count of [deposits - 5, 5]) {
      await makeDeposits({ url, collection: 'software', authorization }, count, randomBytes);
      await until(() => isSettled(running));
      await anchorer.anchor();
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

/** Its anchors are written to a file beside it. */
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
  const report = new Report({ limit, tell: (finding) => findings.push(finding) });
  await verifyService(configOf(folder), { what: 'all', ...verification }, report);
  return { findings, report };
}

/** Their codes, for a test to compare. */
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

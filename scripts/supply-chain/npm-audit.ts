import { execFile } from 'node:child_process';
import { parseJson } from '../../src/tools/parse-json.ts';
import type { Check } from './supply-chain-checks.ts';

const NAME = 'vulnerabilities';
/** Total time limit for the registry, in milliseconds. */
const AUDIT_TIMEOUT_MS = 60_000;
const ASK = ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=15000'];

/** Resolves to the known vulnerabilities of the service's packages. No answer is not a problem. */
export async function askAudit(): Promise<Check> {
  const { error, stdout } = await new Promise<{ error: Error | null; stdout: string }>((resolve) => {
    const options = {
      cwd: `${import.meta.dirname}/../..`,
      timeout: AUDIT_TIMEOUT_MS,
      maxBuffer: 64 * 1024 ** 2,
    };
    execFile('npm', ASK, options, (error, stdout) => resolve({ error, stdout }));
  });
  return readAudit(stdout, error?.message ?? '');
}

/** Parses the output of `npm audit --json`. */
export function readAudit(printed: string, failure: string): Check {
  const report = parseJson(printed) as Report | null | undefined;
  if (report?.vulnerabilities === undefined || report.auditReportVersion === undefined) {
    const reason = (report?.message ?? failure.split('\n', 1)[0]) || 'npm audit printed no report.';
    return { name: NAME, looked: 0, problems: [], notChecked: reason };
  }
  const found = Object.entries(report.vulnerabilities);
  const problems = found.map(([name, { severity, range }]) => {
    return `${name} ${range} has a known vulnerability (${severity}): see npm audit.`;
  });
  return { name: NAME, looked: report.metadata?.dependencies?.total ?? 0, problems };
}

type Report = {
  readonly auditReportVersion?: number;
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly range: string }>>;
  readonly metadata?: { readonly dependencies?: { readonly total?: number } };
};

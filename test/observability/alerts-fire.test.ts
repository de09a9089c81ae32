import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { parse } from 'yaml';
import { installed } from '../../testing/processes/installed.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

type Rule = { readonly alert: string; readonly for?: string };
type Rules = { readonly groups: readonly { readonly rules: readonly Rule[] }[] };

const FILE = path.join(import.meta.dirname, '../../deploy/prometheus-alerts.yml');
const PROMTOOL = installed('promtool');
const promtest = PROMTOOL === undefined ? test.skip : test;

const { groups } = parse(readFileSync(FILE, 'utf8')) as Rules;
const rules = groups.flatMap((group) => group.rules);

/** Samples of one node, one a minute, in the notation of promtool. */
type Samples = readonly { readonly series: string; readonly values: string }[];
type Labels = Readonly<Record<string, string>>;
type Case = { readonly raise: Samples; readonly silent: Samples };

/** Minutes after which alerts are looked at: later than any range and time of a rule. */
const MINUTES = 480;

/** Samples that raise an alert, and those with which it stays silent, for one node each. */
const ALERTS: Readonly<Record<string, Case>> = {
  DepositNodeDown: gauge('up', 0, 1),
  DepositNodeNotReady: gauge('deposit_ready', 0, 1),
  DepositViewsRebuilding: gauge('deposit_views_rebuilding', 11, 0),
  DepositServerErrors: {
    raise: [...requests('503', 3), ...requests('200', 97)],
    silent: [...requests('503', 2), ...requests('200', 98), ...requests('503', 50, '/health/ready')],
  },
  DepositInternalError: counter('deposit_http_refusals_total', 1, 0, { error: 'InternalError' }),
  DepositLoginsRefused: counter('deposit_logins_refused_total', 31, 30),
  DepositPasswordChecksWait: gauge('deposit_password_checks_waiting', 17, 16),
  DepositUploadsBrokenOff: mostly('deposit_uploads_total', 'broken_off', 'stored'),
  DepositEventsParked: gauge('deposit_reactor_parked_events', 1, 0, { reactor: 'loader' }),
  DepositReactorLag: gauge('deposit_reactor_lag_seconds', 901, 900, { reactor: 'loader' }),
  DepositStuck: gauge('deposit_stuck_deposits', 1, 0, { status: 'deposited' }),
  DepositDeliveriesLost: counter('deposit_sweep_begun_total', 1, 0, { reactor: 'checker' }),
  DepositLoadingFailed: counter('deposit_outcomes_total', 1, 0, { outcome: 'failed' }),
  DepositMostRejected: mostly('deposit_outcomes_total', 'rejected', 'verified'),
  DepositReactorTriesFail: counter('deposit_reactor_failed_tries_total', 2, 1, { reactor: 'loader' }),
  DepositNotificationsWait: gauge('deposit_notification_deposits_waiting', 1, 0),
  DepositNotificationsTooOld: counter('deposit_notifications_total', 1, 0, { outcome: 'too_old' }),
  DepositArchiveWorkersBehind: gauge('deposit_archive_jobs_waiting', 51, 50),
  DepositViewLag: gauge('deposit_view_lag_seconds', 61, 60, { view: 'deposit-status' }),
  DepositEventLogUnavailable: counter('deposit_event_log_appends_total', 1, 0, { outcome: 'unavailable' }),
  DepositAppendsSlow: { raise: appends(90, 100), silent: appends(100, 100) },
  DepositArchiveStoreUnavailable: storeErrors('ARCHIVE_STORE_UNAVAILABLE'),
  DepositObjectDamaged: storeErrors('OBJECT_CORRUPT'),
  DepositAnchorsMissing: {
    raise: [at('deposit_anchor_age_seconds', 7801), at('deposit_anchor_interval_seconds', 3600)],
    silent: [at('deposit_anchor_age_seconds', 7800), at('deposit_anchor_interval_seconds', 3600)],
  },
  DepositBackupOld: gauge('deposit_last_success_age_seconds', 172_801, 172_800, { of: 'backup' }),
  DepositVerificationOld: gauge('deposit_last_success_age_seconds', 3_024_001, 3_024_000, {
    of: 'verification',
  }),
  DepositDiskFull: share('deposit_disk_free_bytes', 'deposit_disk_size_bytes', [9, 10], { kept: 'data' }),
  DepositDiskFilling: {
    raise: [rising('deposit_disk_free_bytes', -1, { kept: 'data' }, 3000)],
    silent: [rising('deposit_disk_free_bytes', -1, { kept: 'data' }, 9000)],
  },
  DepositEventLoopSlow: gauge('nodejs_eventloop_lag_p99_seconds', 0.26, 0.25),
  DepositOpenFiles: share('process_open_fds', 'process_max_fds', [81, 80]),
  DepositMetricsIncomplete: counter('deposit_scrape_faults_total', 1, 0.3, { part: 'views' }),
  DepositCertificateExpires: gauge('deposit_tls_certificate_remaining_seconds', 1_209_599, 1_209_600),
};

test('each alert has samples that raise it, and no other has', (t) => {
  t.deepEqual(
    Object.keys(ALERTS),
    rules.map(({ alert }) => alert),
  );
});

promtest('each alert is raised by its samples after its time, and not by samples at its limit', async (t) => {
  t.timeout(300_000);
  const folder = await temporaryFolder(t);
  const tests = rules.map(async (rule) => {
    const { raise, silent } = ALERTS[rule.alert] as Case; // as the test before finds
    const atOnce = rule.for === undefined ? [] : [firing(rule, 0, false)]; // at the first samples
    const [own, file] = [`${rule.alert}.yml`, `${rule.alert}-test.yml`].map((name) =>
      path.join(folder, name),
    ) as [string, string];
    await writeFile(own, JSON.stringify({ groups: [{ name: 'own', rules: [rule] }] }));
    const tested = [
      { interval: '1m', input_series: raise, promql_expr_test: [...atOnce, firing(rule, MINUTES, true)] },
      { interval: '1m', input_series: silent, promql_expr_test: [firing(rule, MINUTES, false)] },
    ];
    await writeFile(file, JSON.stringify({ rule_files: [own], evaluation_interval: '1m', tests: tested }));
    return file;
  });
  const files = await Promise.all(tests);
  const { stdout } = await promisify(execFile)(PROMTOOL as string, ['test', 'rules', ...files]);
  t.is([...stdout.matchAll(/SUCCESS/g)].length, rules.length);
});

/** Says whether an alert is raised at a minute. */
function firing({ alert }: Rule, minute: number, isRaised: boolean) {
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) by (alertname)`;
  const labels = `{alertname="${alert}"}`;
  return { expr, eval_time: `${minute}m`, exp_samples: isRaised ? [{ labels, value: 1 }] : [] };
}

function at(name: string, value: number, labels: Labels = {}) {
  return { series: seriesOf(name, labels), values: `${value}+0x${MINUTES}` };
}

/** Returns a series that grows each minute. */
function rising(name: string, by: number, labels: Labels = {}, from = 0) {
  return { series: seriesOf(name, labels), values: `${from}${by < 0 ? by : `+${by}`}x${MINUTES}` };
}

function seriesOf(name: string, labels: Labels): string {
  const all = Object.entries({ job: 'deposit', instance: 'node:9090', ...labels });
  return `${name}{${all.map(([label, value]) => `${label}="${value}"`).join()}}`;
}

function gauge(name: string, raised: number, silent: number, labels?: Labels): Case {
  return { raise: [at(name, raised, labels)], silent: [at(name, silent, labels)] };
}

/** Returns samples of a counter, by how much it grows a minute. */
function counter(name: string, raised: number, silent: number, labels?: Labels): Case {
  return { raise: [rising(name, raised, labels)], silent: [rising(name, silent, labels)] };
}

/** Returns samples of a counter of outcomes: most are bad, or most are good. */
function mostly(name: string, bad: string, good: string): Case {
  const grown = (by: number) => [rising(name, 2, { outcome: bad }), rising(name, by, { outcome: good })];
  return { raise: grown(1), silent: grown(3) };
}

/** Returns samples of a part of a hundred. */
function share(
  part: string,
  whole: string,
  [raised, silent]: readonly [number, number],
  labels?: Labels,
): Case {
  const of = (value: number) => [at(part, value, labels), at(whole, 100, labels)];
  return { raise: of(raised), silent: of(silent) };
}

function storeErrors(code: string): Case {
  return counter('deposit_archive_store_errors_total', 1, 0, { code });
}

function requests(status: string, by: number, route = '/1/{collection}/'): Samples {
  return [rising('deposit_http_requests_total', by, { status, route })];
}

/** Returns a histogram of appends a minute: how many took up to 0.1 seconds, and up to one. */
function appends(quick: number, all: number): Samples {
  const buckets = [
    ['0.1', quick],
    ['1', all],
    ['+Inf', all],
  ] as const;
  return buckets.map(([le, by]) => rising('deposit_event_log_append_duration_seconds_bucket', by, { le }));
}

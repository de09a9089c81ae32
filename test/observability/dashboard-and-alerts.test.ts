import { randomBytes } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { CHORES, recordSuccess } from '../../src/service/backends/last-success.ts';
import { zipOf } from '../../testing/archives/archive-builders.ts';
import { archiveHeaders, final } from '../../testing/http/deposit-bodies.ts';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { until } from '../../testing/processes/until.ts';
import { Exposition } from '../../testing/service/exposition.ts';
import { RunningService } from '../../testing/service/running-service.ts';

const deploy = path.join(import.meta.dirname, '../../deploy');
const docs = path.join(import.meta.dirname, '../../docs/metrics.md');

type Panel = {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
};
type Dashboard = {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};
type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
};
type Alerts = { readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[] };

const dashboard = JSON.parse(
  await readFile(path.join(deploy, 'grafana-dashboard.json'), 'utf8'),
) as Dashboard;
const alerts = parse(await readFile(path.join(deploy, 'prometheus-alerts.yml'), 'utf8')) as Alerts;
const rules = alerts.groups.flatMap((group) => group.rules);

/** Metrics that Prometheus itself sets. */
const OF_PROMETHEUS = new Set(['up']);
const LABELS_OF_PROMETHEUS = new Set(['instance', 'job', 'le']);

/** Metrics of a service that has done a deposit, and could not accept another. */
let asked: Promise<Exposition> | undefined;
const scraped = (): Promise<Exposition> => (asked ??= ask());

async function ask(): Promise<Exposition> {
  await using service = await RunningService.start();
  for (const chore of CHORES) await recordSuccess(service.folder, chore);
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  await withoutStore(service, async () => {
    const large = zipOf([{ name: 'noise', data: randomBytes(200_000) }]);
    await alice.post('/1/software/', large, { ...archiveHeaders(), ...final });
    await (await fetch(`${service.url}/health/ready`)).text();
  });
  return await Exposition.of(service.folder); // before the service ends
}

/** Runs the work while large objects cannot be put into the archive store. */
async function withoutStore({ folder }: RunningService, work: () => Promise<void>): Promise<void> {
  const incoming = path.join(folder, 'archives', 'incoming');
  await rename(incoming, `${incoming}-away`);
  await work();
  await rename(`${incoming}-away`, incoming);
}

test('every metric, label and value of the dashboard and the alerts is exported by a running service', async (t) => {
  const exposition = await scraped();
  const expressions = [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...dashboard.annotations.list.map(({ expr }) => expr),
    ...dashboard.templating.list.flatMap(({ definition }) => definition ?? []),
    ...rules.map(({ expr }) => expr),
  ];
  t.true(expressions.length > 60);
  for (const expression of expressions) {
    t.deepEqual(problemsOf(expression, exposition), [], expression);
  }
});

test('unknown metrics, labels and values are detected', (t) => {
  const text = '# TYPE deposit_a_total counter\ndeposit_a_total{b="c"} 1\n';
  const problems = (expression: string) => problemsOf(expression, new Exposition(text));
  t.deepEqual(problems('sum by (b) (rate(deposit_a_total{b="c"}[5m]))'), []);
  t.deepEqual(problems('deposit_x_total'), ['deposit_x_total is not exported']);
  t.deepEqual(problems('deposit_a_total{d="c"}'), ['deposit_a_total has no label d']);
  t.deepEqual(problems('deposit_a_total{b="x"}'), ['deposit_a_total has no b="x"']);
  t.deepEqual(problems('deposit_a_total{b=~"x|y"}'), ['deposit_a_total has no b=~"x|y"']);
  t.deepEqual(problems('sum by (d) (deposit_a_total)'), ['none of its metrics has the label d']);
  t.deepEqual(problems('sum(deposit_a_total'), ['its brackets are not closed']);
});

test('the dashboard is valid for Grafana: separate panels, placed without overlap, with queries', (t) => {
  t.true(dashboard.schemaVersion >= 36 && dashboard.uid.length > 0);
  t.is(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
  const taken = new Set<string>();
  for (const { title, type, gridPos, targets = [] } of dashboard.panels) {
    t.true(title.length > 0);
    t.is(targets.length === 0, type === 'row', title);
    t.is(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    t.true(gridPos.x + gridPos.w <= 24, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        t.false(taken.has(`${x} ${y}`), `${title} overlaps another panel`);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

test('every alert has a cause and a remedy, and is in the manual', async (t) => {
  const manual = await readFile(docs, 'utf8');
  t.is(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  for (const { alert, expr, for: duration = '1m', labels, annotations } of rules) {
    t.regex(alert, /^Deposit[A-Z]\w+$/);
    t.regex(expr, / (>|<|==) /, alert);
    t.regex(duration, /^\d+[smh]$/, alert);
    t.true(['critical', 'warning'].includes(labels.severity), alert);
    t.true(annotations.summary.length > 10 && annotations.description.length > 20, alert);
    t.true(manual.includes(`\`${alert}\``), `${alert} is in docs/metrics.md`);
  }
});

test('the age of each chore of operators is watched', (t) => {
  for (const chore of CHORES)
    t.true(
      rules.some(({ expr }) => expr.includes(`{of="${chore}"}`)),
      chore,
    );
});

test('responses to health checks do not trigger the alert on server errors, those to clients do', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const counted = async (): Promise<number> => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'DepositServerErrors') ?? {};
    const [, name = '', matchers = ''] = /\b(deposit_\w+)\{([^}]*)\}/.exec(expr) ?? [];
    const { samples } = await Exposition.of(service.folder);
    return samples
      .filter((sample) => sample.name === name && matches(sample.labels, matchers))
      .reduce((sum, { value }) => sum + value, 0);
  };
  await withoutStore(service, async () => {
    const ready = () => fetch(`${service.url}/health/ready`);
    await until(async () => (await ready()).status === 503);
    t.is(await counted(), 0);
    const large = zipOf([{ name: 'noise', data: randomBytes(200_000) }]);
    t.is((await alice.post('/1/software/', large, { ...archiveHeaders(), ...final })).status, 503);
    await until(async () => (await counted()) === 1);
  });
});

test('the manual lists exactly the metrics of the service', async (t) => {
  const { types } = await scraped();
  const manual = await readFile(docs, 'utf8');
  const ours = [...types.keys()].filter((name) => name.startsWith('deposit_'));
  const named = new Set(manual.match(/\bdeposit_[a-z_]+/g));
  t.deepEqual(
    ours.filter((name) => !named.has(name)),
    [],
  );
  t.deepEqual(
    [...named].filter((name) => !types.has(name)),
    [],
  );
});

/** Returns metrics and labels of a PromQL expression that do not exist. */
function problemsOf(expression: string, exposition: Exposition): string[] {
  const problems: string[] = [];
  const metrics = new Set<string>();
  for (const [, name = '', matchers = ''] of expression.matchAll(
    /\b((?:deposit|process|nodejs)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?/g,
  )) {
    if (OF_PROMETHEUS.has(name)) continue;
    const metric = exposition.types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    metrics.add(metric);
    const isHistogram = exposition.types.get(metric) === 'histogram';
    if (!exposition.types.has(metric) || (metric !== name && !isHistogram))
      problems.push(`${name} is not exported`);
    else problems.push(...matcherProblems(name, metric, matchers, exposition));
  }
  if (metrics.size === 0 && !/\bup\b/.test(expression)) problems.push('it asks for nothing');
  const labels = exposition.samples.filter(({ metric }) => metrics.has(metric)).flatMap(labelsOf);
  for (const [, by = ''] of expression.matchAll(/\bby \(([^)]*)\)/g)) {
    for (const label of by.split(',').map((text) => text.trim())) {
      if (
        !LABELS_OF_PROMETHEUS.has(label) &&
        !labels.includes(label) &&
        !isWithoutSamples(metrics, exposition)
      )
        problems.push(`none of its metrics has the label ${label}`);
    }
  }
  const bare = expression.replace(/"[^"]*"/g, '');
  for (const [open, close] of ['()', '{}', '[]']) {
    if (bare.split(open as string).length !== bare.split(close as string).length)
      problems.push('its brackets are not closed');
  }
  return problems;
}

function matcherProblems(name: string, metric: string, matchers: string, exposition: Exposition): string[] {
  const samples = exposition.samples.filter((sample) => sample.metric === metric);
  return [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].flatMap(
    ([, label = '', operator, value = '']) => {
      if (LABELS_OF_PROMETHEUS.has(label)) return [];
      if (!samples.some(({ labels }) => label in labels)) return [`${name} has no label ${label}`];
      const wanted = operator?.endsWith('~') ? new RegExp(`^(?:${value})$`) : undefined;
      const found = samples.some(
        ({ labels }) => wanted?.test(labels[label] ?? '') ?? labels[label] === value,
      );
      return found ? [] : [`${name} has no ${label}${operator}"${value}"`];
    },
  );
}

function matches(labels: Readonly<Record<string, string>>, matchers: string): boolean {
  return [...matchers.matchAll(/(\w+)(=~|!~)"([^"]*)"/g)].every(
    ([, label = '', operator, value]) =>
      new RegExp(`^(?:${value})$`).test(labels[label] ?? '') === (operator === '=~'),
  );
}

function labelsOf({ labels }: { readonly labels: Readonly<Record<string, string>> }): string[] {
  return Object.keys(labels);
}

/** Whether it has no samples: counters of events that have not happened, and garbage collections may not have run. */
function isWithoutSamples(metrics: ReadonlySet<string>, { samples }: Exposition): boolean {
  return [...metrics].some((metric) => !samples.some((sample) => sample.metric === metric));
}

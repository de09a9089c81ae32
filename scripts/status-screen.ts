import type { StatusFacts } from './status-facts.ts';

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB'];

/** One screen for a person. `before`, an earlier look, gives the rates. */
export function statusScreen(facts: StatusFacts, before?: StatusFacts): string {
  return [
    ...serviceLines(facts),
    `Event log (${facts.log.engine}) at ${facts.log.position ?? 'its beginning'}`,
    '',
    table(
      ['View', 'lag', 'oldest waiting'],
      facts.views.map((view) => [view.name, events(view.lagEvents), age(view)]),
    ),
    '',
    table(
      ['Reactor', 'lag', 'oldest waiting', 'under way', 'done', 'rate', 'failures'],
      facts.reactors.map((reactor) => [
        reactor.name,
        events(reactor.lagEvents),
        age(reactor),
        `${reactor.underWay}`,
        number(reactor.done),
        rate(reactor, facts, before),
        number(reactor.failures),
      ]),
    ),
    ...facts.reactors.flatMap(({ name, lastError }) =>
      lastError
        ? [`  last error of the ${name}, ${lastError.at}, ${lastError.stream}: ${lastError.message}`]
        : [],
    ),
    '',
    ...depositLines(facts),
    ...notificationLines(facts),
    `Parked events: ${facts.parked.length}${facts.parked.length > 0 ? ' ("npm run parked -- list" shows them)' : ''}`,
    storeLine(facts),
    '',
  ].join('\n');
}

function serviceLines({ service }: StatusFacts): string[] {
  if (!service) return ['No service runs on this data folder.'];
  const { version, url, pid, roles, startedAt, following } = service;
  const line = `Service ${version} at ${url} (${roles.join(', ')}; process ${pid}; since ${startedAt})`;
  return following === null ? [line] : [line, `  its views get no events: ${following}`];
}

function depositLines({ deposits }: StatusFacts): string[] {
  if (!deposits) return ['This node keeps no views: how many deposits there are is told elsewhere.'];
  const counts = Object.entries(deposits.byStatus).map(([status, count]) => `${count} ${status}`);
  const oldest = deposits.oldest.map(
    ({ status, depositId, ageSeconds }) => `${status}: deposit ${depositId}, for ${span(ageSeconds)}`,
  );
  return [
    `Deposits: ${counts.join(', ') || 'none'}`,
    ...(oldest.length > 0 ? [`  the oldest on their way: ${oldest.join('; ')}`] : []),
  ];
}

function notificationLines({ notifications }: StatusFacts): string[] {
  if (!notifications) return [];
  const { waiting, taken, failed, tooOld, keyProblem } = notifications;
  const done =
    taken === null
      ? []
      : [`${number(taken)} taken, ${number(failed)} tries not, ${number(tooOld)} too old to be sent`];
  const held = `${number(waiting)} deposits wait`;
  const how = waiting > 0 ? ' ("npm run client -- webhook NAME --failures" tells why)' : '';
  return [
    `Notifications: ${[...done, held].join('; ')}${how}`,
    ...(keyProblem === null ? [] : [`  some cannot be sent: ${keyProblem}`]),
  ];
}

function storeLine({ store, diskFreeBytes }: StatusFacts): string {
  const least = store.isWhole ? '' : 'at least ';
  const free = `${size(diskFreeBytes)} free in the data folder`;
  return `Archives (${store.engine}): ${least}${number(store.objects)} objects, ${least}${size(store.bytes)}; ${free}`;
}

function rate(reactor: StatusFacts['reactors'][number], facts: StatusFacts, before?: StatusFacts): string {
  const earlier = before?.reactors.find(({ name }) => name === reactor.name);
  if (!before || earlier?.done === undefined || earlier.done === null || reactor.done === null) return '–';
  const seconds = (Date.parse(facts.at) - Date.parse(before.at)) / 1000;
  return `${((reactor.done - earlier.done) / Math.max(seconds, 0.001)).toFixed(1)}/s`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function events(count: number): string {
  return count >= 1000 ? '1,000 events or more' : `${count} events`;
}

function age({ lagEvents, lagSeconds }: { lagEvents: number; lagSeconds: number }): string {
  return lagEvents === 0 ? '–' : span(lagSeconds);
}

function span(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

function number(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en');
}

function size(bytes: number): string {
  const power = Math.min(BYTES.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${BYTES[power]}`;
}

import { pluralize } from '../../domain/description.ts';
import { spanText } from '../../tools/terminal/span-text.ts';
import type { Status } from './status-rates.ts';

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Formats one screen for a person, 100 columns wide. */
export function statusScreen(facts: Status): string {
  return [
    ...serviceLines(facts),
    ...logLines(facts),
    '',
    ...(facts.views.length === 0 ? ['This node stores no views.'] : [viewTable(facts)]),
    ...facts.damagedViews,
    '',
    reactorTable(facts),
    ...facts.reactors.flatMap(({ name, lastError }) =>
      lastError
        ? [`  last error of the ${name}, ${lastError.at}, ${lastError.stream}: ${lastError.message}`]
        : [],
    ),
    '',
    ...depositLines(facts),
    ...notificationLines(facts),
    parkedLine(facts),
    storeLine(facts),
    ...(facts.store.note === null ? [] : [`  ${facts.store.note}`]),
    choresLine(facts),
    '',
  ].join('\n');
}

function viewTable({ views }: Status): string {
  const rows = views.map((view) => [view.name, position(view), events(view), age(view), rate(view)]);
  return table(['View', 'position', 'lag', 'oldest', 'rate'], rows);
}

function reactorTable({ reactors }: Status): string {
  return table(
    ['Reactor', 'position', 'lag', 'oldest', 'active', 'done', 'rate', 'failures'],
    reactors.map((reactor) => [
      reactor.name,
      position(reactor),
      events(reactor),
      age(reactor),
      `${reactor.underWay}`,
      number(reactor.done),
      rate(reactor),
      number(reactor.failures),
    ]),
  );
}

function serviceLines({ service, silence }: Status): string[] {
  if (silence !== null) return [silence];
  if (!service) return ['No service runs on this data folder.'];
  const { version, url, pid, roles, startedAt, following, problems } = service;
  const lines = [
    `Service ${version} at ${url} (${roles.join(', ')})`,
    `  process ${pid}, since ${startedAt}`,
    ...problems.map(({ check, reason }) => `  not ready, ${check}: ${reason}`),
  ];
  if (following === null || problems.length > 0) return lines;
  return [...lines, `  its views get no events: ${following}`]; // an older release does not list problems
}

function logLines({ log: { engine, position, server, note } }: Status): string[] {
  if (note !== null) return [`Event log (${engine}): unknown`, `  ${note}`];
  const serverLine = server ? [`  ${server.warning ?? `server ${server.version}`}`] : [];
  return [`Event log (${engine}) at ${position ?? 'its beginning'}`, ...serverLine];
}

function parkedLine({ parked }: Status): string {
  if (!parked) return 'Parked events: unknown';
  return `Parked events: ${number(parked.length)}${parked.length > 0 ? ' ("deposit-service parked list" shows them)' : ''}`;
}

function depositLines({ deposits, damagedViews, log, views }: Status): string[] {
  if (!deposits && damagedViews.length > 0) return ['Deposits: unknown while a view is corrupt'];
  const isBegun = ({ name, position: of }: Status['views'][number]) =>
    name === 'deposit-status' && of !== null;
  if (!deposits && (log.engine === 'sqlite' || views.some(isBegun)))
    return ['Deposits: not counted yet. The service builds the views when it starts.'];
  if (!deposits)
    return ['This node stores no views: ask a node that serves clients for the number of deposits.'];
  const counts = Object.entries(deposits.byStatus).map(([status, count]) => `${number(count)} ${status}`);
  const oldest = deposits.oldest.map(
    ({ status, depositId, ageSeconds }) => `${status}: deposit ${depositId}, for ${spanText(ageSeconds)}`,
  );
  return [
    `Deposits: ${counts.join(', ') || 'none'}`,
    ...(oldest.length > 0 ? [`  oldest in progress: ${oldest.join('; ')}`] : []),
    ...stuckLines(deposits),
  ];
}

function stuckLines({ stuck }: NonNullable<Status['deposits']>): string[] {
  const counts = Object.entries(stuck.byStatus).filter(([, count]) => count > 0);
  if (counts.length === 0) return [];
  const list = counts.map(([status, count]) => `${number(count)} ${status}`).join(', ');
  return [
    `  stuck, unchanged for over ${spanText(Math.round(stuck.afterSeconds))}: ${list} ("deposit-service retry --stuck")`,
  ];
}

function notificationLines({ notifications, sweep }: Status): string[] {
  if (!notifications) return [];
  const { waiting, taken, failed, tooOld, keyProblem } = notifications;
  const done =
    taken === null
      ? []
      : [`${number(taken)} delivered, ${number(failed)} failed attempts, ${number(tooOld)} expired`];
  const held = `${pluralize(waiting, 'deposit')} waiting`;
  const how = waiting > 0 ? ' ("deposit-service client webhook NAME --failures" shows why)' : '';
  return [
    `Notifications: ${[...done, held].join('; ')}${how}`,
    ...(keyProblem === null ? [] : [`  some cannot be sent: ${keyProblem}`]),
    ...(sweep && sweep.unrecorded.count > 0 ? [unrecordedLine(sweep.unrecorded)] : []),
  ];
}

function unrecordedLine({ count, depositIds }: NonNullable<Status['sweep']>['unrecorded']): string {
  const first = depositIds.slice(0, 10).join(', ');
  return `  without a record and expired: ${pluralize(count, 'deposit')} (${first}${count > 10 ? ', …; --json lists more' : ''})`;
}

function storeLine({ store: { engine, objects, bytes, isWhole }, diskFreeBytes }: Status): string {
  const least = isWhole ? '' : 'at least ';
  const stored =
    objects === null || bytes === null
      ? 'unknown'
      : `${least}${pluralize(objects, 'object')}, ${least}${size(bytes)}`;
  return `Archives (${engine}): ${stored}; ${size(diskFreeBytes)} free in the data folder`;
}

function choresLine({ at, lastBackup, lastVerification }: Status): string {
  const age = (time: string | null): string => {
    if (time === null) return 'never on this node';
    const seconds = Math.round((Date.parse(at) - Date.parse(time)) / 1000);
    return seconds >= 0
      ? `${spanText(seconds)} ago`
      : `${time}, which is in the future for the clock of this node`;
  };
  return `Last complete backup: ${age(lastBackup)}. Last verification without a finding: ${age(lastVerification)}.`;
}

function rate({ rate: events }: { readonly rate: number | null }): string {
  return events === null ? '–' : `${number(events)}/s`;
}

function position({ position: of }: { readonly position: string | null }): string {
  return of ?? '–';
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

function events({ lagEvents }: { readonly lagEvents: number | null }): string {
  if (lagEvents === null) return 'unknown';
  return lagEvents >= 1000 ? '≥ 1,000' : number(lagEvents);
}

function age({ lagEvents, lagSeconds }: { lagEvents: number | null; lagSeconds: number | null }): string {
  return lagEvents === 0 || lagSeconds === null ? '–' : spanText(lagSeconds);
}

function number(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en');
}

function size(bytes: number): string {
  const power = Math.min(BYTES.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${BYTES[power]}`;
}

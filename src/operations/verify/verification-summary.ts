import { pluralize } from '../../domain/description.ts';
import type { Finding, Report } from './report.ts';

/** Returns the summary for programs. */
export function summaryOf({ findings, counts, notes, firstBadEvent, firstBadObject }: Report) {
  return { proven: findings === 0, findings, ...counts, firstBadEvent, firstBadObject, notes };
}

/** Returns the summary for people. */
export function summaryText(report: Report): string {
  const { findings, counts, notes } = report;
  const { events, streams, objects, bytes, faultyObjects, deposits, anchors, provenBefore } = counts;
  const looked = [
    `${pluralize(events, 'event')} of ${pluralize(streams, 'stream')}`,
    `${pluralize(objects, 'object')} (${pluralize(bytes, 'byte')})${faultyObjects > 0 ? ` and ${faultyObjects} faulty ${faultyObjects === 1 ? 'one' : 'ones'}` : ''}`,
    `the identifiers of ${pluralize(deposits, 'deposit')}`,
    pluralize(anchors, 'anchor'),
    ...(provenBefore > 0 ? [`${provenBefore} objects and deposits that the interrupted run had proven`] : []),
  ];
  const first: readonly (readonly [string, Finding | undefined])[] = [
    ['The first bad event', report.firstBadEvent],
    ['The first bad object', report.firstBadObject],
  ];
  return [
    ...notes,
    ...first.flatMap(([name, finding]) => (finding ? [`${name}: ${finding.text}`] : [])),
    findings === 0
      ? `All proven: ${looked.join(', ')}.`
      : `${findings} ${findings === 1 ? 'problem' : 'problems'} found. Checked: ${looked.join(', ')}.`,
  ].join('\n');
}

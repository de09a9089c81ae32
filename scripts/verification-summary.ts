import { counted } from '../src/domain/description.ts';
import type { Finding, Report } from '../src/verification/report.ts';

/** What a program reads at the end. */
export function summaryOf({ findings, counts, notes, firstBadEvent, firstBadObject }: Report) {
  return { proven: findings === 0, findings, ...counts, firstBadEvent, firstBadObject, notes };
}

/** What a person reads at the end. */
export function summaryText(report: Report): string {
  const { findings, counts, notes } = report;
  const { events, streams, objects, bytes, faultyObjects, deposits, anchors, provenBefore } = counts;
  const looked = [
    `${counted(events, 'event')} of ${counted(streams, 'stream')}`,
    `${counted(objects, 'object')} (${counted(bytes, 'byte')})${faultyObjects > 0 ? ` besides ${faultyObjects} faulty ones` : ''}`,
    `the identifiers of ${counted(deposits, 'deposit')}`,
    counted(anchors, 'anchor'),
    ...(provenBefore > 0
      ? [`${provenBefore} objects and deposits as the interrupted run has proven them`]
      : []),
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
      : `${findings} ${findings === 1 ? 'finding' : 'findings'}. Read: ${looked.join(', ')}, as far as they are right.`,
    '',
  ].join('\n');
}

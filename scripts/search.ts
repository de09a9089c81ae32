import { readConfig } from '../src/config/read-config.ts';
import { pluralize } from '../src/domain/description.ts';
import { beginningOf, limitOf, readArguments } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { openLogReadOnly } from '../src/operations/command/service-engines.ts';
import { actorText, correlationOf, timeOf } from '../src/operations/history/history-metadata.ts';
import { searchShown } from '../src/operations/search/deposits-with.ts';
import { isKnownType } from '../src/operations/search/event-types.ts';
import type { FoundEvent } from '../src/operations/search/search-log.ts';
import { termIn } from '../src/operations/search/search-term.ts';

const HELP = `Searches the event log for an identifier, or for events, and names their deposits.

Usage: deposit-service search WHAT [conditions] [--json]
       deposit-service search conditions [--json]

WHAT: a SWHID of any kind, with or without qualifiers; a digest (SHA-256 or MD5 in hex); the 40 digits of a directory,
revision or snapshot; an origin URL; the UUID of an event, a deposit or a correlation. A file or folder inside a deposit
is searched in the manifests.

Conditions, all of which must hold:
  --type TYPE        type of event, such as DepositRejected; may be repeated
  --client NAME      events of the deposits of this client, and of the client itself
  --actor NAME       who caused the event, such as rosa, or "operator rosa"
  --reason TEXT      code of a reason or warning, such as NO_ARCHIVE, or a part of its text
  --since, --until   RFC 3339 time as in 2026-03-01T10:00:00Z, or a date; --until is exclusive
  --accepted-later   deposits that were rejected and then loaded

--limit N  at most N events, 100 by default; 0 for all
--json     one JSON object per event

The log is read once, from its beginning. The service may run. The hash of each event that is found is recomputed; an
altered event is marked as BROKEN. history and verify also show what was removed or linked otherwise.

Examples: deposit-service search swh:1:dir:48a62520846dc880f80677c7b704869d4f74177c
          deposit-service search --type DepositRejected --client alice --since 2026-03-01

Exit codes: 0 found, 1 nothing found, an event is altered, an event or a manifest could not be searched, or failed,
2 wrong usage.
`;

const OPTIONS = {
  type: { type: 'string', multiple: true },
  client: { type: 'string' },
  actor: { type: 'string' },
  reason: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  'accepted-later': { type: 'boolean' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const;

await runCommand(
  HELP,
  async (args) => {
    const { values, positionals } = readArguments(args, OPTIONS);
    const [what, ...more] = positionals;
    if (more.length > 0) throw new UsageError(`Only one WHAT is expected, not ${more.join(' ')} as well.`);
    const { client, actor, reason } = values;
    const conditions = {
      term: what === undefined ? undefined : termIn(what),
      types: values.type,
      client,
      actor,
      reason,
      since: values.since === undefined ? undefined : beginningOf('since', values.since),
      until: values.until === undefined ? undefined : beginningOf('until', values.until),
      acceptedLater: values['accepted-later'],
    };
    if (Object.values(conditions).every((condition) => condition === undefined))
      throw new UsageError('WHAT or a condition is missing.');
    const limit = limitOf(values.limit);
    const config = readConfig();
    await using log = await openLogReadOnly(config);
    const found = { events: 0, broken: 0, deposits: new Set<number>() };
    let unread = 0;
    const onUnread = (problem: string): void => {
      warn(problem);
      unread += 1;
    };
    for await (const match of searchShown(log, config, conditions, onUnread)) {
      say(values.json ? jsonLine(jsonOf(match)) : lineOf(match));
      found.events += 1;
      if (match.fault !== undefined) found.broken += 1;
      if (match.depositId !== null) found.deposits.add(match.depositId);
      if (found.events === limit) {
        warn(`Stopped after ${pluralize(limit, 'event')}; --limit shows more.`);
        break;
      }
    }
    const unknown = (values.type ?? []).filter((type) => found.events === 0 && !isKnownType(type));
    for (const type of unknown) warn(`This release does not know the type ${type}.`);
    if (!values.json)
      warn(`${pluralize(found.events, 'event')} of ${pluralize(found.deposits.size, 'deposit')}.`);
    if (found.broken > 0)
      warn(`Events that are not what was appended: ${found.broken}. Run "deposit-service verify".`);
    return found.events > 0 && found.broken === 0 && unread === 0 ? 0 : 1;
  },
  { onlyPrints: true },
);

function lineOf({ event, depositId, fields, fault }: FoundEvent): string {
  const subject = depositId === null ? event.stream : `deposit ${depositId}`;
  const where = fields.length === 0 ? '' : `  ${fields.join(', ')}`;
  const broken = fault === undefined ? '' : `  !!! BROKEN: ${fault}.`;
  return `${timeOf(event)}  ${subject}  #${event.revision}  ${event.type}  ${actorText(event)}${where}${broken}`;
}

function jsonOf({ event, depositId, fields, fault }: FoundEvent): object {
  const { id, type, stream, revision, position } = event;
  return {
    depositId,
    stream,
    revision,
    position,
    eventId: id,
    type,
    occurredAt: timeOf(event),
    actor: event.metadata['actor'] ?? null,
    correlationId: correlationOf(event),
    fields,
    broken: fault ?? null,
  };
}

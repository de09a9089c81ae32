import type { Json, RecordedEvent } from '../../event-log/event-log.ts';
import { chainFaults } from '../../event-log/integrity/chain-errors.ts';
import { canonicalJson, isNestedTooDeeply } from '../../event-log/integrity/hash-chain.ts';
import { StreamHeads } from '../../event-log/integrity/stream-heads.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { UUID } from '../../tools/random.ts';
import { AuditExport, ExportTally, type ExportTrailer, exportEnd } from './export-trailer.ts';
import { type Line, readLines } from './read-lines.ts';
import { isRedacted } from './redacted-event.ts';

/** Formats an event as a line of an export, without line feed: canonical JSON, so always the same line. */
export function exportedEvent(event: RecordedEvent): string {
  return canonicalJson(event satisfies Json);
}

/** A line of an export differs from what was exported. */
class BadLine extends errorsOfCode('BAD_LINE') {
  constructor(number: number, what: string) {
    super(`Line ${number} ${what}.`);
  }
}

/**
 * Yields the events of an export, and checks every byte of each line except the position. A line must be canonical,
 * contain the hash of its contents, and follow the previous line and the previous event of its stream.
 * The trailer must exist and state that these are all events of a log, unless the export may be `partial`.
 * @throws {BadLine}
 * @throws {AuditExport} at the first event whose secrets were replaced, or after the last event.
 * @throws {ExportNotWhole} after the last event.
 */
export async function* exportedEvents(
  source: AsyncIterable<Uint8Array>,
  { partial = false }: { readonly partial?: boolean } = {},
): AsyncGenerator<RecordedEvent> {
  const heads = new StreamHeads();
  const tally = new ExportTally();
  let end: ExportTrailer | undefined;
  let [number, position] = [0, ''];
  for await (const line of readLines(source)) {
    number += 1;
    if (end) throw new BadLine(number, 'follows the line that says it is the last');
    const parsedLine = parseLine(line, number);
    if ('export' in parsedLine) {
      end = parsedLine;
      continue;
    }
    const event = parsedLine;
    const [fault] = chainFaults(event, heads);
    const { stream, revision, type } = event;
    if (fault && isRedacted(event)) throw new AuditExport();
    if (fault) throw new BadLine(number, `(${type} at revision ${revision} of ${stream}) ${fault[1]}`);
    if (event.position <= position)
      throw new BadLine(number, 'has a position that is not after the previous one');
    position = event.position;
    tally.add(event);
    yield event;
  }
  tally.assertWhole(end, { partial });
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.isWellFormed();
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const SHAPE: Readonly<Record<keyof RecordedEvent, (value: unknown) => boolean>> = {
  stream: isText,
  revision: Number.isSafeInteger,
  position: isText,
  id: (value) => typeof value === 'string' && UUID.test(value),
  type: isText,
  data: isObject,
  metadata: isObject,
};

function parseLine(line: Line, number: number): RecordedEvent | ExportTrailer {
  if (!line.hasEnd) throw new BadLine(number, 'is truncated: it has no end');
  const value = Object(jsonIn(line.bytes, number)) as Record<string, Json>; // checked here
  if (isNestedTooDeeply(value)) throw new BadLine(number, 'is not an exported event: it nests too deeply');
  const end = exportEnd(value, line.bytes.toString());
  if (end) return end;
  const wrong = Object.entries(SHAPE).find(([name, isRight]) => !isRight(value[name]));
  if (wrong) throw new BadLine(number, `is not an exported event: its ${wrong[0]} is missing or wrong`);
  if (Object.keys(value).length !== Object.keys(SHAPE).length) {
    throw new BadLine(number, 'is not an exported event: it has additional fields');
  }
  const event = value as unknown as RecordedEvent;
  if (exportedEvent(event) !== line.bytes.toString())
    throw new BadLine(number, 'is not written as exports are');
  return event;
}

function jsonIn(bytes: Buffer, number: number): Json {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Json;
  } catch {
    throw new BadLine(number, 'is not JSON');
  }
}

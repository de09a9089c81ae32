import { IDS } from '../../../deposits/deposit-ids.ts';
import {
  clients,
  collections,
  deposits,
  notifications,
  parkings,
  people,
} from '../../../domain/aggregates.ts';
import { ANCHORS } from '../../../modules/anchors/anchor.ts';
import { BINDINGS } from '../../../service/backends/store-binding.ts';
import { NODES } from '../../../service/nodes/node-stream.ts';
import { SNAPSHOTS } from '../../../views/snapshots/snapshot-records.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';

const SINGLE = new Set([ANCHORS, BINDINGS, IDS, NODES, SNAPSHOTS]);
/** Prefixes of streams that are named by a client, collection, reactor or person. */
const NAMED = [clients, collections, parkings, people].map(({ prefix }) => prefix);
/** Streams that are named by the id of a deposit, an event, or a request with an Idempotency-Key. */
const PATTERNS = [
  new RegExp(`^(?:${deposits.prefix}|${notifications.prefix})[1-9]\\d*$`),
  /^attempts-.+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  /^request-[0-9a-f]{64}$/,
];

/** Finds streams whose names no release of the service has given: nothing reads them, so no other check does. */
export function streamNameCheck(report: Report): LogCheck {
  const unknown = new Set<string>();
  return {
    see(event) {
      const { stream } = event;
      if (isStreamName(stream) || unknown.has(stream)) return;
      unknown.add(stream);
      report.find(
        eventFinding(event, 'log', 'STREAM_UNKNOWN', 'is in a stream that the service does not have'),
      );
    },
  };
}

/** Returns whether this release or an earlier one can have written a stream of this name. */
export function isStreamName(stream: string): boolean {
  return (
    SINGLE.has(stream) ||
    NAMED.some((prefix) => stream.startsWith(prefix) && stream.length > prefix.length) ||
    PATTERNS.some((pattern) => pattern.test(stream))
  );
}

import type { FilterSettings } from './event-filter.ts';

export type StrategyName = 'RoundRobin' | 'Pinned' | 'DispatchToSingle';

/** The settings of a group, in milliseconds and numbers of events. */
export type GroupSettings = {
  readonly filter?: FilterSettings | undefined;
  /** The first event of the group is the one at this position, or the next one behind it. */
  readonly startFrom: bigint | 'end';
  readonly messageTimeout: number;
  readonly maxRetryCount: number;
  /** 0: by count alone. */
  readonly checkPointAfter: number;
  readonly minCheckPointCount: number;
  readonly maxCheckPointCount: number;
  /** The client calls it historyBufferSize. */
  readonly bufferSize: number;
  readonly liveBufferSize: number;
  readonly readBatchSize: number;
  /** 0: any number. */
  readonly maxSubscriberCount: number;
  readonly strategy: StrategyName;
  readonly resolveLinkTos: boolean;
  readonly extraStatistics: boolean;
};

/** One group in the configuration that the server stores as an event. */
export type GroupEntry = Omit<GroupSettings, 'startFrom'> & {
  readonly group: string;
  readonly startPosition: string;
};

export function toEntry(group: string, { startFrom, ...settings }: GroupSettings): GroupEntry {
  return { ...settings, group, startPosition: positionText(startFrom === 'end' ? -1n : startFrom) };
}

export function fromEntry({
  group,
  startPosition,
  ...settings
}: GroupEntry): readonly [string, GroupSettings] {
  const position = positionOf(startPosition);
  return [group, { ...settings, startFrom: position < 0n ? 'end' : position }];
}

/** Returns a position as the server writes it into checkpoints and information about groups. */
export function positionText(position: bigint | undefined): string {
  return position === undefined ? '' : `C:${position}/P:${position}`;
}

export function positionOf(text: string): bigint {
  const [, commit] = /^C:(-?\d+)\/P:-?\d+$/.exec(text) ?? [];
  if (commit === undefined)
    throw new SyntaxError(`Position of a group: ${text}. Expected C:<number>/P:<number>.`);
  return BigInt(commit);
}

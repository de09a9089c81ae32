import type { CreateReq, UpdateReq } from '@eventstore/db-client/generated/persistent_pb.js';
import messages from '@eventstore/db-client/generated/persistent_pb.js';
import type { ConsumerGroup } from '../groups/consumer-group.ts';
import { filterOf } from '../groups/event-filter.ts';
import type { GroupConsumer } from '../groups/group-consumer.ts';
import { type GroupSettings, positionText, type StrategyName } from '../groups/group-settings.ts';

const { PINNED, DISPATCHTOSINGLE } = messages.CreateReq.ConsumerStrategy;
const STRATEGIES: ReadonlyMap<number, StrategyName> = new Map([
  [PINNED, 'Pinned'],
  [DISPATCHTOSINGLE, 'DispatchToSingle'],
]);
const TICKS_PER_MS = 10_000;

type WireSettings = CreateReq.Settings | UpdateReq.Settings;
type WireStart = { getPosition(): { getCommitPosition(): string } | undefined; hasEnd(): boolean };

/** Reads what a client asks of a new group. */
export function createdSettings(options: CreateReq.Options): GroupSettings {
  const all = options.getAll() as CreateReq.AllOptions;
  return { ...settingsOf(options.getSettings() as WireSettings, all), filter: filterOf(all.getFilter()) };
}

/** Reads what a client asks of a group that is there, whose filter cannot be changed. */
export function updatedSettings(options: UpdateReq.Options): GroupSettings {
  return settingsOf(options.getSettings() as WireSettings, options.getAll() as UpdateReq.AllOptions);
}

function settingsOf(settings: WireSettings, start: WireStart): GroupSettings {
  const position = start.getPosition()?.getCommitPosition();
  return {
    startFrom: start.hasEnd() ? 'end' : BigInt(position ?? 0),
    messageTimeout: settings.hasMessageTimeoutMs()
      ? settings.getMessageTimeoutMs()
      : Number(settings.getMessageTimeoutTicks()) / TICKS_PER_MS,
    checkPointAfter: settings.hasCheckpointAfterMs()
      ? settings.getCheckpointAfterMs()
      : Number(settings.getCheckpointAfterTicks()) / TICKS_PER_MS,
    maxRetryCount: settings.getMaxRetryCount(),
    minCheckPointCount: settings.getMinCheckpointCount(),
    maxCheckPointCount: settings.getMaxCheckpointCount(),
    bufferSize: settings.getHistoryBufferSize(),
    liveBufferSize: settings.getLiveBufferSize(),
    readBatchSize: settings.getReadBatchSize(),
    maxSubscriberCount: settings.getMaxSubscriberCount(),
    strategy: STRATEGIES.get(settings.getNamedConsumerStrategy()) ?? 'RoundRobin',
    resolveLinkTos: settings.getResolveLinks(),
    extraStatistics: settings.getExtraStatistics(),
  };
}

/** Returns what the server says about a group. */
export function infoOf(group: ConsumerGroup): messages.SubscriptionInfo {
  const { settings, buffers, connected, held, parked } = group;
  const consumers = [...connected];
  const { startFrom } = settings;
  return new messages.SubscriptionInfo()
    .setEventSource('$all')
    .setGroupName(group.name)
    .setStatus(group.status)
    .setConnectionsList(consumers.map(connectionInfo))
    .setTotalItems(String(group.pushed))
    .setCountSinceLastMeasurement('0')
    .setLastCheckpointedEventPosition(positionText(group.checkpoint))
    .setLastKnownEventPosition(positionText(group.lastKnown))
    .setResolveLinkTos(settings.resolveLinkTos)
    .setStartFrom(positionText(startFrom === 'end' ? -1n : startFrom))
    .setMessageTimeoutMilliseconds(settings.messageTimeout)
    .setExtraStatistics(settings.extraStatistics)
    .setMaxRetryCount(settings.maxRetryCount)
    .setLiveBufferSize(settings.liveBufferSize)
    .setBufferSize(settings.bufferSize)
    .setReadBatchSize(settings.readBatchSize)
    .setCheckPointAfterMilliseconds(settings.checkPointAfter)
    .setMinCheckPointCount(settings.minCheckPointCount)
    .setMaxCheckPointCount(settings.maxCheckPointCount)
    .setReadBufferCount(buffers.read)
    .setLiveBufferCount(String(buffers.live))
    .setRetryBufferCount(buffers.retry)
    .setTotalInFlightMessages(consumers.reduce((sum, { inFlight }) => sum + inFlight, 0))
    .setOutstandingMessagesCount(held)
    .setNamedConsumerStrategy(settings.strategy)
    .setMaxSubscriberCount(settings.maxSubscriberCount)
    .setParkedMessageCount(String(parked.count));
}

function connectionInfo({ options, total, inFlight, room }: GroupConsumer) {
  return new messages.SubscriptionInfo.ConnectionInfo()
    .setFrom(options.from ?? '')
    .setUsername(options.username ?? 'anonymous')
    .setConnectionName(options.connectionName ?? '')
    .setTotalItems(String(total))
    .setCountSinceLastMeasurement('0')
    .setAvailableSlots(room)
    .setInFlightMessages(inFlight);
}

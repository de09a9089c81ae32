import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { eventLogContract } from './contract.ts';

eventLogContract({
  durable: false,
  startsEmpty: true,
  place: () => {
    const log = new MemoryEventLog();
    return Promise.resolve({ open: () => Promise.resolve(log) });
  },
});

import type { FaultProxy } from '../test/support/fault-proxy.ts';
import { peakMemory } from './process-facts.ts';
import type { ServiceProcess } from './service-process.ts';

/** The service process of the moment, and the most memory that one of them took. */
export class LargeRun {
  service: ServiceProcess;
  peak = 0;
  kills = 0;

  constructor(service: ServiceProcess) {
    this.service = service;
  }

  /** The most resident memory so far of the process that runs now, in MiB. */
  async memory(): Promise<number> {
    const mib = await peakMemory(this.service.pid);
    this.peak = Math.max(this.peak, mib);
    return mib;
  }

  breaks({ requests }: FaultProxy): number {
    return requests.filter((request) => request.startsWith('PATCH')).length;
  }
}

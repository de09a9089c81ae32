import type { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { peakMemory } from '../service/process-facts.ts';
import type { ServiceProcess } from '../service/service-process.ts';

/** The current service process, and the peak of memory of all of them. */
export class LargeRun {
  service: ServiceProcess;
  peak = 0;
  kills = 0;

  constructor(service: ServiceProcess) {
    this.service = service;
  }

  /** Resolves to the peak of resident memory of the current process, in MiB. */
  async memory(): Promise<number> {
    const mib = await peakMemory(this.service.pid);
    this.peak = Math.max(this.peak, mib);
    return mib;
  }

  breaks({ requests }: FaultProxy): number {
    return requests.filter((request) => request.startsWith('PATCH')).length;
  }
}

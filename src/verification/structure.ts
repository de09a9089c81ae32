import type { StoreAudit } from '../archive-store/store-audit.ts';
import type { LogAudit } from '../event-log/log-audit.ts';
import type { Check } from './report.ts';

/** The files of the engine, as far as the engine can judge them: trees, indexes, schema, the recorded end. */
export function structure(engine: Pick<LogAudit | StoreAudit, 'structure'>): Check {
  return async (report) => {
    for (const { file, text } of await engine.structure()) {
      report.find({
        check: 'files',
        code: 'FILE_DAMAGED',
        text: `${file}: ${text.replace(/\.$/, '')}.`,
        file,
      });
    }
  };
}

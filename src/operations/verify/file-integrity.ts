import type { LogAudit } from '../../event-log/integrity/log-audit.ts';
import type { StoreAudit } from '../../object-store/object-store.ts';
import type { Check } from './report.ts';

/** Checks the files of a backend as far as it can itself: trees, indexes, schema, recorded end. */
export function fileIntegrity(engine: Pick<LogAudit | StoreAudit, 'structure'>): Check {
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

import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/metadata-updates.test.ts');

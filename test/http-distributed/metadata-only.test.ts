import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/metadata-only.test.ts');

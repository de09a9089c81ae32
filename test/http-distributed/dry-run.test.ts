import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/dry-run.test.ts');

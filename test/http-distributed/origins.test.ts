import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/origins.test.ts');

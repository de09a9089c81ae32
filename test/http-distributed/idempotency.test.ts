import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/idempotency.test.ts');

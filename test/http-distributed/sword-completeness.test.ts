import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/sword-completeness.test.ts');

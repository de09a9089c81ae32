import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/history-and-statement.test.ts');

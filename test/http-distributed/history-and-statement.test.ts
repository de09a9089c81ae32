import { useDistributedEngines } from '../../testing/engines-under-test.ts';

useDistributedEngines();
await import('../http/history-and-statement.test.ts');

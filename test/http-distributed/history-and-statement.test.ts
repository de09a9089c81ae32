import { useDistributedEngines } from '../../testing/service/engines-under-test.ts';

useDistributedEngines();
await import('../http/history-and-statement.test.ts');

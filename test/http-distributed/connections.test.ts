import { useDistributedEngines } from '../../testing/engines-under-test.ts';

useDistributedEngines();
await import('../http/connections.test.ts');

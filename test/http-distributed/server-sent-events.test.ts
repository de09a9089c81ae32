import { useDistributedEngines } from '../../testing/engines-under-test.ts';

useDistributedEngines();
await import('../http/server-sent-events.test.ts');

import { useDistributedEngines } from '../../testing/service/engines-under-test.ts';

useDistributedEngines();
await import('../http/server-sent-events.test.ts');

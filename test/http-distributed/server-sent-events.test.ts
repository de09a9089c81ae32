import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/server-sent-events.test.ts');

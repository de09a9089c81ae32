import { useDistributedEngines } from '../../testing/service/engines-under-test.ts';

useDistributedEngines();
await import('../http/refusing.test.ts');

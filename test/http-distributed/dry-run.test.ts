import { useDistributedEngines } from '../../testing/service/engines-under-test.ts';

useDistributedEngines();
await import('../http/dry-run.test.ts');

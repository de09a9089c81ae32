import { useDistributedEngines } from '../../testing/service/engines-under-test.ts';

useDistributedEngines();
await import('../http/collection-feed.test.ts');

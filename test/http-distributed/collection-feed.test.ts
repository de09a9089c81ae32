import { useDistributedEngines } from '../../testing/engines-under-test.ts';

useDistributedEngines();
await import('../http/collection-feed.test.ts');

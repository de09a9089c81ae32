import { useDistributedEngines } from '../support/engines-under-test.ts';

useDistributedEngines();
await import('../http/collection-feed.test.ts');

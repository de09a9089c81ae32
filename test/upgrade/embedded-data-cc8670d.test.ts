import { testUpgrade } from './upgrade-contract.ts';
import { UpgradedService } from './upgraded-service.ts';

testUpgrade(() => UpgradedService.embedded('cc8670d'));

import { testUpgrade } from './upgrade-contract.ts';
import { UpgradedService } from './upgraded-service.ts';

testUpgrade(() => UpgradedService.distributed('a4b3938'));

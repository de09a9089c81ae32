import { readConfig } from '../src/config/read-config.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { assertStoreOf } from '../src/service/backends/bound-store.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { openStore } from '../src/service/backends/open-store.ts';
import { appendBinding, lastBinding } from '../src/service/backends/store-binding.ts';
import { assertNoUnfinishedCopy } from '../src/service/backends/unfinished-copy.ts';
import { lockDataFolder } from '../src/service/operator-port/data-directory-lock.ts';
import { random } from '../src/tools/random.ts';

const HELP = `Gives the event log and the object store of the settings a new id, which says that they belong together.

Usage: deposit-service bind [--incomplete] [--json]

--incomplete  bind them even if the store has less than 99 % of the objects that the events of the log name; a missing
              store is made

Use it after the log and the store were restored by other means than "deposit-service restore". The first start of a
service and restore do this themselves. No service may run on either. A service on another log that used this store is
refused from then on.
`;

await runCommand(
  HELP,
  async (args) => {
    const values = readOptions(args, {
      incomplete: { type: 'boolean', default: false },
      json: { type: 'boolean' },
    });
    const config = readConfig();
    using _only = lockDataFolder(config);
    await assertNoUnfinishedCopy(config.eventLog);
    await using log = await openLog(config, { mustExist: true });
    await using store = await openStore(config, { mustExist: !values.incomplete });
    if (!values.incomplete) await assertStoreOf(log, store);
    const storeId = random.uuid();
    await appendBinding(log, storeId, await lastBinding(log));
    await store.setId(storeId);
    if (values.json) say(jsonLine({ storeId }));
    else say(`The event log and the archive store have the id ${storeId}.`);
  },
  { mayBeBare: true },
);

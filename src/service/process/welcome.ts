import type { Config } from '../../config/config.ts';
import { AdminCommands } from '../../deposits/admin-commands.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { generatePassword } from '../../tools/cryptography/password.ts';
import { BINDINGS } from '../backends/store-binding.ts';
import type { Service } from '../service.ts';

/**
 * Prints the address of the service. On the first start of a service that only this machine can reach, also prints
 * first steps. The text is for an operator at a terminal, so not on standard output, which has the log lines.
 */
export async function printWelcome(
  { url, log }: Pick<Service, 'url' | 'log'>,
  config: Config,
): Promise<void> {
  const base = config.baseUrl ?? url;
  const listens = base === url ? base : `${url}, for clients ${base}`;
  process.stderr.write(`The deposit service listens at ${listens}/1/servicedocument/\n`);
  if (config.eventLog.kind !== 'sqlite' || isPublic(url, config) || !(await isUnused(log))) return;
  const password = generatePassword();
  const administration = new AdminCommands(log, { kind: 'service', name: 'first start' });
  await administration.registerClient('demo', password);
  await administration.grant('demo', 'demo');
  process.stderr.write(firstSteps(base, password, config.depositNamespace));
}

/** Whether the log is empty, apart from the id of the archive store. */
async function isUnused(log: Pick<EventLog, 'readAll'>): Promise<boolean> {
  for await (const { stream } of log.readAll()) if (stream !== BINDINGS) return false;
  return true;
}

/**
 * Whether clients on other machines can reach the service, also through a proxy. Such a service must have no demo
 * client.
 */
function isPublic(url: string, { trustProxy }: Config): boolean {
  return trustProxy || !/^https?:\/\/(127\.|\[::1\])/.test(url);
}

function firstSteps(base: string, password: string, depositNamespace: string): string {
  const provenance = `<deposit xmlns="${depositNamespace}"><metadata-provenance><url xmlns="http://schema.org/">https://example.org/</url></metadata-provenance></deposit>`;
  return `
----------------------------------------------------------------------------------------
A client "demo" was registered for you to try the service, with the collection "demo".
Its password is shown only now:  ${password}

A first deposit:

  printf 'print("hello")\\n' > hello.py && tar czf hello.tar.gz hello.py
  printf '<entry xmlns="http://www.w3.org/2005/Atom"><title>Hello</title><author><name>Me</name></author>${provenance}</entry>' > hello.xml

  curl -u demo:${password} -H 'In-Progress: false' -F 'file=@hello.tar.gz;type=application/x-tar' -F 'atom=@hello.xml;type=application/atom+xml;charset=UTF-8' ${base}/1/demo/

  curl -u demo:${password} -H 'Accept: application/json' ${base}/1/demo/1/status/

Your own clients:  npx deposit-service client add NAME --collection NAME
----------------------------------------------------------------------------------------

`;
}

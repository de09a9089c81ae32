import { Administration } from '../administration.ts';
import type { Config } from '../config.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { generatePassword } from '../password.ts';
import type { Service } from '../service.ts';
import { BINDINGS } from '../store-binding.ts';

/**
 * Says where the service is; on the first start on this machine alone, with something to try it with. It is for a
 * person at a terminal, so not on standard output, where the lines of the log are.
 */
export async function introduce({ url, log }: Pick<Service, 'url' | 'log'>, config: Config): Promise<void> {
  const base = config.baseUrl ?? url;
  const listens = base === url ? base : `${url}, for clients ${base}`;
  process.stderr.write(`The deposit service listens at ${listens}/1/servicedocument/\n`);
  if (config.eventLog.kind !== 'sqlite' || isPublic(url, config) || !(await isUnused(log))) return;
  const password = generatePassword();
  const administration = new Administration(log, { kind: 'service', name: 'first start' });
  await administration.registerClient('demo', password);
  await administration.grant('demo', 'demo');
  process.stderr.write(firstSteps(base, password));
}

/** Whether nothing was written yet, apart from the id of the archive store. */
async function isUnused(log: Pick<EventLog, 'readAll'>): Promise<boolean> {
  for await (const { stream } of log.readAll()) if (stream !== BINDINGS) return false;
  return true;
}

/** Behind a proxy it is, too: nobody who was not registered on purpose gets in there. */
function isPublic(url: string, { trustProxy }: Config): boolean {
  return trustProxy || !/^https?:\/\/(127\.|\[::1\])/.test(url);
}

function firstSteps(base: string, password: string): string {
  return `
A client "demo" was registered for trying it out, with the collection "demo" and the
password ${password} (shown only now). A first deposit:

  printf 'print("hello")\\n' > hello.py && tar czf hello.tar.gz hello.py
  printf '<entry xmlns="http://www.w3.org/2005/Atom"><title>Hello</title><author><name>Me</name></author></entry>' > hello.xml

  curl -u demo:${password} -H 'In-Progress: false' -F 'file=@hello.tar.gz;type=application/x-tar' -F 'atom=@hello.xml;type=application/atom+xml;charset=UTF-8' ${base}/1/demo/

  curl -u demo:${password} ${base}/1/demo/1/status/

Real clients: npm run client -- add NAME --collection NAME   (npm run client -- --help tells more)

`;
}

import test from 'ava';
import { FAULTS, faultNames } from '../../simulation/faults/faults.ts';
import { archiveOf } from '../../simulation/history/archive-bytes.ts';
import { PART_BYTES } from '../../simulation/nodes/site-settings.ts';
import { countOfSteps, everyStep } from '../../simulation/plan/every-step.ts';
import { LEAST, makePlan } from '../../simulation/plan/make-plan.ts';
import { parsePlan } from '../../simulation/plan/parse-plan.ts';
import { CLIENTS, commandsOf, NODES, type Plan } from '../../simulation/plan/plan.ts';

const PLANS = Array.from({ length: 300 }, (_, seed) => makePlan(seed + 1));

test('a history has at least 2 nodes, 3 clients, 20 commands on 5 deposits and 5 faults of 3 kinds', (t) => {
  t.true(NODES.cluster.length >= 2 && NODES['small-cluster'].length >= 2);
  t.true(CLIENTS.length >= 3);
  t.deepEqual(LEAST, { commands: 20, deposits: 5, faults: 5, faultKinds: 3 });
  for (const plan of PLANS) {
    t.true(commandsOf(plan) >= LEAST.commands, `seed ${plan.seed}`);
    t.true(plan.deposits.length >= LEAST.deposits, `seed ${plan.seed}`);
    t.true(plan.faults.length >= LEAST.faults, `seed ${plan.seed}`);
    t.true(new Set(plan.faults.map(({ kind }) => kind)).size >= LEAST.faultKinds, `seed ${plan.seed}`);
  }
});

test('plans have every kind of fault and every client', (t) => {
  const kinds = new Set(PLANS.flatMap(({ faults }) => faults.map(({ kind }) => kind)));
  t.deepEqual([...kinds].toSorted(), Object.keys(FAULTS).toSorted());
  const clients = new Set(PLANS.flatMap(({ deposits }) => deposits.map(({ client }) => client)));
  t.is(clients.size, CLIENTS.length);
});

test('about every second archive of histories is large, of deposits and of their steps', (t) => {
  for (const part of ['deposits', 'steps']) {
    const names = PLANS.flatMap(({ deposits }) =>
      deposits.flatMap(({ name, steps }) =>
        part === 'deposits' ? [name] : steps.map((_, index) => `${name}/${index + 1}`),
      ),
    );
    const large = names.filter((name) => archiveOf('good', PLANS[0] as Plan, name).length > PART_BYTES);
    const share = large.length / names.length;
    t.true(share > 0.4 && share < 0.6, `${share} of the ${part}`);
  }
});

test('faults name only nodes that there are', (t) => {
  for (const { composition, faults, seed } of PLANS)
    for (const { parameters } of faults)
      t.true(Number(parameters['host'] ?? 0) < NODES[composition].length, `seed ${seed}`);
});

test('every fourth history has two nodes with both roles, every fourth an embedded node with its own faults', (t) => {
  const embedded = PLANS.filter(({ composition }) => composition === 'embedded');
  t.is(embedded.length, PLANS.length / 4);
  t.is(PLANS.filter(({ composition }) => composition === 'small-cluster').length, PLANS.length / 4);
  const kinds = new Set(embedded.flatMap(({ faults }) => faults.map(({ kind }) => kind)));
  t.deepEqual([...kinds].toSorted(), [...faultNames('embedded')].toSorted());
});

test('a plan is plain data, unchanged by saving and reading', (t) => {
  for (const plan of PLANS.slice(0, 20)) t.deepEqual(parsePlan(JSON.stringify(plan)), plan);
  t.throws(() => parsePlan('{"seed":1}'), { message: /seed, stuckAfter, faults and deposits/ });
  t.throws(() => parsePlan('{"seed":1,"stuckAfter":1,"deposits":[],"faults":[{"kind":"flood"}]}'), {
    message: /no fault flood/,
  });
});

test('a crash is tried after every step, and a power cut on nodes with disks', (t) => {
  const [embedded, cluster] = [makePlan(4), makePlan(5)];
  const crashes = (plan: Plan) => [...everyStep(plan, [2, 1])].map(({ stepCrash }) => stepCrash);
  const down = 300;
  t.deepEqual(crashes(cluster), [
    { host: 0, step: 1, down },
    { host: 0, step: 2, down },
    { host: 1, step: 1, down },
  ]);
  t.deepEqual(crashes(embedded).slice(0, 2), [
    { host: 0, step: 1, down },
    { host: 0, step: 1, down, isPowerCut: true },
  ]);
  for (const plan of [embedded, cluster]) t.is(crashes(plan).length, countOfSteps(plan, [2, 1]));
});

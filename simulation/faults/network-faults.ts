import type { ReceiverFault } from '../network/webhook-receiver.ts';
import { defineFault, during } from './fault-definition.ts';

type Lasting = { readonly time: number };

/** Requests and answers get lost, or arrive late. */
export const noise = defineFault<Lasting & { readonly loss: number }>({
  draw: (random) => ({ time: random.between(1000, 10_000), loss: random.between(0.01, 0.2) }),
  begin: ({ time, loss }, scene) => during(scene.losses, loss, time, scene),
  duration: ({ time }) => time,
});

/** The receiver of notifications fails. */
export const receiver = defineFault<Lasting & { readonly how: ReceiverFault }>({
  draw: (random) => ({
    time: random.between(100, 10_000),
    how: random.pick<ReceiverFault>(['unreachable', 'refuses', 'asks to wait', 'slow', 'loses answers']),
  }),
  begin: ({ time, how }, scene) => during(scene.receiver.faults, how, time, scene),
  duration: ({ time }) => time,
});

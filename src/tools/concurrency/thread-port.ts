import { type MessagePort, parentPort, receiveMessageOnPort, type Transferable } from 'node:worker_threads';

/** The worker's end of the connection between a thread program and the code that started it. */
export type ThreadPort<Incoming, Outgoing> = {
  onMessage(receive: (message: Incoming) => void): void;
  /** Removes and returns the messages that have arrived and were not received yet. */
  arrived(): Incoming[];
  send(message: Outgoing, transfer?: Transferable[]): void;
};

/** Returns the port of this thread. @throws {Error} this is the main thread. */
export function threadPort<Incoming, Outgoing>(): ThreadPort<Incoming, Outgoing> {
  if (!parentPort) throw new Error('This program runs as a worker thread only.');
  const port = parentPort;
  return {
    onMessage: (receive) => void port.on('message', receive),
    arrived: () => messagesIn(port),
    send: (message, transfer = []) => port.postMessage(message, transfer),
  };
}

function messagesIn<Incoming>(port: MessagePort): Incoming[] {
  const messages: Incoming[] = [];
  for (;;) {
    const next = receiveMessageOnPort(port);
    if (!next) return messages;
    messages.push(next.message);
  }
}

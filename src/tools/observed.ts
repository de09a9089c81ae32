/**
 * Functions around the methods of a port. Each gets the method, bound to its port, and the arguments of the call; it
 * returns what the caller gets.
 */
export type Observer<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends (...args: infer Args) => infer Result
    ? (method: (...args: Args) => Result, ...args: Args) => Result
    : never;
};

type Method = (...args: unknown[]) => unknown;

/** Returns the port with its methods observed; all others, and its properties, are those of the port. */
export function observed<Port extends object>(port: Port, observer: Observer<Port>): Port {
  const around = observer as Readonly<Record<PropertyKey, Method | undefined>>; // each fits the method of its name
  const methods = new Map<PropertyKey, Method>();
  return new Proxy(port, {
    get(target, name) {
      const known = methods.get(name);
      if (known) return known;
      const value: unknown = Reflect.get(target, name, target); // getters use private fields of the port
      if (typeof value !== 'function') return value;
      const bound = value.bind(target) as Method;
      const observe = around[name];
      const method: Method = observe ? (...args) => observe(bound, ...args) : bound;
      methods.set(name, method);
      return method;
    },
  });
}

/**
 * How a stream lives: `decide` turns a command into events or refuses by throwing, `evolve` folds events
 * into state. Both are pure: time, identifiers and digests arrive in the command.
 */
export type Decider<State, Command, Event> = {
  readonly initial: State;
  readonly decide: (command: Command, state: State) => readonly Event[];
  readonly evolve: (state: State, event: Event) => State;
};

/** The rules' answer "no": a `code` to branch on, and a sentence with the values. */
export class Refusal<Code extends string = string> extends Error {
  override readonly name = 'Refusal';
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.code = code;
  }
}

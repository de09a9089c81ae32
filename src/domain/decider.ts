/**
 * The rules of an aggregate. `decide` turns a command into events or refuses it by throwing; `evolve` folds events into
 * state. Both are pure: times, identifiers and digests arrive in the command.
 */
export type Decider<State, Command, Event> = {
  readonly initial: State;
  readonly decide: (command: Command, state: State) => readonly Event[];
  readonly evolve: (state: State, event: Event) => State;
};

/** A command that the rules refuse: a `code` to branch on, and a sentence with the values. */
export class Refusal<Code extends string = string> extends Error {
  override readonly name = 'Refusal';
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.code = code;
  }
}

/** The events of an aggregate, from their data by type. */
export type EventsOf<Data> = { [Type in keyof Data]: { type: Type; data: Data[Type] } }[keyof Data];

/** The commands of an aggregate, from their fields by type. */
export type CommandsOf<Fields> = { [Type in keyof Fields]: { type: Type } & Fields[Type] }[keyof Fields];

/** The caller gave a position that this log cannot have. It is a mistake of the caller: trying again changes nothing. */
export class InvalidPosition extends TypeError {
  override readonly name = 'InvalidPosition';
  readonly code = 'INVALID_POSITION';

  constructor(position: string) {
    super(`"${position}" is no position of this event log.`);
  }
}

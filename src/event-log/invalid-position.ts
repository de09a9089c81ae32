/**
 * The caller passed a position that this log cannot have. It is an error of the caller: a retry changes
 * nothing.
 */
export class InvalidPosition extends TypeError {
  override readonly name = 'InvalidPosition';
  readonly code = 'INVALID_POSITION';

  constructor(position: string) {
    super(`"${position}" is no position of this event log.`);
  }
}

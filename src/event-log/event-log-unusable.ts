/** The file is not a log that this service can use. An operator has to act; a retry changes nothing. */
export class EventLogUnusable extends Error {
  override readonly name = 'EventLogUnusable';
  readonly code: 'LOG_DAMAGED' | 'LOG_FORMAT_UNKNOWN';

  constructor(code: EventLogUnusable['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

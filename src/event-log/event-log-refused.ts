/** The file is not a log this service may work on. An operator has to look; trying again changes nothing. */
export class EventLogRefused extends Error {
  override readonly name = 'EventLogRefused';
  readonly code: 'LOG_DAMAGED' | 'LOG_FORMAT_UNKNOWN';

  constructor(code: EventLogRefused['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

import http from 'node:http';

const RIGHT = new Set([401, 429, 503]);

/** Sends wrong passwords, with one name and one address per guesser, and ignores requests to wait. */
export class Guesses {
  readonly #url: string;
  readonly #counts = new Map<number, number>();
  /** Answers that must not be, a sentence each. */
  readonly faults: string[] = [];
  count = 0;

  constructor(url: string) {
    this.#url = url;
  }

  answered(status: number): number {
    return this.#counts.get(status) ?? 0;
  }

  /** Sends guesses until the time: some guessers use unknown names, others that of the client. */
  async goOn(guesser: number, until: number): Promise<void> {
    const name = guesser % 4 === 0 ? 'drill' : `nobody-${guesser}`;
    const localAddress = `127.0.${1 + (guesser >> 6)}.${1 + (guesser % 64)}`;
    for (let guess = 0; performance.now() < until; guess += 1) {
      const { status, retryAfter } = await this.#guess(`${name}:wrong-${guesser}-${guess}`, localAddress);
      this.count += 1;
      this.#counts.set(status, this.answered(status) + 1);
      if (!RIGHT.has(status)) this.faults.push(`A wrong password was answered ${status}.`);
      if ((status === 429 || status === 503) && !(Number(retryAfter) > 0))
        this.faults.push(`A wrong password was answered ${status} without Retry-After.`);
    }
  }

  #guess(
    credentials: string,
    localAddress: string,
  ): Promise<{ status: number; retryAfter: string | undefined }> {
    const headers = { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number;
      retryAfter: string | undefined;
    }>();
    const request = http.get(`${this.#url}/1/servicedocument/`, { headers, localAddress, agent: false });
    request.once('error', reject);
    request.once('response', (answer) => {
      answer.resume();
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] }),
      );
    });
    return promise;
  }
}

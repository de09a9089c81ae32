import { readFile } from 'node:fs/promises';
import { controlFile } from '../../src/service/operator-port/control-file.ts';

export type Sample = {
  readonly metric: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** The output of `/metrics` at one moment; parsing it rejects what Prometheus would reject. */
export class Exposition {
  readonly types = new Map<string, string>();
  readonly helps = new Map<string, string>();
  readonly samples: Sample[] = [];
  readonly #values = new Map<string, number>();

  /** Reads the metrics of the service that runs on the folder. */
  static async of(dataDir: string): Promise<Exposition> {
    const { url } = JSON.parse(await readFile(controlFile(dataDir), 'utf8')) as { url: string };
    const answer = await fetch(`${url}/metrics`);
    const type = answer.headers.get('content-type');
    if (answer.status !== 200 || type !== 'text/plain; version=0.0.4; charset=utf-8')
      throw new Error(`/metrics answered ${answer.status} as ${type}: ${await answer.text()}`);
    return new Exposition(await answer.text());
  }

  constructor(text: string) {
    if (!text.endsWith('\n')) throw new Error('The last line does not end.');
    for (const line of text.split('\n')) if (line !== '') this.#read(line);
  }

  /** Returns the value of the sample with exactly these labels; `undefined` if it is missing. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    return this.#values.get(keyOf(name, labels));
  }

  /** Returns the sum over all samples that have these labels. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = Object.entries(labels);
    return this.samples
      .filter(
        (sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
      )
      .reduce((sum, { value }) => sum + value, 0);
  }

  #read(line: string): void {
    const [, kind, about = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind !== undefined) {
      const known = kind === 'HELP' ? this.helps : this.types;
      if (known.has(about)) throw new Error(`${about} is described twice.`);
      known.set(about, rest);
      return;
    }
    const [, name = '', labelText = '', number = ''] =
      /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/.exec(line) ?? [];
    const metric = this.types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    if (!this.types.has(metric)) throw new Error(`This is no sample of a metric with a type: ${line}`);
    const labels = Object.fromEntries(
      [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [label, value]),
    ) as Record<string, string>; // both groups take part in every match
    const key = keyOf(name, labels);
    if (this.#values.has(key)) throw new Error(`There are two samples of ${key}.`);
    const value = Number(number.replace('+Inf', 'Infinity'));
    this.#values.set(key, value);
    this.samples.push({ metric, name, labels, value });
  }
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  const texts = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return `${name}{${texts.sort().join()}}`;
}

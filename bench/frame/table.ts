import { type Bound, type Comparison, judgedValues, type Side } from './goal.ts';
import { holds, spreadOf } from './statistics.ts';

/** Returns the lines that show the result to a person. */
export function tableOf(comparison: Comparison): string[] {
  const { what, unit, ours, reference, wanted, note } = comparison;
  const values = judgedValues(comparison);
  const spread = spreadOf(values);
  const verdict = wanted === undefined ? '' : holds(wanted, spread) ? 'holds' : 'DOES NOT HOLD';
  const pairs = values.map(rounded).join(' ');
  return [
    `  ${what}`,
    line(ours, unit),
    ...(reference ? [line(reference, unit)] : []),
    ...(reference
      ? [`    ${'ratio'.padEnd(34)} ${rounded(spread.median)} (${range(spread)}), pairs ${pairs}`]
      : []),
    ...(wanted === undefined
      ? []
      : [`    ${`goal: ${boundText(wanted, unit, reference)}`.padEnd(34)} ${verdict}`]),
    ...(note === undefined ? [] : [`    ${note}`]),
  ];
}

function boundText({ kind, value }: Bound, unit: string, reference: Side | undefined): string {
  return `${kind} ${rounded(value)}${reference ? ' ×' : ` ${unit}`}`;
}

function line({ name, values }: Side, unit: string): string {
  const spread = spreadOf(values);
  return `    ${name.padEnd(34)} ${rounded(spread.median)} ${unit} (${range(spread)})`;
}

function range({ least, most }: { readonly least: number; readonly most: number }): string {
  return `${rounded(least)}–${rounded(most)}`;
}

/** Rounds to three significant digits. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 1000) return Math.round(Number(value.toPrecision(4))).toLocaleString('en');
  return Number(value.toPrecision(3)).toString();
}

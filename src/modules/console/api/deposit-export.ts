import { streamChunks } from '../../../http/responses/stream-response.ts';
import { clock } from '../../../tools/clock.ts';
import { pageOf } from '../listing/deposit-pages.ts';
import { selectionOf } from '../listing/deposit-query.ts';
import { columnsIn } from '../protocol/columns.ts';
import { type Cursor, type DepositRow, filterIn } from '../protocol/deposit-list.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, type Route, type ViewerRequest } from '../server/route.ts';

/** Rows that are read at once, between other requests. */
const PAGE_SIZE = 500;

/** Fields of an export whose address names no columns. */
const USUAL_FIELDS = [
  'depositId',
  'title',
  'client',
  'collection',
  'status',
  'statusDetail',
  'reasonCodes',
  'createdAt',
  'updatedAt',
  'origin',
  'swhid',
] as const satisfies readonly (keyof DepositRow)[];

type Field = keyof DepositRow;

type Format = {
  readonly type: string;
  readonly head: (fields: readonly Field[]) => string;
  readonly row: (row: DepositRow, fields: readonly Field[]) => string;
};

const FORMATS: Readonly<Record<string, Format>> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    head: (fields) => `${fields.join(',')}\r\n`,
    row: (row, fields) => `${fields.map((name) => csvValue(row[name])).join(',')}\r\n`,
  },
  ndjson: {
    type: 'application/x-ndjson',
    head: () => '',
    row: (row, fields) => `${JSON.stringify(Object.fromEntries(fields.map((name) => [name, row[name]])))}\n`,
  },
};

/** Returns the route that sends all deposits of a filter as a file. */
export function depositExportRoutes({ depositsOf }: ConsoleParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/console/api/deposits/export/:format',
      permission: 'deposits:read',
      answer: sendFile,
    },
  ];

  async function sendFile({ ctx, query, params, viewer }: ViewerRequest) {
    const { format: name = '' } = params;
    const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
    if (!format) throw new ConsoleRefusal(404, 'NOT_FOUND', 'The formats are csv and ndjson.');
    const [deposits, selection] = [await depositsOf(viewer).settled(), selectionOf(filterIn(query))];
    const fields = query.has('columns')
      ? columnsIn(query).flatMap((column): readonly Field[] => column.fields)
      : USUAL_FIELDS;
    ctx.set('Content-Disposition', `attachment; filename="deposits.${params['format']}"`);
    ctx.set('Content-Type', format.type);
    if (ctx.method === 'HEAD') ctx.status = 200;
    else await streamChunks(ctx, chunks(format));

    async function* chunks({ head, row }: Format): AsyncGenerator<Uint8Array, void> {
      let text = head(fields);
      for (let before: Cursor | undefined; ; ) {
        const { rows, next } = pageOf(deposits, selection, before, PAGE_SIZE);
        yield Buffer.from(text + rows.map((one) => row(one, fields)).join(''));
        if (next === null) return;
        [text, before] = ['', next];
        await clock.nextTurn();
      }
    }
  }
}

/**
 * Where a cell begins with what a spreadsheet reads as a formula. In many languages it takes `;` for the separator, and
 * quotes after it for those of the cell. Wide signs count, too. The time is linear, since it looks back only from a sign,
 * and as little as needed.
 */
const FORMULA = /(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])(?<=^|[;\t\r\n][\s"]*?)/g;

/** Returns a field of CSV. A text that a spreadsheet would read as a formula gets an apostrophe before it. */
function csvValue(value: string | number | null | readonly string[]): string {
  const text = value === null ? '' : typeof value === 'object' ? value.join('; ') : `${value}`;
  const safe = text.replace(FORMULA, "'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

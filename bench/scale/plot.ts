/** Curves over one measure of work, with logarithmic axes. */
export type Plot = {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly curves: readonly Curve[];
};

type Curve = { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] };

const [WIDTH, HEIGHT] = [640, 400];
const AREA = { left: 70, right: 450, top: 40, bottom: 350 };
/** Colours that remain distinguishable with colour blindness (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];

/** Returns an SVG image on white, readable in any viewer. */
export function svgOf({ title, x, y, curves }: Plot): string {
  const points = curves.flatMap((curve) => curve.points);
  const across = scaleOf(
    points.map(([value]) => value),
    AREA.left,
    AREA.right,
  );
  const up = scaleOf(
    points.map(([, value]) => value),
    AREA.bottom,
    AREA.top,
  );
  const body = [
    text(AREA.left, 22, title, 'start', 15),
    text((AREA.left + AREA.right) / 2, HEIGHT - 8, x, 'middle'),
    `<g transform="rotate(-90 16 ${(AREA.top + AREA.bottom) / 2})">${text(16, (AREA.top + AREA.bottom) / 2, y, 'middle')}</g>`,
    ...across.ticks.flatMap((value) => [
      line(across.at(value), AREA.top, across.at(value), AREA.bottom),
      text(across.at(value), AREA.bottom + 18, short(value), 'middle'),
    ]),
    ...up.ticks.flatMap((value) => [
      line(AREA.left, up.at(value), AREA.right, up.at(value)),
      text(AREA.left - 6, up.at(value) + 4, short(value), 'end'),
    ]),
    ...curves.flatMap((curve, index) => drawn(curve, index, across.at, up.at)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${body.join('\n')}
</svg>
`;
}

type Place = (value: number) => number;

function drawn({ name, points }: Curve, index: number, across: Place, up: Place): string[] {
  const colour = COLOURS[index % COLOURS.length];
  const places = points.map(([x, y]) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`);
  const legend = AREA.top + 12 + index * 20;
  return [
    `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...places.map((place) => {
      const [x, y] = place.split(',');
      return `<circle cx="${x}" cy="${y}" r="3.5" fill="${colour}"/>`;
    }),
    `<rect x="${AREA.right + 12}" y="${legend - 9}" width="12" height="12" fill="${colour}"/>`,
    text(AREA.right + 30, legend + 2, name, 'start'),
  ];
}

/** Returns powers of ten around all values, and steps in between when there are few. */
function scaleOf(values: readonly number[], from: number, to: number): { at: Place; ticks: number[] } {
  const least = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const most = Math.max(Math.ceil(Math.log10(Math.max(...values)) - 1e-9), least + 1);
  const factors = most - least > 2 ? [1] : [1, 2, 5];
  const powers = Array.from({ length: most - least + 1 }, (_, index) => 10 ** (least + index));
  const ticks = powers.flatMap((power) => factors.map((factor) => factor * power));
  return {
    at: (value) => from + ((Math.log10(value) - least) / (most - least)) * (to - from),
    ticks: ticks.filter((value) => value <= 10 ** most * 1.0001),
  };
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  if (value >= 1e3) return `${value / 1e3} k`;
  return String(Number(value.toPrecision(3)));
}

function text(x: number, y: number, content: string, anchor: string, size = 12): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}">${escaped}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="#ddd"/>`;
}

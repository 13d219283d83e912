/**
 * Numbers that a Prometheus scrapes: counters, gauges and histograms with labels, and families that are computed when asked for. The
 * text is in the form and order of the reference, to the byte where the numbers are the same.
 */
export interface Definition {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** As the reference promises it, before the help; undefined: not one of Kubernetes' own, such as `process_…`. */
  readonly stability?: Stability | 'none';
  /** The samples of a computed family never change: they are asked for once. */
  readonly isConstant?: boolean;
  /** `1.35.0`: hidden from the next minor version on, unless asked for. */
  readonly deprecatedSince?: string;
}

export type Stability = 'INTERNAL' | 'ALPHA' | 'BETA' | 'STABLE';

export interface HistogramDefinition extends Definition {
  /** Upper bounds, ascending, without infinity. */
  readonly buckets?: readonly number[];
}

/** Values of labels in the order of the definition. */
export type LabelValues = readonly string[];

export interface Counter {
  add(amount: number, labels?: LabelValues): void;
  /** Drops the series, so that labels of pods that are gone don't stay. */
  remove(labels: LabelValues): void;
}

export interface Gauge extends Counter {
  set(value: number, labels?: LabelValues): void;
}

export interface Histogram {
  observe(value: number, labels?: LabelValues): void;
  remove(labels: LabelValues): void;
}

export interface Sample {
  readonly labels?: LabelValues;
  readonly value: number;
}

export interface Metrics {
  counter(definition: Definition): Counter;
  gauge(definition: Definition): Gauge;
  histogram(definition: HistogramDefinition): Histogram;
  /** A family whose samples are computed at each scrape. One that throws is left out and reported to `onError`. */
  computed(type: 'counter' | 'gauge', definition: Definition, collect: () => Iterable<Sample>): void;
  render(): string;
  /** How many families have been hidden because they are on their way out. */
  hidden(): number;
  /** Every family that is shown. */
  families(): readonly {
    readonly stability: string;
    readonly deprecatedSince: string | undefined;
    readonly name: string;
    readonly type: string;
    readonly labels: readonly string[];
    readonly buckets: readonly number[];
  }[];
}

export interface MetricsOptions {
  /** Of the running Kubernetes, `1.36.4`. */
  readonly version: string;
  /** `showHiddenMetricsForVersion`: `1.35` shows what was hidden in this minor version. */
  readonly showHiddenFor: string;
  onError?(family: string, error: unknown): void;
}

/** The buckets of histograms that name none: from 5 ms to 10 s. */
export const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  const buckets: number[] = [];
  // By repeated multiplication: the reference's bounds carry the same rounding.
  for (let bound = start; buckets.length < count; bound *= factor) buckets.push(bound);
  return buckets;
}

export function linearBuckets(start: number, width: number, count: number): readonly number[] {
  const buckets: number[] = [];
  for (let bound = start; buckets.length < count; bound += width) buckets.push(bound);
  return buckets;
}

interface Family {
  readonly definition: Definition;
  readonly type: 'counter' | 'gauge' | 'histogram';
  lines(): string[];
}

export function createMetrics(options: MetricsOptions): Metrics {
  const families = new Map<string, Family>();
  let hidden = 0;
  const add = (family: Family) => {
    const { name } = family.definition;
    if (families.has(name)) throw new Error(`metric ${name} is there already`);
    if (isHidden(family.definition, options)) hidden += 1;
    else families.set(name, family);
  };
  const scalar = (type: 'counter' | 'gauge', definition: Definition): Gauge => {
    const series = createSeries(definition);
    add({
      definition,
      type,
      lines: () => series.map((value, labels) => `${definition.name}${labels} ${formatNumber(value)}`),
    });
    return series;
  };
  return {
    counter: (definition) => scalar('counter', definition),
    gauge: (definition) => scalar('gauge', definition),
    histogram: (definition) => {
      const { family, histogram } = createHistogram(definition);
      add(family);
      return histogram;
    },
    computed: (type, definition, collect) => {
      let constant: string[] | undefined;
      const lines = () => {
        const made = constant ?? computedLines(definition, collect, options.onError);
        if (definition.isConstant) constant = made;
        return made;
      };
      add({ definition, type, lines });
    },
    render: () => sorted(families).map(renderFamily).join(''),
    hidden: () => hidden,
    families: () =>
      sorted(families).map(({ definition, type }) => ({
        stability: definition.stability ?? 'ALPHA',
        deprecatedSince: definition.deprecatedSince,
        name: definition.name,
        type,
        labels: [...(definition.labels ?? [])].sort(),
        buckets: type === 'histogram' ? ((definition as HistogramDefinition).buckets ?? DEFAULT_BUCKETS) : [],
      })),
  };
}

const sorted = (families: ReadonlyMap<string, Family>) =>
  [...families.values()].sort((a, b) => (a.definition.name < b.definition.name ? -1 : 1));

/** A family without samples is not shown: as in the reference, a vector appears with its first value. */
function renderFamily({ definition, type, lines }: Family): string {
  const shown = lines();
  if (shown.length === 0) return '';
  const { name } = definition;
  return `# HELP ${name} ${escapeHelp(helpOf(definition))}\n# TYPE ${name} ${type}\n${shown.join('\n')}\n`;
}

function helpOf({ help, stability = 'ALPHA', deprecatedSince }: Definition): string {
  const deprecated = deprecatedSince === undefined ? '' : `(Deprecated since ${deprecatedSince}) `;
  return stability === 'none' ? help : `[${stability}] ${deprecated}${help}`;
}

export const escapeHelp = (help: string) => help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
/** Hardly any value has something to escape, and there are many. */
export const escapeValue = (value: string) => (/["\\\n]/.test(value) ? escapeHelp(value).replace(/"/g, '\\"') : value);

function isHidden({ deprecatedSince }: Definition, { version, showHiddenFor }: MetricsOptions): boolean {
  if (deprecatedSince === undefined) return false;
  const [now, since] = [minorOf(version), minorOf(deprecatedSince)];
  if (now <= since) return false;
  // Hidden one version after it was deprecated, and shown again only where the version before this one is named.
  return showHiddenFor === '' || minorOf(showHiddenFor) !== now - 1 || since < now - 1;
}

const minorOf = (version: string) => Number(version.split('.')[1] ?? 0);

/** `{a="1",b="2"}`, names in order, or nothing. */
function createLabelWriter(names: readonly string[]): (values: LabelValues) => string {
  const order = names.map((name, at) => ({ name, at })).sort((a, b) => (a.name < b.name ? -1 : 1));
  return (values) => {
    if (values.length !== names.length) throw new Error(`${values.length} values for the labels ${names.join(', ')}`);
    const pairs = order.map(({ name, at }) => `${name}="${escapeValue(values[at] ?? '')}"`);
    return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  };
}

const SEPARATOR = '\u0000';
const keyOf = (labels: LabelValues) => labels.join(SEPARATOR);
const NONE: LabelValues = [];

/** Keyed by the label values, whose text is made once: a scrape should leave little garbage. */
function createSeries({ labels: names = [] }: Definition) {
  const write = createLabelWriter(names);
  const values = new Map<string, { readonly text: string; value: number }>();
  const entry = (labels: LabelValues) => {
    const key = keyOf(labels);
    const known = values.get(key);
    if (known !== undefined) return known;
    const made = { text: write(labels), value: 0 };
    values.set(key, made);
    return made;
  };
  if (names.length === 0) entry(NONE);
  return {
    add: (amount: number, labels: LabelValues = NONE) => {
      entry(labels).value += amount;
    },
    set: (value: number, labels: LabelValues = NONE) => {
      entry(labels).value = value;
    },
    remove: (labels: LabelValues) => void values.delete(keyOf(labels)),
    map: (line: (value: number, labels: string) => string) =>
      [...values.values()].sort(byText).map(({ text, value }) => line(value, text)),
  };
}

const byText = (a: { readonly text: string }, b: { readonly text: string }) =>
  a.text < b.text ? -1 : a.text > b.text ? 1 : 0;

interface Buckets {
  readonly text: string;
  readonly counts: Float64Array;
  sum: number;
}

function createHistogram(definition: HistogramDefinition): { readonly family: Family; readonly histogram: Histogram } {
  const { name, labels: names = [], buckets: bounds = DEFAULT_BUCKETS } = definition;
  const write = createLabelWriter(names);
  const series = new Map<string, Buckets>();
  const entry = (labels: LabelValues) => {
    const key = keyOf(labels);
    let known = series.get(key);
    if (known === undefined) {
      known = { text: write(labels), counts: new Float64Array(bounds.length + 1), sum: 0 };
      series.set(key, known);
    }
    return known;
  };
  if (names.length === 0) entry(NONE);
  const limits = [...bounds, Number.POSITIVE_INFINITY].map((bound) => `le="${formatNumber(bound)}"`);
  const linesOf = ({ text, counts, sum }: Buckets) => {
    const before = text === '' ? `${name}_bucket{` : `${name}_bucket${text.slice(0, -1)},`;
    let below = 0;
    const lines = limits.map((limit, at) => {
      below += counts[at] ?? 0;
      return `${before}${limit}} ${formatNumber(below)}`;
    });
    lines.push(`${name}_sum${text} ${formatNumber(sum)}`, `${name}_count${text} ${formatNumber(below)}`);
    return lines;
  };
  return {
    histogram: {
      observe: (value, labels = NONE) => {
        const found = entry(labels);
        const at = bounds.findIndex((bound) => value <= bound);
        const index = at === -1 ? bounds.length : at;
        found.counts[index] = (found.counts[index] ?? 0) + 1;
        found.sum += value;
      },
      remove: (labels) => void series.delete(keyOf(labels)),
    },
    family: {
      definition,
      type: 'histogram',
      lines: () => [...series.values()].sort(byText).flatMap(linesOf),
    },
  };
}

function computedLines(
  { name, labels: names = [] }: Definition,
  collect: () => Iterable<Sample>,
  onError: MetricsOptions['onError'],
): string[] {
  const write = createLabelWriter(names);
  try {
    return [...collect()]
      .map(({ labels = NONE, value }) => ({ text: write(labels), value }))
      .sort(byText)
      .map(({ text, value }) => `${name}${text} ${formatNumber(value)}`);
  } catch (error) {
    onError?.(name, error);
    return [];
  }
}

/** The shortest form that reads back the same, with an exponent from a million on and below a ten-thousandth, as Go's `%g` has it. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const size = Math.abs(value);
  // Between these, the shortest text of the number is what Go writes, too.
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  const text = value.toExponential();
  const sign = text.indexOf('e') + 1;
  // Go writes at least two digits of an exponent.
  return text.length - sign > 2 ? text : `${text.slice(0, sign + 1)}0${text.slice(sign + 1)}`;
}

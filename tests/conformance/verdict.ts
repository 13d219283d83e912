/** From ginkgo's report to what a person wants to know: what is red because of us, and what because of the lab. */
export interface SpecResult {
  readonly name: string;
  readonly passed: boolean;
  /** Why it failed: the first lines of ginkgo's message. */
  readonly message?: string;
}

export interface Verdict {
  readonly passed: readonly string[];
  /** The reference passes these in the same lab. */
  readonly ourFault: readonly SpecResult[];
  /** The reference does not pass these here either. */
  readonly labFault: readonly SpecResult[];
  /** Passed, and not on the list: the list is out of date. */
  readonly unlisted: readonly string[];
}

/** As much as is read of ginkgo's JSON report. */
interface GinkgoSuite {
  readonly SpecReports?: readonly {
    readonly ContainerHierarchyTexts?: readonly string[] | null;
    readonly LeafNodeType: string;
    readonly LeafNodeText: string;
    readonly State: string;
    readonly Failure?: { readonly Message?: string };
  }[];
}

const MESSAGE_LINES = 6;
/** Not chosen by focus and skip, or left out by the spec itself because the cluster lacks something. */
const NOT_RUN = new Set(['skipped', 'pending']);

/** The specs that ran. A failure outside of any spec (set-up of the suite) counts as one under its own name. */
export function readReport(json: string): readonly SpecResult[] {
  const suites = JSON.parse(json) as readonly GinkgoSuite[];
  const results: SpecResult[] = [];
  for (const report of suites.flatMap(({ SpecReports }) => SpecReports ?? [])) {
    const passed = report.State === 'passed';
    const isSpec = report.LeafNodeType === 'It';
    if (NOT_RUN.has(report.State) || (passed && !isSpec)) continue;
    const words = isSpec ? [...(report.ContainerHierarchyTexts ?? []), report.LeafNodeText] : [report.LeafNodeType];
    const message = report.Failure?.Message?.split('\n').slice(0, MESSAGE_LINES).join('\n');
    results.push({ name: words.join(' '), passed, ...(passed || message === undefined ? {} : { message }) });
  }
  return results;
}

export function readNames(text: string): ReadonlySet<string> {
  return new Set(text.split('\n').filter((line) => line !== ''));
}

export function writeNames(names: readonly string[]): string {
  return [...names]
    .sort()
    .map((name) => `${name}\n`)
    .join('');
}

export function judge(results: readonly SpecResult[], referencePasses: ReadonlySet<string>): Verdict {
  const passed = results.filter((result) => result.passed).map(({ name }) => name);
  const failed = results.filter((result) => !result.passed);
  return {
    passed,
    ourFault: failed.filter(({ name }) => referencePasses.has(name)),
    labFault: failed.filter(({ name }) => !referencePasses.has(name)),
    unlisted: passed.filter((name) => !referencePasses.has(name)),
  };
}

export function renderVerdict(verdict: Verdict, kubelet: string): string {
  const failed = verdict.ourFault.length + verdict.labFault.length;
  const lines = [
    `${verdict.passed.length} passed, ${failed} failed, of ${verdict.passed.length + failed} (kubelet: ${kubelet})`,
  ];
  lines.push(...section('Failed here, passed by the reference in the same lab:', verdict.ourFault));
  lines.push(
    ...section('Failed here, and not on the list of what the reference passes in this lab:', verdict.labFault),
  );
  if (verdict.unlisted.length > 0) {
    lines.push('', `${verdict.unlisted.length} passed that are not on the list of what the reference passes.`);
  }
  return `${lines.join('\n')}\n`;
}

function section(title: string, results: readonly SpecResult[]): readonly string[] {
  if (results.length === 0) return [];
  const lines = results.flatMap(({ name, message }) => [
    `  ${name}`,
    ...(message === undefined ? [] : message.split('\n').map((line) => `      ${line}`)),
  ]);
  return ['', title, ...lines];
}

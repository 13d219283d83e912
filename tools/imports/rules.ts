/**
 * Which file may import which. The picture in docs/architecture.md as a function, so that the compiler of the picture is CI.
 */
import { EXTRA_ENTRY_POINTS } from './entry-points.ts';

export interface Import {
  /** Importing file, relative to `src/`. */
  readonly from: string;
  /** Imported file relative to `src/`, or the bare specifier (`node:fs`, `yaml`). */
  readonly to: string;
  readonly typeOnly: boolean;
}

/** Lower layers know nothing of higher ones. Directories that are not named here are the parts. */
const LAYERS: Readonly<Record<string, number>> = {
  base: 0,
  api: 1,
  model: 2,
  config: 3,
  plan: 3,
  host: 4,
  wire: 4,
  kube: 4,
  telemetry: 4,
  compose: 6,
};
const MODEL_LAYER = 2;
const RULES_LAYER = 3;
const PARTS_LAYER = 5;
const MAIN_LAYER = 7;

/** Collections of small independent things: every file directly in the directory is an entry point. */
const LIBRARIES = new Set(['base', 'api', 'model', 'plan', 'host', 'wire', 'telemetry']);

/** What others may import of a part beside its entry point: its ports, and how it reads its settings from the configuration. */
const COMMON_ENTRY_POINTS = new Set(['ports.ts', 'settings.ts']);

const directoryOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '');
const isRules = (file: string): boolean => file.split('/').includes('rules');

/** Types and tables of wire messages: data without effects, so the pure directories that fill them in may use them. */
const isWireData = (file: string): boolean => file.startsWith('wire/gen/') || file === 'wire/message.ts';

export function isPure(file: string): boolean {
  const directory = directoryOf(file);
  return (
    directory === 'api' ||
    directory === 'model' ||
    directory === 'plan' ||
    isRules(file) ||
    file.startsWith('runtime/spec/')
  );
}

function layerOf(file: string): number {
  const directory = directoryOf(file);
  if (directory === '') return MAIN_LAYER;
  if (isWireData(file)) return MODEL_LAYER;
  const layer = LAYERS[directory] ?? PARTS_LAYER;
  return isPure(file) ? Math.min(layer, RULES_LAYER) : layer;
}

function isEntryPoint(file: string): boolean {
  const directory = directoryOf(file);
  if (file === `${directory}/${directory}.ts` || isWireData(file)) return true;
  if (Object.hasOwn(EXTRA_ENTRY_POINTS, file)) return true;
  const [, name = '', ...deeper] = file.split('/');
  return deeper.length === 0 && (LIBRARIES.has(directory) || COMMON_ENTRY_POINTS.has(name));
}

/** Effects come from host/ and base/: the composition root only joins what it is given. */
function judgeModule(from: string, to: string): string | undefined {
  if (!to.startsWith('node:')) return undefined;
  if (isPure(from)) return `${from}: a pure file imports ${to}`;
  if (directoryOf(from) === 'compose' && to !== 'node:path') return `${from}: the composition root imports ${to}`;
  return undefined;
}

/** Works on the ports that it is given, without touching the machine itself. */
const OVER_PORTS = new Set(['host/pod-trees.ts', 'host/dbus/logind.ts', 'host/dbus/systemd.ts']);

/** The machine is passed in as a `Host`, so that a whole kubelet can run on a simulated one. */
const reachesMachine = (from: string, to: string): boolean =>
  directoryOf(from) === 'compose' && directoryOf(to) === 'host' && !OVER_PORTS.has(to);

/** What is wrong with an import, or undefined. */
export function judgeImport({ from, to, typeOnly }: Import): string | undefined {
  const bare = !to.endsWith('.ts');
  if (bare) return judgeModule(from, to);
  const same = directoryOf(from) === directoryOf(to);
  if (same && isPure(from) && !isPure(to) && !typeOnly) return `${from}: a pure file imports ${to}, which is not pure`;
  if (same) return undefined;
  if (reachesMachine(from, to) && !typeOnly)
    return `${from}: imports ${to}; the composition root reaches the machine through the ports of its Host`;
  if (layerOf(to) > layerOf(from)) return `${from}: imports ${to}, which is in a higher layer`;
  if (directoryOf(from) !== '' && !isEntryPoint(to)) return `${from}: imports ${to}, which is no public entry point`;
  if (layerOf(from) === PARTS_LAYER && layerOf(to) === PARTS_LAYER && !typeOnly)
    return `${from}: one part imports another (${to}); declare the functions it needs and let compose pass them in`;
  return undefined;
}

/** Words that make a function depend on more than its arguments. */
const IMPURE: readonly (readonly [RegExp, string])[] = [
  [/\basync\b|\bawait\b|\bPromise\b/, 'is asynchronous'],
  [/\bDate\b|\bperformance\b/, 'reads a clock'],
  [/\bMath\.random\b/, 'uses randomness'],
  [/\bsetTimeout\b|\bsetInterval\b/, 'uses a timer'],
];

export function judgePurity(file: string, code: string): readonly string[] {
  if (!isPure(file)) return [];
  const bare = withoutTextAndComments(code);
  return IMPURE.filter(([pattern]) => pattern.test(bare)).map(([, what]) => `${file}: a pure file ${what}`);
}

/** Comments and string contents blanked out, so that a word in an error message is no finding. */
export function withoutTextAndComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g, '""');
}

const STATEMENT = /^\s*(?:import|export)\s+(type\s)?[^'"();]*?from\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

export function importsOf(code: string): readonly { specifier: string; typeOnly: boolean; reExport: boolean }[] {
  const found = [];
  for (const match of code.matchAll(STATEMENT)) {
    const specifier = match[2] ?? match[3] ?? '';
    found.push({ specifier, typeOnly: match[1] !== undefined, reExport: match[0].trimStart().startsWith('export') });
  }
  for (const match of code.matchAll(DYNAMIC)) {
    found.push({ specifier: match[1] ?? '', typeOnly: false, reExport: false });
  }
  return found;
}

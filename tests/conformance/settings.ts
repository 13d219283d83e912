/** What a person asks of `make conformance` by environment variables. */
export interface Settings {
  /** Regular expressions over the full names of specs, as ginkgo reads them. */
  readonly focus: string;
  readonly skip: string;
  readonly kubelet: 'ours' | 'reference';
  /** Specs that run at the same time. */
  readonly procs: number;
  /** Write down what passes as the list of what the reference passes. */
  readonly update: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const DEFAULT_FOCUS = '\\[sig-node\\].*\\[Conformance\\]';
export const DEFAULT_SKIP = '\\[Serial\\]|\\[Slow\\]|\\[Disruptive\\]';
/** Most of what a spec does is to wait: on two cores, eight at a time take 7 minutes where four take 11. */
const DEFAULT_PROCS = 8;
const MOST_PROCS = 32;

/** An empty value means the default: `make` passes unset variables on as such. */
export function readSettings(env: Environment): Settings {
  const settings: Settings = {
    focus: env['FOCUS'] || DEFAULT_FOCUS,
    skip: env['SKIP'] || DEFAULT_SKIP,
    kubelet: readKubelet(env['KUBELET'] || 'ours'),
    procs: readProcs(env['PROCS'] || String(DEFAULT_PROCS)),
    update: readFlag('UPDATE', env['UPDATE'] || '0'),
  };
  const isDefault = settings.focus === DEFAULT_FOCUS && settings.skip === DEFAULT_SKIP;
  if (settings.update && !(settings.kubelet === 'reference' && isDefault)) {
    throw new Error('UPDATE=1: the list is made by a run with KUBELET=reference and the default FOCUS and SKIP');
  }
  return settings;
}

export function readKubelet(text: string): Settings['kubelet'] {
  if (text === 'ours' || text === 'reference') return text;
  throw new Error(`KUBELET=${text}: want ours or reference`);
}

export function readProcs(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST_PROCS) return value;
  throw new Error(`PROCS=${text}: want a number from 1 to ${MOST_PROCS}`);
}

export function readFlag(name: string, text: string): boolean {
  if (text === '0' || text === '1') return text === '1';
  throw new Error(`${name}=${text}: want 0 or 1`);
}

import { type Finding, problem, warning } from '../rules/finding.ts';
import { suggestion } from '../rules/nearest.ts';
import { alwaysBuilt, isBuilt } from './built-gates.ts';
import { gateNeeds } from './gate-needs.ts';
import { type Gate, type GateName, type GateStage, gates } from './gates.ts';
import { removedGates } from './removed-gates.ts';

/** Which features are on. Decided once, at the start. */
export type Features = {
  enabled(name: GateName): boolean;
  /** Every gate with its state, `AllAlpha` and `AllBeta` included, sorted: what the feature metric shows. */
  list(): readonly FeatureState[];
};

export type FeatureState = {
  readonly name: string;
  readonly stage: GateStage;
  readonly enabled: boolean;
  /** Whether this kubelet has the feature. `AllAlpha` and `AllBeta` have none of their own. */
  readonly built: boolean;
};

export type FeatureOutcome = {
  readonly features: Features;
  readonly problems: readonly Finding[];
  readonly warnings: readonly Finding[];
};

/** The two gates for whole stages; a gate that is set itself keeps its own value. */
const stageSwitches = { AllAlpha: 'alpha', AllBeta: 'beta' } as const satisfies Readonly<Record<string, GateStage>>;
type StageSwitch = keyof typeof stageSwitches;

/**
 * Computes the state of all gates from `featureGates:` and `--feature-gates`. Problems do not stop it: the result then
 * omits the refused values, so that validation can continue and report the rest.
 */
export function resolveFeatures(requests: Readonly<Record<string, boolean>>): FeatureOutcome {
  const problems: Finding[] = [];
  const warnings: Finding[] = [];
  const named = new Map<GateName, boolean>();
  for (const [name, value] of Object.entries(requests)) {
    if (isStageSwitch(name)) continue;
    const verdict = judgeRequest(name, value);
    if (verdict.problem !== undefined) problems.push(problem(pathOf(name), value, verdict.problem));
    if (verdict.warning !== undefined) warnings.push(warning(pathOf(name), value, verdict.warning));
    if (verdict.gate !== undefined) named.set(verdict.gate, value);
  }
  const states = settle(requests, named);
  if (problems.length === 0) problems.push(...findUnmetNeeds(states));
  return { features: createFeatures(states, requests), problems, warnings };
}

export function isGateName(name: string): name is GateName {
  return Object.hasOwn(gates, name);
}

function isStageSwitch(name: string): name is StageSwitch {
  return Object.hasOwn(stageSwitches, name);
}

type Verdict = { readonly gate?: GateName; readonly problem?: string; readonly warning?: string };

function judgeRequest(name: string, value: boolean): Verdict {
  if (!isGateName(name)) {
    if (removedGates.has(name)) return { warning: 'this feature gate is gone from Kubernetes 1.36: it has no effect' };
    const known = [...Object.keys(gates), ...Object.keys(stageSwitches)];
    return { problem: `unrecognized feature gate${suggestion(name, known)}` };
  }
  const gate: Gate = gates[name];
  if (gate.locked && value !== gate.default) {
    return { problem: `this feature gate is locked to ${gate.default}: leave it out` };
  }
  const doubts = [noEffect(name, value), STAGE_DOUBTS[gate.stage]].filter((doubt) => doubt !== undefined);
  return doubts.length === 0 ? { gate: name } : { gate: name, warning: doubts.join('; ') };
}

const STAGE_DOUBTS: Readonly<Partial<Record<GateStage, string>>> = {
  stable: 'this feature is stable: its gate will be removed',
  deprecated: 'this feature gate is deprecated: it will be removed',
};

/** A feature that is not built is off in any case. */
function noEffect(name: GateName, value: boolean): string | undefined {
  if (value && !isBuilt(name)) return 'has no effect: this kubelet does not have the feature';
  const isKept = !value && gates[name].default && alwaysBuilt.has(name);
  return isKept ? 'has no effect: the feature is always on' : undefined;
}

function settle(
  requests: Readonly<Record<string, boolean>>,
  named: ReadonlyMap<GateName, boolean>,
): ReadonlyMap<GateName, boolean> {
  const byStage = new Map<GateStage, boolean>();
  for (const [name, stage] of Object.entries(stageSwitches)) {
    const value = requests[name];
    if (value !== undefined) byStage.set(stage, value);
  }
  const states = new Map<GateName, boolean>();
  for (const [name, gate] of gateEntries()) {
    states.set(name, named.get(name) ?? byStage.get(gate.stage) ?? gate.default);
  }
  return states;
}

function findUnmetNeeds(states: ReadonlyMap<GateName, boolean>): Finding[] {
  const problems: Finding[] = [];
  for (const [name] of gateEntries()) {
    if (!states.get(name)) continue;
    const missing = (gateNeeds[name] ?? []).filter((need) => !states.get(need));
    if (missing.length > 0) problems.push(problem(pathOf(name), true, `needs ${missing.join(', ')} to be on as well`));
  }
  return problems;
}

function createFeatures(states: ReadonlyMap<GateName, boolean>, requests: Readonly<Record<string, boolean>>): Features {
  return Object.freeze({
    enabled: (name: GateName) => states.get(name) ?? false,
    list: () => {
      const all: FeatureState[] = [];
      for (const [name, stage] of Object.entries(stageSwitches)) {
        all.push({ name, stage, enabled: requests[name] ?? false, built: true });
      }
      for (const [name, gate] of gateEntries())
        all.push({ name, stage: gate.stage, enabled: states.get(name) ?? false, built: isBuilt(name) });
      return all.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  });
}

function gateEntries(): [GateName, Gate][] {
  return Object.entries(gates) as [GateName, Gate][];
}

function pathOf(name: string): string {
  return `featureGates.${name}`;
}

import { parseDuration } from '../../api/duration.ts';
import { compareQuantities } from '../../api/quantity.ts';
import {
  evictionSignals,
  isEvictionSignal,
  parseMinimumReclaim,
  parseThreshold,
  type ThresholdAmount,
} from './eviction-threshold.ts';
import { type Findings, problem, warning } from './finding.ts';
import { suggestion } from './nearest.ts';
import type { ValidationInput } from './validation-input.ts';

type SignalTable = Readonly<Record<string, string>>;

export function* validateEviction({ kubelet }: ValidationInput): Findings {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = kubelet;
  yield* eachSignal('evictionHard', evictionHard, (text) => faultOf(parseThreshold(text)));
  yield* eachSignal('evictionSoft', evictionSoft, (text) => faultOf(parseThreshold(text)));
  yield* eachSignal('evictionSoftGracePeriod', evictionSoftGracePeriod, gracePeriodFault);
  yield* eachSignal('evictionMinimumReclaim', evictionMinimumReclaim, (text) => faultOf(parseMinimumReclaim(text)));
  yield* gracePeriodsBelong(evictionSoft, evictionSoftGracePeriod);
  yield* reclaimsBelong(evictionMinimumReclaim, { ...evictionHard, ...evictionSoft });
  yield* softAboveHard(evictionSoft, evictionHard);
  yield* containerFsIsIgnored({ evictionHard, evictionSoft });
}

function* eachSignal(field: string, table: SignalTable, fault: (text: string) => string | undefined): Findings {
  for (const [signal, text] of Object.entries(table)) {
    const path = `${field}.${signal}`;
    if (!isEvictionSignal(signal)) {
      const hint = suggestion(signal, evictionSignals);
      yield problem(path, text, `${signal} is not an eviction signal (${evictionSignals.join(', ')})${hint}`);
    }
    const found = fault(text);
    if (found !== undefined) yield problem(path, text, found);
  }
}

function faultOf(threshold: ThresholdAmount | { readonly kind: 'off' }): string | undefined {
  return threshold.kind === 'fault' ? threshold.fault : undefined;
}

function gracePeriodFault(text: string): string | undefined {
  const period = parseDuration(text);
  if (!period.ok) return 'must be a duration such as 1m30s';
  return period.value < 0 ? 'must not be negative' : undefined;
}

function* gracePeriodsBelong(soft: SignalTable, periods: SignalTable): Findings {
  for (const [signal, text] of Object.entries(soft)) {
    const isOff = parseThreshold(text).kind === 'off';
    if (!isOff && !Object.hasOwn(periods, signal)) {
      yield problem(`evictionSoft.${signal}`, text, `needs a grace period in evictionSoftGracePeriod for ${signal}`);
    }
  }
  for (const [signal, text] of Object.entries(periods)) {
    if (!Object.hasOwn(soft, signal)) {
      yield warning(
        `evictionSoftGracePeriod.${signal}`,
        text,
        `does nothing: evictionSoft has no threshold for ${signal}`,
      );
    }
  }
}

function* reclaimsBelong(reclaims: SignalTable, thresholds: SignalTable): Findings {
  for (const [signal, text] of Object.entries(reclaims)) {
    if (!Object.hasOwn(thresholds, signal)) {
      yield warning(`evictionMinimumReclaim.${signal}`, text, `does nothing: ${signal} has no eviction threshold`);
    }
  }
}

/** With a soft threshold below the hard one, pods would never get their grace period. */
function* softAboveHard(soft: SignalTable, hard: SignalTable): Findings {
  for (const [signal, text] of Object.entries(soft)) {
    // Names come from a file: __proto__ must not match a property of every object.
    const hardText = Object.hasOwn(hard, signal) ? hard[signal] : undefined;
    if (hardText === undefined) continue;
    const [softer, harder] = [parseThreshold(text), parseThreshold(hardText)];
    const isLower =
      (softer.kind === 'quantity' &&
        harder.kind === 'quantity' &&
        compareQuantities(softer.quantity, harder.quantity) < 0) ||
      (softer.kind === 'share' && harder.kind === 'share' && softer.share < harder.share);
    if (isLower)
      yield warning(`evictionSoft.${signal}`, text, `is below evictionHard (${hardText}): the hard one acts first`);
  }
}

function* containerFsIsIgnored(tables: Readonly<Record<string, SignalTable>>): Findings {
  for (const [field, table] of Object.entries(tables)) {
    for (const [signal, text] of Object.entries(table)) {
      if (!signal.startsWith('containerfs.')) continue;
      yield warning(`${field}.${signal}`, text, 'is ignored: the thresholds of nodefs or imagefs apply to it');
    }
  }
}

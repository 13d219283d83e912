import { isDnsSubdomain, labelKeyFault, labelValueFault } from '../../api/names.ts';
import { type Findings, listed, problem, warning } from './finding.ts';
import type { ValidationInput } from './validation-input.ts';

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const changeDetectionStrategies = ['Get', 'Cache', 'Watch'];
const contentTypes = ['application/vnd.kubernetes.protobuf', 'application/json', 'application/cbor'];
/** Hidden metrics can be shown for the minor version before 1.36 only. */
const previousVersion = '1.35';

/** Settings of the node's registration and of its access to the API server. */
export function* validateNode(input: ValidationInput): Findings {
  yield* validateTaints(input);
  yield* validateHostname(input.settings.node.hostnameOverride);
  yield* validateApiAccess(input);
  const version = input.kubelet.showHiddenMetricsForVersion;
  if (version !== '' && version !== previousVersion) {
    yield problem(
      'showHiddenMetricsForVersion',
      version,
      `must be left out or ${previousVersion}, the version before this one`,
    );
  }
}

function* validateTaints({ kubelet }: ValidationInput): Findings {
  for (const [index, { key, value, effect }] of kubelet.registerWithTaints.entries()) {
    const path = `registerWithTaints[${index}]`;
    const keyFault = labelKeyFault(key);
    if (keyFault !== undefined) yield problem(`${path}.key`, key, keyFault);
    const valueFault = labelValueFault(value);
    if (valueFault !== undefined) yield problem(`${path}.value`, value, valueFault);
    if (effect === '') {
      yield warning(
        `${path}.effect`,
        effect,
        `should be ${listed(taintEffects)}: the API server refuses a node without it`,
      );
    } else if (!taintEffects.includes(effect)) {
      yield problem(`${path}.effect`, effect, `must be ${listed(taintEffects)}`);
    }
  }
}

function* validateHostname(override: string): Findings {
  if (override === '') return;
  const name = override.trim().toLowerCase();
  if (name === '') yield problem('--hostname-override', override, 'must not be blank');
  else if (!isDnsSubdomain(name))
    yield warning('--hostname-override', override, 'is not a DNS name: no node can have it');
}

function* validateApiAccess({ kubelet, settings }: ValidationInput): Findings {
  const strategy = kubelet.configMapAndSecretChangeDetectionStrategy;
  if (!changeDetectionStrategies.includes(strategy)) {
    const say = settings.api.kubeconfig === '' ? warning : problem;
    yield say('configMapAndSecretChangeDetectionStrategy', strategy, `must be ${listed(changeDetectionStrategies)}`);
  }
  if (!contentTypes.includes(kubelet.contentType)) {
    yield warning('contentType', kubelet.contentType, `should be ${listed(contentTypes)}`);
  }
}

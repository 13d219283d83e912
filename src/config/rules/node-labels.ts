import { labelKeyFault, labelValueFault } from '../../api/names.ts';
import { type Finding, problem } from './finding.ts';

/** The labels in Kubernetes' own namespaces that a node may set on itself; the API server's NodeRestriction enforces it. */
const allowedKeys: ReadonlySet<string> = new Set([
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]);
const allowedNamespaces = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const reservedNamespaces = ['kubernetes.io', 'k8s.io'];

/** All problems of `--node-labels`. */
export function checkNodeLabels(labels: Readonly<Record<string, string>>): Finding[] {
  const findings: Finding[] = [];
  for (const [key, value] of Object.entries(labels)) {
    const keyFault = labelKeyFault(key) ?? reservationFault(key);
    if (keyFault !== undefined)
      findings.push(problem('--node-labels', key, `the label key ${JSON.stringify(key)} ${keyFault}`));
    const valueFault = labelValueFault(value);
    if (valueFault !== undefined)
      findings.push(problem('--node-labels', value, `the value of label ${JSON.stringify(key)} ${valueFault}`));
  }
  return findings;
}

function reservationFault(key: string): string | undefined {
  const namespace = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  if (!isWithin(namespace, reservedNamespaces) || isWithin(namespace, allowedNamespaces) || allowedKeys.has(key)) {
    return undefined;
  }
  const prefixes = allowedNamespaces.map((name) => `${name}/`).join(', ');
  return (
    'is in a namespace of Kubernetes, where a node may set only labels that begin with ' +
    `${prefixes} or are one of ${[...allowedKeys].join(', ')}`
  );
}

function isWithin(namespace: string, domains: readonly string[]): boolean {
  return domains.some((domain) => namespace === domain || namespace.endsWith(`.${domain}`));
}

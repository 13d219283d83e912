/** The arguments of `kubelet explain`. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

export interface ExplainArguments {
  readonly pod: string;
  readonly namespace: string;
  readonly kubeconfig: string;
  readonly json: boolean;
}

export const EXPLAIN_USAGE = `kubelet explain [-n NAMESPACE] [--kubeconfig FILE] [-o json] POD

Says what the pod waits for on a node without a control plane. Needs the kubeconfig of the node's local API, which root can read.`;

/** `fallback`: the kubeconfig where none is given. */
export function parseExplain(words: readonly string[], fallback: string): Parsed<ExplainArguments> {
  const values = new Map<string, string>();
  const pods: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name, value] = /^--?([a-z]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) pods.push(word);
    else if (!NAMES.has(name)) return unparsable(`unknown flag: ${word}`);
    else values.set(NAMES.get(name) ?? name, value ?? rest.shift() ?? '');
  }
  const [pod = '', ...more] = pods;
  if (pod === '' || more.length > 0) return unparsable('one pod is needed');
  const [first = '', second] = pod.split('/');
  const output = values.get('output') ?? '';
  if (output !== '' && output !== 'json') return unparsable(`unknown output format: ${output}`);
  return parsed({
    pod: second ?? first,
    namespace: second === undefined ? (values.get('namespace') ?? 'default') : first,
    kubeconfig: values.get('kubeconfig') || fallback,
    json: output === 'json',
  });
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['n', 'namespace'],
  ['namespace', 'namespace'],
  ['kubeconfig', 'kubeconfig'],
  ['o', 'output'],
  ['output', 'output'],
]);

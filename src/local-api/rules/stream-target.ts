/** Which container a stream or log means, and its query in the form of the kubelet's endpoints. */
import type { Pod } from '../../api/pod.ts';
import { badRequest } from './refusal.ts';

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

export function chooseContainer({ metadata, spec }: Pod, known: readonly string[], asked: string): string {
  const { name } = metadata;
  if (asked !== '') {
    if (known.includes(asked)) return asked;
    throw badRequest(`container ${asked.slice(0, 100)} is not valid for pod ${name}`);
  }
  const annotated = metadata.annotations?.[DEFAULT_CONTAINER];
  if (annotated !== undefined && known.includes(annotated)) return annotated;
  const [only, ...more] = spec.containers.map((container) => container.name);
  if (only !== undefined && more.length === 0) return only;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${[only, ...more].join(' ')}]`);
}

const STREAMS = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

export function streamQuery(query: URLSearchParams, name: 'exec' | 'attach' | 'portforward'): URLSearchParams {
  const own = new URLSearchParams();
  if (name === 'portforward') {
    for (const ports of query.getAll('ports')) own.append('port', ports);
    return own;
  }
  for (const [from, to] of Object.entries(STREAMS)) {
    const value = query.get(from);
    if (value === 'true' || value === '1') own.set(to, '1');
  }
  for (const word of query.getAll('command')) own.append('command', word);
  return own;
}

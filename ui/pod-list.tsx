/** All pods of the node, the ones that don't run first. */
import { useState } from 'preact/hooks';
import type { ShownPod } from '../src/page/rules/pod-list.ts';
import { age, bytes, cores } from './format.ts';
import type { Seen } from './stream.ts';

const HEALTHY = new Set(['Running', 'Completed', 'Succeeded']);
const isFine = ({ status, isReady }: ShownPod): boolean => HEALTHY.has(status) && (isReady || status !== 'Running');

function compare(one: ShownPod, other: ShownPod): number {
  const rank = Number(isFine(one)) - Number(isFine(other));
  return rank || `${one.namespace}/${one.name}`.localeCompare(`${other.namespace}/${other.name}`);
}

export function PodList({ pods, use }: Pick<Seen, 'pods' | 'use'>) {
  const [filter, setFilter] = useState('');
  const all = [...pods.values()].toSorted(compare);
  const shown = all.filter(({ namespace, name, status }) => `${namespace}/${name} ${status}`.includes(filter));
  return (
    <section>
      <header class="bar">
        <h2>
          Pods <small>{filter === '' ? all.length : `${shown.length} of ${all.length}`}</small>
        </h2>
        <label>
          Filter{' '}
          <input
            type="search"
            value={filter}
            onInput={(event) => setFilter((event.target as HTMLInputElement).value)}
          />
        </label>
      </header>
      <div class="scroll">
        <table class="pods">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Status</th>
              <th scope="col">Ready</th>
              <th scope="col" class="number">
                Restarts
              </th>
              <th scope="col" class="number">
                CPU
              </th>
              <th scope="col" class="number">
                Memory
              </th>
              <th scope="col" class="number">
                Age
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((pod) => (
              <Row key={pod.uid} pod={pod} use={use[pod.uid]} />
            ))}
          </tbody>
        </table>
      </div>
      {all.length === 0 && <p class="faint">No pods. A manifest in the directory of static pods makes one.</p>}
    </section>
  );
}

function Row({ pod, use }: { readonly pod: ShownPod; readonly use: Seen['use'][string] | undefined }) {
  const [cpu, memory] = use ?? [null, null];
  return (
    <tr class={isFine(pod) ? '' : 'trouble'}>
      <td>
        <a href={`#/pods/${pod.namespace}/${pod.name}`}>
          <span class="faint">{pod.namespace}/</span>
          {pod.name}
        </a>
        {pod.why !== '' && <p class="why">{pod.why}</p>}
      </td>
      <td>
        <span class={`status ${isFine(pod) ? 'good' : 'bad'}`}>{pod.status}</span>
      </td>
      <td>{pod.ready}</td>
      <td class="number">{pod.restarts}</td>
      <td class="number">{cores(cpu)}</td>
      <td class="number">{bytes(memory)}</td>
      <td class="number">{age(Date.now() - pod.createdAt)}</td>
    </tr>
  );
}

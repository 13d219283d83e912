/** The pages that are one table: images, settings, evictions. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ShownImage } from '../src/page/rules/image-list.ts';
import type { ShownSetting } from '../src/page/rules/settings-table.ts';
import { bytes } from './format.ts';
import type { Loose } from './stream.ts';

function useData<T>(path: string): { readonly value?: T; readonly problem?: string } {
  const [found, setFound] = useState<{ readonly value?: T; readonly problem?: string }>({});
  useEffect(() => {
    const ending = new AbortController();
    const ask = async () => {
      const answer = await fetch(path, { signal: ending.signal });
      setFound(answer.ok ? { value: await answer.json() } : { problem: await answer.text() });
    };
    ask().catch((error: unknown) => {
      if (!ending.signal.aborted) setFound({ problem: String(error) });
    });
    return () => ending.abort();
  }, [path]);
  return found;
}

function Table({ head, children }: { readonly head: readonly string[]; readonly children: ComponentChildren }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function Images() {
  const { value, problem } = useData<readonly ShownImage[]>('/page/images');
  const total = (value ?? []).reduce((sum, image) => sum + image.bytes, 0);
  return (
    <section>
      <h2>
        Images <small>{value && `${value.length}, ${bytes(total)}`}</small>
      </h2>
      {problem && <p role="alert">{problem}</p>}
      <Table head={['Name', 'Size', 'Kept by']}>
        {(value ?? []).map(({ id, names, bytes: size, usedBy, pinned }) => (
          <tr key={id}>
            <td>{names.length === 0 ? id.slice(0, 19) : names.join(', ')}</td>
            <td class="number">{bytes(size)}</td>
            <td>
              {pinned ? 'the runtime (pinned) ' : ''}
              {usedBy.map((pod) => (
                <a key={pod} class="item" href={`#/pods/${pod}`}>
                  {pod}
                </a>
              ))}
              {!pinned && usedBy.length === 0 && <span class="faint">nothing: it may be removed</span>}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

export function Settings() {
  const { value, problem } = useData<readonly ShownSetting[]>('/page/settings');
  const [isAll, setAll] = useState(false);
  const shown = (value ?? []).filter(({ origin }) => isAll || origin !== 'default');
  return (
    <section>
      <header class="bar">
        <h2>Configuration</h2>
        <label>
          <input type="checkbox" checked={isAll} onChange={() => setAll(!isAll)} /> with defaults
        </label>
      </header>
      {problem && <p role="alert">{problem}</p>}
      <Table head={['Setting', 'Value', 'From']}>
        {shown.map(({ name, value: text, origin }) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="value">{text}</td>
            <td class="faint">{origin}</td>
          </tr>
        ))}
      </Table>
      {value && shown.length === 0 && <p class="faint">Nothing was set: all values are defaults.</p>}
    </section>
  );
}

export function Evictions() {
  const { value, problem } = useData<readonly Loose[]>('/page/evictions');
  return (
    <section>
      <h2>Evictions</h2>
      {problem && <p role="alert">{problem}</p>}
      {value?.length === 0 && <p class="faint">No pod was evicted since the kubelet started.</p>}
      {(value ?? []).toReversed().map((decision) => (
        <details key={JSON.stringify(decision)} open>
          <summary>
            {decision.signal} {decision.pod && `${decision.pod.namespace}/${decision.pod.name}`}
          </summary>
          <pre class="log">{JSON.stringify(decision, null, 2)}</pre>
        </details>
      ))}
    </section>
  );
}

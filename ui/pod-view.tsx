/** One pod: its charts, why it is as it is, containers, events, volumes, configuration, logs and a shell. */
import { useState } from 'preact/hooks';
import { Charts, RANGES } from './charts.tsx';
import { age } from './format.ts';
import { Logs } from './logs.tsx';
import { RangeChoice } from './range.tsx';
import { headers, useSession } from './session.ts';
import { Shell } from './shell.tsx';
import type { Detail, Explained, Loose, PodEvent, Seen } from './stream.ts';

export function PodView({ seen, pod }: { readonly seen: Seen; readonly pod: string }) {
  const [range, setRange] = useState(RANGES[0]);
  const { detail, podLive, podHour } = seen;
  if (detail === undefined) return <p class="faint">…</p>;
  if (detail === null)
    return (
      <p>
        There is no pod {pod} on this node. <a href="#/">All pods</a>
      </p>
    );
  const isLive = range === RANGES[0];
  const containers = new Map([...podLive].filter(([name]) => name !== ''));
  return (
    <article>
      <header class="bar">
        <h2>
          <a href="#/">Pods</a> / {pod}
        </h2>
        <RangeChoice range={range} choose={setRange} />
      </header>
      {detail.why !== '' && <p class="why large">{detail.why}</p>}
      <Charts
        line={isLive ? (podLive.get('') ?? { times: [], points: [] }) : podHour}
        span={range.span}
        {...(isLive && containers.size > 1 && { containers })}
      />
      <Containers detail={detail} pod={pod} />
      <Steps steps={detail.steps} />
      <Events events={detail.events} />
      <Volumes pod={detail.pod} />
      <details>
        <summary>Configuration</summary>
        <pre class="log">{JSON.stringify(detail.pod, null, 2)}</pre>
      </details>
      <End pod={pod} detail={detail} />
    </article>
  );
}

function stateOf(status: Loose): string {
  const { running, waiting, terminated } = status?.state ?? {};
  if (running) return `running since ${age(Date.now() - Date.parse(running.startedAt))}`;
  if (terminated) return `${terminated.reason || 'ended'} (exit code ${terminated.exitCode})`;
  return waiting?.reason ?? 'waiting';
}

function probesOf(container: Loose): string {
  return ['startupProbe', 'livenessProbe', 'readinessProbe']
    .filter((name) => container[name] !== undefined)
    .map((name) => {
      const probe = container[name];
      const kind = ['httpGet', 'tcpSocket', 'exec', 'grpc'].find((one) => probe[one] !== undefined) ?? '';
      return `${name.replace('Probe', '')} ${kind} every ${probe.periodSeconds ?? 10} s`;
    })
    .join(', ');
}

function Containers({ detail: { pod }, pod: name }: { readonly detail: Detail; readonly pod: string }) {
  const session = useSession();
  const [open, setOpen] = useState<{ readonly kind: 'log' | 'shell'; readonly container: string }>();
  const statuses: readonly Loose[] = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ];
  const all: readonly Loose[] = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const button = (kind: 'log' | 'shell', container: string, label: string, isAllowed: boolean) => {
    const isOpen = open?.kind === kind && open.container === container;
    const toggle = () => setOpen(isOpen ? undefined : { kind, container });
    return (
      <button type="button" disabled={!isAllowed} aria-expanded={isOpen} onClick={toggle}>
        {label}
      </button>
    );
  };
  return (
    <section>
      <h3>Containers</h3>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col">Image</th>
              <th scope="col" class="number">
                Restarts
              </th>
              <th scope="col">Probes</th>
              <th scope="col">
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((container) => {
              const status = statuses.find((one) => one.name === container.name);
              return (
                <tr key={container.name}>
                  <td>{container.name}</td>
                  <td>{stateOf(status)}</td>
                  <td>{container.image}</td>
                  <td class="number">{status?.restartCount ?? 0}</td>
                  <td>{probesOf(container)}</td>
                  <td class="actions">
                    {button('log', container.name, 'Log', session !== undefined)}
                    {button('shell', container.name, 'Shell', session?.mayWrite === true && status?.state?.running)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {session === undefined && (
        <p class="faint">
          Logs and shells need a <a href="#/login">login</a>.
        </p>
      )}
      {open?.kind === 'log' && <Logs pod={name} container={open.container} />}
      {open?.kind === 'shell' && <Shell pod={name} container={open.container} />}
    </section>
  );
}

const subjectText = ({ kind, container, image, name }: Explained['subject']): string =>
  [kind.replaceAll('-', ' '), container, image, name].filter((part) => typeof part === 'string').join(' ');

function Steps({ steps }: { readonly steps: readonly Explained[] }) {
  if (steps.length === 0) return null;
  return (
    <details open={steps.some(({ state }) => state.kind !== 'done')}>
      <summary>Steps</summary>
      <ol class="steps">
        {steps.map((step) => (
          <li key={subjectText(step.subject)} class={step.state.kind}>
            <b>{subjectText(step.subject)}</b> {step.state.kind} {age(Date.now() - step.state.since)}
            {step.lastError !== undefined && (
              <span class="why">
                {step.lastError.reason}: {step.lastError.message}
              </span>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

function Events({ events }: { readonly events: readonly PodEvent[] }) {
  return (
    <section>
      <h3>Events</h3>
      {events.length === 0 ? (
        <p class="faint">None in memory.</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Last</th>
                <th scope="col">Reason</th>
                <th scope="col">Message</th>
                <th scope="col" class="number">
                  Count
                </th>
              </tr>
            </thead>
            <tbody>
              {events.toReversed().map((event) => (
                <tr key={`${event.reason}${event.message}`} class={event.type === 'Warning' ? 'trouble' : ''}>
                  <td>{age(Date.now() - event.lastAt)}</td>
                  <td>{event.reason}</td>
                  <td>{event.message}</td>
                  <td class="number">{event.count}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Volumes({ pod }: { readonly pod: Loose }) {
  const volumes: readonly Loose[] = pod.spec.volumes ?? [];
  if (volumes.length === 0) return null;
  return (
    <section>
      <h3>Volumes</h3>
      <ul>
        {volumes.map(({ name, ...kind }) => (
          <li key={name}>
            <b>{name}</b> {Object.keys(kind).join(', ')} <span class="faint">{mountsOf(pod, name)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const mountsOf = (pod: Loose, name: string): string =>
  (pod.spec.containers as readonly Loose[])
    .flatMap((container) =>
      ((container.volumeMounts ?? []) as readonly Loose[])
        .filter((mount) => mount.name === name)
        .map((mount) => `${container.name}:${mount.mountPath}`),
    )
    .join(', ');

function End({ pod, detail }: { readonly pod: string; readonly detail: Detail }) {
  const session = useSession();
  const [asked, setAsked] = useState(false);
  const [answer, setAnswer] = useState('');
  if (session?.mayWrite !== true) return null;
  const isStatic = (detail.pod.metadata.annotations?.['kubernetes.io/config.source'] ?? 'api') !== 'api';
  if (isStatic) return <p class="faint">This pod comes from a file or a URL: remove it there to end it.</p>;
  const end = async () => {
    const reply = await fetch(`/page/delete/${pod}`, { method: 'POST', headers: headers() });
    setAnswer(reply.ok ? 'It ends.' : await reply.text());
    setAsked(false);
  };
  return (
    <section>
      <h3>End this pod</h3>
      {asked ? (
        <p>
          Really?{' '}
          <button type="button" onClick={() => end().catch((error: unknown) => setAnswer(String(error)))}>
            Delete {pod}
          </button>{' '}
          <button type="button" onClick={() => setAsked(false)}>
            No
          </button>
        </p>
      ) : (
        <button type="button" onClick={() => setAsked(true)}>
          Delete
        </button>
      )}
      <p role="status">{answer}</p>
    </section>
  );
}

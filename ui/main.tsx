/** The page of the kubelet: one node, its pods, and what they need. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Charts, RANGES } from './charts.tsx';
import { bytes } from './format.ts';
import { Login } from './login.tsx';
import { PodList } from './pod-list.tsx';
import { PodView } from './pod-view.tsx';
import { RangeChoice } from './range.tsx';
import { logOut, resumeSession, useSession } from './session.ts';
import { type Seen, useStream } from './stream.ts';
import { Evictions, Images, Settings } from './tables.tsx';
import './page.css';

const VIEWS = [
  ['#/', 'Pods'],
  ['#/images', 'Images'],
  ['#/settings', 'Configuration'],
  ['#/evictions', 'Evictions'],
] as const;

function useRoute(): string {
  const [route, setRoute] = useState(location.hash || '#/');
  useEffect(() => {
    const changed = () => setRoute(location.hash || '#/');
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}

function Node({ seen }: { readonly seen: Seen }) {
  const [range, setRange] = useState(RANGES[0]);
  const { facts, live, hour } = seen;
  return (
    <>
      <header class="bar">
        <h2>Node</h2>
        <RangeChoice range={range} choose={setRange} />
      </header>
      <Charts
        line={range === RANGES[0] ? live : hour}
        span={range.span}
        cpus={facts?.cpus}
        memoryBytes={facts?.memoryBytes}
      />
      <PodList pods={seen.pods} use={seen.use} />
    </>
  );
}

function View({ route, seen, pod }: { readonly route: string; readonly seen: Seen; readonly pod: string | undefined }) {
  if (pod !== undefined) return <PodView key={pod} seen={seen} pod={pod} />;
  switch (route) {
    case '#/images':
      return <Images />;
    case '#/settings':
      return <Settings />;
    case '#/evictions':
      return <Evictions />;
    case '#/login':
      return <Login isPossible={seen.facts?.login ?? true} />;
    default:
      return <Node seen={seen} />;
  }
}

function Page() {
  const route = useRoute();
  const pod = /^#\/pods\/([^/]+\/[^/]+)$/.exec(route)?.[1];
  const seen = useStream(pod);
  const session = useSession();
  const { facts } = seen;
  useEffect(() => {
    document.title = `${pod ?? facts?.nodeName ?? 'kubelet'} – kubelet`;
  }, [pod, facts?.nodeName]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        To the content
      </button>
      <header class="top">
        <h1>{facts?.nodeName ?? 'kubelet'}</h1>
        <p class="faint">
          {facts &&
            `${facts.version} · ${facts.cpus} CPUs · ${bytes(facts.memoryBytes)} · ${facts.osImage} · ${facts.kernel}`}
        </p>
        <nav aria-label="Views">
          {VIEWS.map(([href, label]) => (
            <a
              key={href}
              href={href}
              aria-current={href === route || (label === 'Pods' && pod !== undefined) ? 'page' : undefined}
            >
              {label}
            </a>
          ))}
          <a href="#/login" aria-current={route === '#/login' ? 'page' : undefined}>
            {session === undefined ? 'Log in' : session.name}
          </a>
        </nav>
        {!seen.isOpen && (
          <p role="status" class="why">
            No connection to the kubelet: trying again.
          </p>
        )}
      </header>
      <main id="content" tabIndex={-1}>
        <View route={route} seen={seen} pod={pod} />
      </main>
    </>
  );
}

const place = document.getElementById('page');
if (place !== null) {
  place.replaceChildren();
  render(<Page />, place);
  // Without a kubelet that answers no one is logged in.
  resumeSession().catch(logOut);
}

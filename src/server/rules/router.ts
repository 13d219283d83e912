/** Finds the route of a method and path, or the answer if there is none. */
import type { Access, Answer, Route, Switch } from '../routes.ts';

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly parameters: Readonly<Record<string, string>> }
  /** For callers with the permission, the endpoint gives this answer. */
  | { readonly kind: 'closed'; readonly access: Access; readonly answer: Answer }
  /** An unknown path: the answer is the same for all callers. */
  | { readonly kind: 'nowhere'; readonly answer: Answer };

export interface RouterSettings {
  readonly port: 'secure' | 'readOnly';
  readonly switches: Readonly<Record<Exclude<Switch, 'always'>, boolean>>;
}

export type Router = (method: string, path: string) => Match;

/** Paths that answer that debugging is off; others are then unknown, as in the reference. */
const SAY_DISABLED = ['run', 'exec', 'attach', 'portForward', 'containerLogs', 'runningpods', 'logs'].map(
  (n) => `/${n}/`,
);
const PPROF = '/debug/pprof/';

const SWITCH_TEXTS: Readonly<Partial<Record<Switch, string>>> = {
  systemLogs: 'logs endpoint is disabled.',
  profiling: 'profiling endpoint is disabled.',
  debugFlags: 'flags endpoint is disabled.',
  heapSnapshots:
    'heap snapshots are disabled: they contain every secret that the kubelet holds. KUBELET_TS_HEAP_SNAPSHOTS=true in its environment enables them.',
};

interface Entry {
  readonly route: Route;
  readonly segments: readonly string[];
}

export function createRouter(routes: readonly Route[], settings: RouterSettings): Router {
  const debugging = settings.port === 'secure' && settings.switches.debugging;
  const isServed = ({ port, switch: setting }: Route) =>
    (settings.port === 'secure' || port === 'both') && (setting === 'always' || debugging);
  const served = routes
    .filter(isServed)
    .map((route) => ({ route, segments: route.pattern.split('/').slice(1) }))
    // A complete path goes before a pattern with a rest: it may need another permission.
    .toSorted((one, other) => Number(takesRest(one.route)) - Number(takesRest(other.route)));
  const closedRoots = debugging ? [] : [...SAY_DISABLED, PPROF];
  const withSlash = new Set([
    ...served.filter(({ route }) => endsInSlash(route)).map(({ route }) => rootOf(route.pattern)),
    ...closedRoots,
  ]);

  return (method, path) => {
    const clean = cleanPath(path);
    if (clean !== path) return redirect(clean);
    const closed = closedRoots.find((root) => path.startsWith(root));
    if (closed !== undefined) return closedAnswer(accessBelow(routes, path), 405, 'Debug endpoints are disabled.');
    return find(method, path) ?? (withSlash.has(`${path}/`) ? redirect(`${path}/`) : below(path));
  };

  function find(method: string, path: string): Match | undefined {
    const parts = path.split('/').slice(1);
    const fitting = served.flatMap((entry) => {
      const parameters = parametersOf(entry, parts);
      return parameters === undefined ? [] : [{ route: entry.route, parameters }];
    });
    const [first] = fitting;
    if (first === undefined) return undefined;
    const off = first.route.switch;
    const text = SWITCH_TEXTS[off];
    if (text !== undefined && off !== 'always' && !settings.switches[off])
      return closedAnswer(first.route.access, 405, text);
    const found = fitting.find(({ route }) => route.methods.includes(method));
    if (found !== undefined) return { kind: 'route', ...found };
    const allow = [...new Set(fitting.flatMap(({ route }) => route.methods))].join(', ');
    const answer = { status: 405, body: '405: Method Not Allowed', headers: { Allow: allow } };
    return { kind: 'closed', access: first.route.access, answer };
  }

  function below(path: string): Match {
    const root = path.split('/')[1] ?? '';
    if (!served.some(({ segments }) => segments[0] === root)) return { kind: 'nowhere', answer: PAGE_NOT_FOUND };
    return { kind: 'closed', access: accessBelow(routes, path), answer: { status: 404, body: '404: Page Not Found' } };
  }
}

const PAGE_NOT_FOUND: Answer = {
  status: 404,
  body: '404 page not found\n',
  headers: { 'X-Content-Type-Options': 'nosniff' },
};

const takesRest = ({ pattern }: Route) => pattern.endsWith(':*}');
const endsInSlash = (route: Route) => route.pattern.endsWith('/') || takesRest(route);

/** The pattern up to its first parameter, with its slash. */
const rootOf = (pattern: string) => pattern.replace(/\{.*$/, '');

function redirect(path: string): Match {
  return { kind: 'nowhere', answer: { status: 307, headers: { Location: encodePath(path) } } };
}

/** Never with `//` at the start: that would be another host. */
const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/');

function closedAnswer(access: Access, status: number, text: string): Match {
  const answer = { status, body: `${text}\n`, headers: { 'X-Content-Type-Options': 'nosniff' } };
  return { kind: 'closed', access, answer };
}

/** A path without a route needs the permission of its neighbours: with the same first segment, or the general one. */
function accessBelow(routes: readonly Route[], path: string): Access {
  const root = path.split('/')[1] ?? '';
  const neighbour = routes.find(({ pattern }) => pattern.split('/')[1] === root);
  return neighbour?.access ?? { subresource: 'proxy', verb: 'method' };
}

function parametersOf({ segments }: Entry, parts: readonly string[]): Readonly<Record<string, string>> | undefined {
  const parameters: Record<string, string> = Object.create(null);
  for (const [at, segment] of segments.entries()) {
    const part = parts[at];
    if (segment.endsWith(':*}')) {
      if (part === undefined) return undefined;
      parameters[segment.slice(1, -3)] = parts.slice(at).join('/');
      return parameters;
    }
    if (part === undefined) return undefined;
    if (segment.startsWith('{')) {
      if (part === '') return undefined;
      parameters[segment.slice(1, -1)] = part;
    } else if (segment !== part) return undefined;
  }
  return parts.length === segments.length ? parameters : undefined;
}

/** Removes `.`, `..` and doubled slashes; a slash at the end stays. */
export function cleanPath(path: string): string {
  const kept: string[] = [];
  const parts = path.split('/').slice(1);
  for (const part of parts) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  const last = parts.at(-1) ?? '';
  const open = kept.length > 0 && (last === '' || last === '.' || last === '..');
  return `/${kept.join('/')}${open ? '/' : ''}`;
}

/** The decoded path and the query of a request line; undefined for an invalid one. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } | undefined {
  if (!target.startsWith('/')) return undefined;
  const [raw = '', query = ''] = target.split(/\?(.*)/s);
  const path = decoded(raw);
  return path === undefined || HIDDEN.test(path) ? undefined : { path, query };
}

const LONGEST_PATH = 16 << 10;
const LONGEST_TARGET = 24 << 10;

/** A file path has at most 4096 bytes, three characters each when encoded; only commands need a longer query. */
export function isTooLong(target: string, route: Route | undefined): boolean {
  const query = target.indexOf('?');
  const path = query < 0 ? target.length : query;
  return path > LONGEST_PATH || (target.length > LONGEST_TARGET && route?.longQuery !== true);
}

/** A NUL ends a file name for the kernel, and control characters forge log lines. */
const HIDDEN = /\p{Cc}/u;

function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

/** The authorization verb of a method; empty if it has none. */
export function verbOf(access: Access, method: string, byMethod: boolean): string {
  if (access.verb === 'create' || (access.verb === 'stream' && !byMethod)) return 'create';
  return VERBS[method] ?? '';
}

const VERBS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
});

/** The `path` label of request metrics: the first segment of a served path, `metrics/x` for the metrics, else `other`. */
export function metricPath(path: string, roots: ReadonlySet<string>): string {
  const [first = '', second] = path.split('/').slice(1);
  const root = first === 'metrics' && second !== undefined ? `metrics/${second}` : first;
  return roots.has(root) ? root : 'other';
}

/**
 * `/debug/pprof/` for Node: CPU profiles and heap snapshots in the formats that Chrome's developer tools open. Go's profiles that
 * have no meaning here answer so.
 */
import type { Logger } from '../../base/logger.ts';
import { SLOWEST_CLIENT_MS } from '../answer.ts';
import { type Exchange, errorPage, PROXY, PROXY_CREATE, type Route, statusAnswer } from '../routes.ts';

export interface ProfilingDeps {
  /** The command line. */
  readonly argv: readonly string[];
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The type of each active resource of the process. */
  readonly activeResources: () => readonly string[];
  readonly log: Logger;
}

const DEFAULT_SECONDS = 30;
const MOST_SECONDS = 600;

const PROFILES: Readonly<Record<string, string>> = {
  allocs: 'Allocations sampled for a time (?seconds=30): a .heapprofile',
  cmdline: 'The command line, its arguments ended by NUL',
  goroutine: 'What the process waits for, counted by kind: there are no goroutines here',
  heap: 'A snapshot of the heap: a .heapsnapshot, with every secret in it; off by default. The process stands still while it is taken',
  profile: 'CPU profile of a time (?seconds=30): a .cpuprofile',
};

export function profilingRoutes(deps: ProfilingDeps): readonly Route[] {
  // One at a time: a second profiler would measure the first, and snapshots need as much memory as the heap.
  let busy = false;
  const alone = async (exchange: Exchange, work: () => Promise<void>) => {
    if (busy) return exchange.answer(errorPage(500, 'Could not enable profiling: profiling is already in use'));
    busy = true;
    try {
      await work();
    } finally {
      busy = false;
    }
  };
  const handle = (exchange: Exchange): Promise<void> | void => {
    const { answer, parameters, query } = exchange;
    const name = parameters['subpath'] ?? '';
    const seconds = Number(query.get('seconds') ?? DEFAULT_SECONDS);
    if (!(seconds > 0 && seconds <= MOST_SECONDS))
      return answer(errorPage(400, `seconds must be above 0 and at most ${MOST_SECONDS}`));
    if (name === '') return answer({ status: 200, type: 'text/html; charset=utf-8', body: indexPage() });
    if (name === 'cmdline') return answer({ status: 200, body: deps.argv.join('\0') });
    if (name === 'goroutine') return answer({ status: 200, body: countLines(deps.activeResources()) });
    if (name === 'profile') return alone(exchange, () => sendProfile(exchange, deps, { kind: 'cpu', seconds }));
    if (name === 'allocs') return alone(exchange, () => sendProfile(exchange, deps, { kind: 'allocations', seconds }));
    if (['symbol', 'trace', 'block', 'mutex', 'threadcreate'].includes(name)) {
      const message = `the profile ${name} has no meaning for a program that runs in Node.js`;
      return answer(statusAnswer({ code: 501, reason: 'NotImplemented', message }));
    }
    answer(errorPage(404, 'Unknown profile'));
  };
  return [
    {
      name: 'pprof',
      methods: ['GET'],
      pattern: '/debug/pprof/{subpath:*}',
      access: PROXY,
      port: 'secure',
      switch: 'profiling',
      handle,
    },
    {
      name: 'heap',
      methods: ['GET', 'POST'],
      pattern: '/debug/pprof/heap',
      access: PROXY_CREATE,
      port: 'secure',
      switch: 'heapSnapshots',
      audited: true,
      handle: (exchange) => alone(exchange, () => sendSnapshot(exchange)),
    },
  ];
}

function indexPage(): string {
  const rows = Object.entries(PROFILES).map(
    ([name, about]) => `<tr><td><a href="${name}">${name}</a></td><td>${about}</td></tr>`,
  );
  return `<html><head><title>/debug/pprof/</title></head><body><h1>/debug/pprof/</h1><table>${rows.join('\n')}</table></body></html>\n`;
}

function countLines(types: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const lines = [...counts].sort((a, b) => b[1] - a[1]).map(([type, count]) => `${count} ${type}\n`);
  return `active resources: total ${types.length}\n${lines.join('')}`;
}

const STEPS = {
  cpu: {
    enable: 'Profiler.enable',
    start: 'Profiler.start',
    stop: 'Profiler.stop',
    disable: 'Profiler.disable',
    file: 'profile.cpuprofile',
  },
  allocations: {
    enable: 'HeapProfiler.enable',
    start: 'HeapProfiler.startSampling',
    stop: 'HeapProfiler.stopSampling',
    disable: 'HeapProfiler.disable',
    file: 'allocs.heapprofile',
  },
} as const;

async function sendProfile(
  exchange: Exchange,
  deps: ProfilingDeps,
  { kind, seconds }: { readonly kind: keyof typeof STEPS; readonly seconds: number },
): Promise<void> {
  // Loaded by the first request: it starts a part of V8 that costs memory.
  const { Session } = await import('node:inspector/promises');
  const steps = STEPS[kind];
  const session = new Session();
  session.connect();
  try {
    await session.post(steps.enable);
    await session.post(steps.start);
    await deps.sleep(seconds * 1000, exchange.signal);
    const { profile }: { profile?: unknown } = (await session.post(steps.stop)) ?? {};
    await session.post(steps.disable);
    exchange.answer({
      status: 200,
      type: 'application/json',
      body: JSON.stringify(profile),
      headers: attachment(steps.file),
    });
  } finally {
    session.disconnect();
  }
}

async function sendSnapshot({ response, signal }: Exchange): Promise<void> {
  const [{ getHeapSnapshot }, { pipeline }] = await Promise.all([import('node:v8'), import('node:stream/promises')]);
  response.writeHead(200, { 'Content-Type': 'application/json', ...attachment('heap.heapsnapshot') });
  response.setTimeout(SLOWEST_CLIENT_MS, () => response.destroy());
  await pipeline(getHeapSnapshot(), response, { signal });
}

const attachment = (file: string) => ({
  'Content-Disposition': `attachment; filename="${file}"`,
  'X-Content-Type-Options': 'nosniff',
});

/** A local API in memory, for tests. */

import { DEFAULT_POD_GATES } from '../api/pod-gates.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { makeNamespace } from './actions.ts';
import { type Api, type ApiAnswer, type ApiRequest, createApi } from './api.ts';
import type { Journal } from './journal.ts';
import { createStore, type Store } from './store.ts';

export interface TestApi {
  readonly api: Api;
  readonly store: Store;
  ask(line: string, body?: unknown, more?: Partial<ApiRequest>): Promise<TestAnswer>;
}

export interface TestAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the answers of an API are of any shape, and tests look into them
  readonly body: any;
  readonly warnings: readonly string[];
}

/** Nothing reaches a disk. */
export const memoryJournal = (): Journal => ({
  open: () => Promise.resolve({ isDamaged: false }),
  append: () => Promise.resolve(),
  rewrite: () => Promise.resolve(),
  bytes: () => 0,
  close: () => Promise.resolve(),
});

export async function createTestApi(journal: Journal = memoryJournal()): Promise<TestApi> {
  const log = createSilentLogger();
  const clock = createManualClock();
  const store = createStore({ log, journal });
  await store.start(new AbortController().signal);
  let count = 0;
  const newUid = () => {
    count += 1;
    return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
  };
  await makeNamespace({ store, clock, newUid }, 'default');
  const signingKey = {
    sign: (claims: object) => Promise.resolve(JSON.stringify(claims)),
    publicKeys: () => Promise.resolve({ keys: [] }),
  };
  const about = { version: 'v1.36.0', platform: 'linux/amd64', runtime: 'node', address: '127.0.0.1:1' };
  const api = createApi(
    { clock, log, store, newUid, newSuffix: () => 'abcde', signingKey },
    { ...about, nodeName: 'node1', gates: DEFAULT_POD_GATES },
  );
  return { api, store, ask: (line, body, more = {}) => ask(api, line, body, more) };
}

/** `PATCH /api/v1/… strategic`. */
async function ask(api: Api, line: string, body: unknown, more: Partial<ApiRequest>): Promise<TestAnswer> {
  const [method = '', target = '', patch = ''] = line.split(' ');
  const url = new URL(target, 'http://local');
  const type =
    patch === 'apply'
      ? 'application/apply-patch+yaml'
      : patch === 'json'
        ? 'application/json-patch+json'
        : `application/${patch === 'merge' ? 'merge' : 'strategic-merge'}-patch+json`;
  const answer = await api.handle({
    method,
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    body,
    type,
    accept: 'application/json',
    caller: { name: 'tester', groups: [], role: 'full' },
    ...more,
  });
  return answerOf(answer);
}

function answerOf(answer: ApiAnswer): TestAnswer {
  if (answer.kind === 'answer') return answer;
  return { status: 200, body: answer, warnings: [] };
}

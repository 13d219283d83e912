/** The machine's side of the port to the agent in the guest: many commands at a time, each answer to its own. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Captured } from '../../../tools/machine/capture.ts';
import { formatRequest, parseMessage } from './protocol.ts';

export interface Agent {
  /** Resolves with the id of the boot that answers, once it is another one than `not`. */
  booted(not?: string): Promise<string>;
  /** Runs a bash script; rejects when it takes too long, or when the guest is gone. */
  run(script: string, timeoutMs: number): Promise<Captured>;
  /** Nothing more will be answered: every call that waits is rejected with the reason. Only the first reason is asked for. */
  close(reason: () => Error): void;
}

/** How much longer than the time limit the answer about it may take. */
const LATE_MS = 60_000;

interface Waiting<T> {
  resolve(value: T): void;
  reject(reason: Error): void;
}

/** Listens on `path`; qemu connects when it starts. */
export async function listenForAgent(path: string): Promise<Agent> {
  const server = createServer();
  server.listen(path);
  await once(server, 'listening');
  const agent = new GuestAgent(() => server.close());
  server.once('connection', (socket) => {
    server.close();
    agent.connect(socket);
  });
  return agent;
}

class GuestAgent implements Agent {
  readonly #runs = new Map<number, Waiting<Captured> & { readonly script: string }>();
  readonly #boots = new Set<Waiting<string> & { readonly not: string | undefined }>();
  readonly #stopListening: () => void;
  #socket: Socket | undefined;
  #boot: string | undefined;
  #closed: Error | undefined;
  #lastId = 0;

  constructor(stopListening: () => void) {
    this.#stopListening = stopListening;
  }

  connect(socket: Socket): void {
    this.#socket = socket;
    // The end of the guest is noticed where qemu is watched, with more to say about it.
    socket.on('error', () => undefined);
    createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => this.#receive(line));
  }

  booted(not?: string): Promise<string> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#boot !== undefined && this.#boot !== not) return Promise.resolve(this.#boot);
    return new Promise((resolve, reject) => this.#boots.add({ resolve, reject, not }));
  }

  async run(script: string, timeoutMs: number): Promise<Captured> {
    const socket = this.#socket;
    if (this.#closed !== undefined) throw this.#closed;
    if (socket === undefined || this.#boot === undefined) throw new Error('the guest is not up yet');
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Captured>((resolve, reject) => this.#runs.set(id, { resolve, reject, script }));
    socket.write(formatRequest(id, timeoutMs / 1000, script));
    const timer = new AbortController();
    const late = delay(timeoutMs + LATE_MS, undefined, { signal: timer.signal }).then(() => {
      throw new Error(`the guest does not answer any more; asked for: ${script}`);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      this.#runs.delete(id);
      timer.abort();
      // The loser of the race must not be heard of again.
      late.catch(() => undefined);
    }
  }

  close(why: () => Error): void {
    if (this.#closed !== undefined) return;
    const reason = why();
    this.#closed = reason;
    this.#stopListening();
    this.#socket?.destroy();
    this.#giveUpRuns(reason);
    for (const waiting of this.#boots) waiting.reject(reason);
    this.#boots.clear();
  }

  #receive(line: string): void {
    const message = parseMessage(line);
    if (message === undefined) return;
    if (message.kind === 'hello') {
      this.#greet(message.boot);
      return;
    }
    const waiting = this.#runs.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === 'answer') {
      waiting.resolve(message.result);
    } else {
      const words = (message.stderr.trim() || message.stdout.trim()).slice(-2000);
      waiting.reject(new Error(`took too long in the guest: ${waiting.script}\n${words}`));
    }
  }

  #greet(boot: string): void {
    this.#boot = boot;
    this.#giveUpRuns(new Error('the agent in the guest was started anew'));
    for (const waiting of this.#boots) {
      if (waiting.not === boot) continue;
      this.#boots.delete(waiting);
      waiting.resolve(boot);
    }
  }

  #giveUpRuns(reason: Error): void {
    for (const waiting of this.#runs.values()) waiting.reject(reason);
    this.#runs.clear();
  }
}

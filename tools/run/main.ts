/** `make run`: a node on this machine with a demo pod, until Ctrl-C. `node tools/run/main.ts [--kubelet PATH]` */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeError } from '../../src/base/errors.ts';
import { cacheRoot } from '../machine/cache.ts';
import { describeExit } from '../machine/part.ts';
import { type Demo, startDemo } from './demo.ts';
import { demoPlace } from './place.ts';
import { createSteps, type Steps } from './steps.ts';

const OUR_KUBELET = resolve(import.meta.dirname, '..', '..', 'dist', 'kubelet');

async function main(): Promise<number> {
  const steps = createSteps(process.stdout, () => performance.now());
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => interrupt.abort(new Error(`stopped by ${name}`)));
  }
  try {
    const kubelet = chooseKubelet(process.argv.slice(2));
    const { signal } = interrupt;
    const place = demoPlace(process.env);
    const demo = await startDemo({
      place,
      kubelet,
      isOurs: kubelet === OUR_KUBELET,
      cacheDirectory: cacheRoot(process.env),
      steps,
      signal,
    });
    return await show(demo, steps, signal);
  } catch (error) {
    steps.fail();
    if (interrupt.signal.aborted) return 0; // whatever it interrupted was removed again
    console.error(`make run: ${describeError(error)}`);
    return 1;
  }
}

function chooseKubelet(argv: readonly string[]): string {
  const { values } = parseArgs({ args: [...argv], options: { kubelet: { type: 'string', default: OUR_KUBELET } } });
  if (process.getuid?.() !== 0) throw new Error('a node needs root: run it with sudo');
  if (!existsSync(values.kubelet))
    throw new Error(`no kubelet at ${values.kubelet}: \`make build\` makes dist/kubelet`);
  return resolve(values.kubelet);
}

/** Waits for Ctrl-C, or for the kubelet to end by itself, and takes everything away. */
async function show(demo: Demo, steps: Steps, signal: AbortSignal): Promise<number> {
  steps.line('Ctrl-C stops all of it and leaves nothing behind.');
  const interrupted = new Promise<'interrupted'>((done) => {
    if (signal.aborted) done('interrupted');
    signal.addEventListener('abort', () => done('interrupted'), { once: true });
  });
  const end = await Promise.race([interrupted, demo.node.kubelet.exited()]);
  if (end !== 'interrupted') {
    console.error(`the kubelet ended by itself: ${describeExit(end)}\n${demo.node.kubelet.logTail()}`);
  }
  steps.line();
  steps.begin('stopping kubelet, containers and containerd');
  await demo.stop();
  steps.done();
  return end === 'interrupted' ? 0 : 1;
}

process.exitCode = await main();
// Sockets of requests that were under way must not keep the process.
process.exit();

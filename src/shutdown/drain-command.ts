/** `kubelet drain`: ends the pods of this machine in the order of their priorities, and keeps new ones away until it is cancelled. */
import { watch } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDuration } from '../api/duration.ts';
import { createSystemClock } from '../base/clock.ts';
import { ifPathMissing } from '../base/errno.ts';
import { CodedError, describeError } from '../base/errors.ts';
import { withDeadline } from '../base/signal.ts';
import { createWakeBit } from '../base/wake.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { DRAIN_REQUEST, encodeDrainRequest } from './rules/drain-request.ts';
import { type ClosingRecord, decodeRecord } from './rules/record.ts';
import { RECORD } from './store.ts';

export interface CommandOutput {
  print(text: string): void;
  complain(text: string): void;
}

const USAGE = `Usage: kubelet drain [--cancel] [--timeout=DURATION] [--root-dir=DIRECTORY]

Ends every pod of this machine, static pods too, in the order of their priorities, and lets no new one start until the drain is cancelled or
the machine is booted again. Returns when all pods have ended.

      --cancel                 opens the node again; static pods begin again
      --root-dir string        directory of the kubelet's files (default "/var/lib/kubelet")
      --timeout duration       how long to wait for the pods; 0s does not wait (default 10m0s)
`;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** The exit code. */
export async function runDrainCommand(argv: readonly string[], { print, complain }: CommandOutput): Promise<number> {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        cancel: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        'root-dir': { type: 'string', default: '/var/lib/kubelet' },
        timeout: { type: 'string', default: '10m' },
      },
    });
    if (values.help) {
      print(USAGE);
      return 0;
    }
    const timeout = parseDuration(values.timeout);
    if (!timeout.ok) throw new CodedError('invalid', `--timeout: ${timeout.problem}`);
    const directory = values['root-dir'];
    await stat(directory);
    const isDone = values.cancel ? await requestOpening(directory) : await requestDrain(directory);
    if (timeout.value === 0) return 0;
    await untilRecord(directory, isDone, timeout.value);
    print(values.cancel ? 'node is open again\n' : 'node is drained\n');
    return 0;
  } catch (error) {
    complain(`Error: ${describeError(error)}\n`);
    return 1;
  }
}

type Done = (record: ClosingRecord | undefined) => boolean;

async function requestDrain(directory: string): Promise<Done> {
  const bootId = (await readFile(BOOT_ID, 'utf8')).trim();
  const path = join(directory, DRAIN_REQUEST);
  await writeFileAtomically(path, encodeDrainRequest({ bootId }), { mode: 0o600, durable: true });
  return (record) => record?.bootId === bootId && record.endedAt !== undefined;
}

async function requestOpening(directory: string): Promise<Done> {
  await rm(join(directory, DRAIN_REQUEST), { force: true });
  return (record) => record?.cause !== 'drain';
}

/** The kubelet writes how far it is. */
async function untilRecord(directory: string, isDone: Done, withinMs: number): Promise<void> {
  using over = withDeadline(createSystemClock(), withinMs, 'the drain', new AbortController().signal);
  const changed = createWakeBit();
  // Watched before it is read, so that no change is missed. Not by promises: those begin to watch only when they are asked for a change.
  const watcher = watch(directory, changed.wake).on('error', changed.wake);
  try {
    while (!isDone(await readRecord(directory))) await changed.wait(over.signal);
  } catch (error) {
    if (!over.signal.aborted) throw error;
    throw new CodedError('deadline', 'the kubelet has not finished in time; does it run, with this --root-dir?');
  } finally {
    watcher.close();
  }
}

async function readRecord(directory: string): Promise<ClosingRecord | undefined> {
  const text = await readFile(join(directory, RECORD), 'utf8').catch(ifPathMissing(undefined));
  const record = text === undefined ? undefined : decodeRecord(text);
  return record?.ok === true ? record.value : undefined;
}

/** The current addresses of this node. Its name is resolved in the background, since name servers may not answer. */
import type { NodeAddress } from '../api/node.ts';
import type { Clock } from '../base/clock.ts';
import { keptFor } from '../base/kept.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Supervisor } from '../base/supervise.ts';
import {
  type AddressInput,
  computeAddresses,
  type DefaultRoute,
  hasConfiguredAddress,
  type NetworkInterface,
} from './rules/addresses.ts';

export interface NetworkPort {
  interfaces(): readonly NetworkInterface[];
  routes(): readonly DefaultRoute[];
  /** Addresses from the system's resolver; none for an unknown name. May take long. */
  resolve(name: string, signal: AbortSignal): Promise<readonly string[]>;
}

export interface AddressBookDeps {
  readonly clock: Clock;
  readonly network: NetworkPort;
  readonly supervisor: Supervisor;
}

export interface AddressBookConfig {
  readonly nodeName: string;
  readonly hostname: string;
  readonly flagIps: readonly string[];
  readonly externalCloud: boolean;
}

export interface AddressBook extends Part {
  /** The input of the rules. */
  input(): AddressInput;
  /** Addresses at which this node is reachable, the preferred one first; may be empty. Up to 5 s old. */
  internalIps(): readonly string[];
  /** Resolves when the name is resolved, or after a moment: it is better to know the address of the name from the start. */
  settled(signal: AbortSignal): Promise<void>;
}

/** Every pod status needs them, and the kernel's list of interfaces grows with every pod: reading it took a quarter of the CPU time when many pods started. */
const INTERNAL_IPS_KEPT_MS = 5000;
const FIRST_WAIT_MS = 300;
const AGAIN_MS = 60_000;
/** A failed lookup takes many seconds. */
const AGAIN_AFTER_FAILURE_MS = 300_000;

export function createAddressBook(
  { clock, network, supervisor }: AddressBookDeps,
  config: AddressBookConfig,
): AddressBook {
  let named: readonly string[] = [];
  let running: Promise<void> = Promise.resolve();
  const first = Promise.withResolvers<void>();

  const input = (): AddressInput => ({
    ...config,
    named,
    interfaces: network.interfaces(),
    routes: network.routes(),
  });

  const internalIps = keptFor(INTERNAL_IPS_KEPT_MS, clock.mono, () => {
    const answer = computeAddresses(input());
    return answer.ok ? internalIpsOf(answer.value.addresses) : anyGlobalAddress(network.interfaces());
  });

  let isFound = false;
  const resolve = async (signal: AbortSignal): Promise<void> => {
    const found = await network.resolve(config.nodeName, signal);
    isFound = found.length > 0;
    // A name server that fails for a moment must not change the node's address.
    if (isFound) named = found;
    internalIps.drop();
    first.resolve();
  };
  const rest = (signal: AbortSignal) => clock.sleep(isFound ? AGAIN_MS : AGAIN_AFTER_FAILURE_MS, signal);

  return {
    name: 'node addresses',
    start: (signal) => {
      if (hasConfiguredAddress(config)) first.resolve();
      else running = supervisor.run({ name: 'node addresses', pass: resolve, rest }, signal);
    },
    stop: () => running,
    input,
    internalIps,
    settled: async (signal) => {
      const pause = new AbortController();
      const late = clock.sleep(FIRST_WAIT_MS, pause.signal).catch(() => undefined); // settled sooner
      await Promise.race([first.promise, late]);
      pause.abort('settled');
      signal.throwIfAborted();
    },
  };
}

export function internalIpsOf(addresses: readonly NodeAddress[]): readonly string[] {
  const of = (desired: string) => addresses.filter(({ type }) => type === desired).map(({ address }) => address);
  return [...of('InternalIP'), ...of('ExternalIP')];
}

/** A machine without a default route still has pods. */
function anyGlobalAddress(interfaces: readonly NetworkInterface[]): readonly string[] {
  const outer = interfaces.filter(({ loopback }) => !loopback).flatMap(({ addresses }) => addresses);
  const preferred = outer.find((address) => !address.includes(':')) ?? outer[0];
  return preferred === undefined ? [] : [preferred];
}

/** An address of this machine alone. */
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';

export interface LocalAddress {
  readonly address: string;
  readonly port: number;
}

const LARGEST_PORT = 65_535;

/** `true` for the usual address. Loopback only: tokens and pods of a node are no matter of the network. */
export function parseLocalAddress(text: string, usual: LocalAddress): Parsed<LocalAddress> {
  if (text === 'true') return parsed(usual);
  const found = /^(?:\[(::1)\]|(127\.\d{1,3}\.\d{1,3}\.\d{1,3})):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  if (found === null || port < 1 || port > LARGEST_PORT) {
    return unparsable(
      `must be true, false, or an address of loopback with a port, such as ${usual.address}:${usual.port}; found ${JSON.stringify(text.slice(0, 100))}`,
    );
  }
  return parsed({ address: found[1] ?? found[2] ?? usual.address, port });
}

/** Ports of the node, which sits in a network of its own, shown on this machine's loopback. */
import { createServer, type Socket } from 'node:net';
import type { Gate } from '../machine/gate.ts';

export interface Forward {
  readonly port: number;
  close(): void;
}

export interface ForwardTarget {
  readonly host: string;
  readonly port: number;
}

/** Listens on the port asked for, or on any other where another program has it. */
export async function forwardPort(
  gate: Pick<Gate, 'connect'>,
  target: ForwardTarget,
  request: number,
): Promise<Forward> {
  const open = new Set<Socket>();
  const server = createServer((caller) => {
    open.add(caller);
    caller.on('error', () => caller.destroy());
    caller.on('close', () => open.delete(caller));
    gate.connect(target.host, target.port).then(
      (inside) => {
        inside.on('error', () => caller.destroy());
        inside.on('close', () => caller.destroy());
        caller.on('close', () => inside.destroy());
        caller.pipe(inside).pipe(caller);
      },
      () => caller.destroy(), // as if no one listened
    );
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(request).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    return listen(0);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return {
    port: address.port,
    close: () => {
      server.close();
      for (const caller of open) caller.destroy();
    },
  };
}

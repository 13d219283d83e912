/** Asks a plugin what it is, has its kind's handler take it, and reports the result to it. Texts are those of the reference kubelet. */
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { type PluginInfo, Registration } from '../wire/gen/plugin-registration-v1.ts';
import { createGrpcClient, type GrpcClient } from '../wire/grpc-client.ts';

export interface PluginHandler {
  /** Why this plugin can't be taken; undefined where it can. */
  validate(name: string, versions: readonly string[]): string | undefined;
  register(name: string, endpoint: string, versions: readonly string[]): Promise<void>;
  deregister(name: string, endpoint: string): void;
}

export type PluginHandlers = Readonly<Record<string, PluginHandler>>;

export interface RegisteredPlugin {
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
  readonly handler: PluginHandler;
}

interface RegisterDeps {
  readonly clock: Clock;
  readonly handlers: PluginHandlers;
}

const GET_INFO_MS = 1_000;
const NOTIFY_MS = 5_000;
/** What a plugin says of itself is a few names. */
const LARGEST_ANSWER = 64 * 1024;

/** Rejects with what is wrong with it. */
export async function registerPlugin(
  { clock, handlers }: RegisterDeps,
  socket: string,
  signal: AbortSignal,
): Promise<RegisteredPlugin> {
  const client = createGrpcClient({ endpoint: socket, clock, maxMessageBytes: LARGEST_ANSWER });
  try {
    const info = await askInfo(client, socket, signal);
    const endpoint = info.endpoint === '' ? socket : info.endpoint;
    const handler = Object.hasOwn(handlers, info.type) ? handlers[info.type] : undefined;
    const refuse = async (problem: string): Promise<never> => {
      await notify(client, { registered: false, problem, socket }, signal);
      throw new Error(problem);
    };
    if (handler === undefined)
      return await refuse(
        `RegisterPlugin error -- no handler registered for plugin type: ${info.type} at socket ${socket}`,
      );
    const fault = handler.validate(info.name, info.supportedVersions);
    if (fault !== undefined) return await refuse(`RegisterPlugin error -- plugin validation failed with err: ${fault}`);
    await handler.register(info.name, endpoint, info.supportedVersions).catch((error: unknown) => {
      return refuse(`RegisterPlugin error -- plugin registration failed with err: ${describeError(error)}`);
    });
    try {
      signal.throwIfAborted();
      await notify(client, { registered: true, problem: '', socket }, signal);
    } catch (error) {
      handler.deregister(info.name, endpoint);
      throw error;
    }
    return { type: info.type, name: info.name, endpoint, handler };
  } finally {
    await client.close();
  }
}

async function askInfo(client: GrpcClient, socket: string, signal: AbortSignal): Promise<PluginInfo> {
  try {
    return await client.unary(Registration.getInfo, {}, { signal, deadline: GET_INFO_MS });
  } catch (error) {
    signal.throwIfAborted();
    const problem = `failed to get plugin info using RPC GetInfo at socket ${socket}, err: ${describeError(error)}`;
    throw new Error(`RegisterPlugin error -- ${problem}`, { cause: error });
  }
}

async function notify(
  client: GrpcClient,
  { registered, problem, socket }: { readonly registered: boolean; readonly problem: string; readonly socket: string },
  signal: AbortSignal,
): Promise<void> {
  const status = { pluginRegistered: registered, error: problem };
  try {
    await client.unary(Registration.notifyRegistrationStatus, status, { signal, deadline: NOTIFY_MS });
  } catch (error) {
    signal.throwIfAborted();
    const what = registered ? 'registration status' : 'error';
    const text = `RegisterPlugin error -- failed to send ${what} at socket ${socket}, err: ${problem}: ${describeError(error)}`;
    throw new Error(text, { cause: error });
  }
}

/**
 * One connection to a D-Bus peer: signs on, matches replies with calls, and passes signals on. Calls don't wait for each other: one that
 * hangs holds up no other.
 */
import { closeSync } from 'node:fs';
import { CodedError, type ErrorCode } from '../../base/errors.ts';
import {
  type DBusMessage,
  decodeMessage,
  encodeCall,
  MESSAGE_TYPE,
  type MethodCall,
  messageLength,
} from './message.ts';
import type { ByteStream, OpenStream } from './stream.ts';
import type { DBusValue } from './values.ts';

export interface DBusReply {
  readonly body: readonly DBusValue[];
  /** The caller's, to be closed. */
  readonly fds: readonly number[];
}

export interface DBusConnection {
  /** Rejects with the coded error of the reply, `unavailable` when the connection ends, or the signal's reason. */
  call(call: MethodCall, signal: AbortSignal): Promise<DBusReply>;
  /** Resolves with the reason when the connection is over. */
  readonly ended: Promise<CodedError>;
  close(): void;
}

export interface ConnectionOptions {
  readonly path: string;
  readonly uid: number;
  readonly open: OpenStream;
  readonly onSignal: (message: DBusMessage) => void;
}

interface Pending {
  resolve(reply: DBusReply): void;
  reject(error: unknown): void;
}

const GREETING = { end: '\r\n', longest: 1024 } as const;

/** Resolves when the peer has accepted us. On a bus, `Hello` must be the first call. */
export async function openConnection(options: ConnectionOptions, signal: AbortSignal): Promise<DBusConnection> {
  const pending = new Map<number, Pending>();
  const ended = Promise.withResolvers<CodedError>();
  const accepted = Promise.withResolvers<void>();
  const incoming = createIncoming({
    onLine: (line) => greet(line),
    onMessage: (message, fds) => receive(message, fds),
  });
  let serial = 0;

  const end = (error: CodedError) => {
    accepted.reject(error);
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    stream.close();
    incoming.dropDescriptors();
    ended.resolve(error);
  };
  const stream: ByteStream = options.open(options.path, {
    onBytes: (bytes, fds) => {
      try {
        incoming.take(bytes, fds);
      } catch (error) {
        end(new CodedError('unavailable', `${options.path} does not speak D-Bus`, { cause: error }));
      }
    },
    onEnd: end,
  });
  const greet = (line: string) => {
    if (line.startsWith('OK')) return;
    // An older peer passes no descriptors: everything else works.
    if (!line.startsWith('AGREE_UNIX_FD') && !line.startsWith('ERROR')) {
      return end(new CodedError('denied', `${options.path} refuses this user: ${line}`));
    }
    incoming.expectMessages();
    accepted.resolve();
  };
  const receive = (message: DBusMessage, fds: readonly number[]) => {
    const waiting = message.replySerial === undefined ? undefined : pending.get(message.replySerial);
    if (message.replySerial !== undefined) pending.delete(message.replySerial);
    if (message.type === MESSAGE_TYPE.reply && waiting !== undefined)
      return waiting.resolve({ body: message.body, fds });
    for (const fd of fds) closeSync(fd);
    if (message.type === MESSAGE_TYPE.error) waiting?.reject(replyError(message));
    else if (message.type === MESSAGE_TYPE.signal) options.onSignal(message);
  };
  const abandon = () => end(new CodedError('unavailable', `signing on at ${options.path} was given up`));

  ended.promise.catch(() => undefined);
  signal.addEventListener('abort', abandon, { once: true });
  try {
    signal.throwIfAborted();
    stream.write(Buffer.from(signOn(options.uid)));
    await accepted.promise;
  } catch (error) {
    stream.close();
    throw error;
  } finally {
    signal.removeEventListener('abort', abandon);
  }
  return {
    ended: ended.promise,
    close: () => end(new CodedError('unavailable', `the connection to ${options.path} was closed`)),
    call: (call, callSignal) =>
      new Promise((resolve, reject) => {
        if (callSignal.aborted) return reject(callSignal.reason);
        serial += 1;
        const own = serial;
        const onAbort = () => {
          pending.delete(own);
          reject(callSignal.reason);
        };
        const settled = () => callSignal.removeEventListener('abort', onAbort);
        callSignal.addEventListener('abort', onAbort, { once: true });
        pending.set(own, {
          resolve: (reply) => {
            settled();
            resolve(reply);
          },
          reject: (error) => {
            settled();
            reject(error);
          },
        });
        try {
          stream.write(encodeCall(call, own));
        } catch (error) {
          pending.delete(own);
          settled();
          reject(error);
        }
      }),
  };
}

/**
 * All of it at once, as systemd's own clients do: when `BEGIN` and the first call reach systemd in one read, it takes the call for part of
 * the greeting and never answers.
 */
function signOn(uid: number): string {
  return `\0${[`AUTH EXTERNAL ${Buffer.from(String(uid)).toString('hex')}`, 'NEGOTIATE_UNIX_FD', 'BEGIN', ''].join(GREETING.end)}`;
}

/** Puts chunks together again: lines while signing on, whole messages with their descriptors after that. */
function createIncoming(listener: {
  onLine(line: string): void;
  onMessage(message: DBusMessage, fds: readonly number[]): void;
}) {
  let chunks: Buffer[] = [];
  let fds: number[] = [];
  let signedOn = false;
  // What is known to be missing of the message that has begun: chunks are not put together before all of it has come.
  let missing = 0;

  const takeLines = (bytes: Buffer): Buffer => {
    let rest = bytes;
    while (!signedOn) {
      const at = rest.indexOf(GREETING.end);
      if (at < 0 && rest.length > GREETING.longest) throw new CodedError('invalid', 'the greeting is too long');
      if (at < 0) return rest;
      const line = rest.toString('latin1', 0, at);
      rest = rest.subarray(at + GREETING.end.length);
      listener.onLine(line);
    }
    return rest;
  };
  return {
    expectMessages: () => {
      signedOn = true;
    },
    dropDescriptors: () => {
      for (const fd of fds) closeSync(fd);
      fds = [];
    },
    take: (bytes: Buffer, received: readonly number[]) => {
      fds.push(...received);
      chunks.push(bytes);
      missing -= bytes.length;
      if (missing > 0) return;
      let rest = takeLines(chunks.length === 1 ? bytes : Buffer.concat(chunks));
      while (signedOn) {
        const length = messageLength(rest);
        missing = length === undefined ? 0 : length - rest.length;
        if (length === undefined || missing > 0) break;
        const message = decodeMessage(rest.subarray(0, length));
        rest = rest.subarray(length);
        listener.onMessage(message, fds.splice(0, message.fdCount));
      }
      chunks = rest.length === 0 ? [] : [rest];
    },
  };
}

const CODES: readonly (readonly [RegExp, ErrorCode])[] = [
  [/\.(?:UnitExists|FileExists)$/, 'exists'],
  [/\.OperationInProgress$/, 'conflict'],
  [/\.(?:NoSuchUnit|UnknownObject|FileNotFound|NoSuchProcess)$/, 'notFound'],
  [/\.(?:NoReply|Disconnected|ServiceUnknown|NameHasNoOwner|NoServer)$|\.Spawn\.|\.ShuttingDown$/, 'unavailable'],
  [/\.(?:Timeout|TimedOut)$/, 'deadline'],
  [/\.(?:AccessDenied|AuthFailed|InteractiveAuthorizationRequired)$/, 'denied'],
  [/\.(?:InvalidArgs|InvalidSignature|PropertyReadOnly)$/, 'invalid'],
  [/\.(?:UnknownMethod|UnknownInterface|UnknownProperty|NotSupported)$/, 'unsupported'],
  [/\.(?:LimitsExceeded|NoMemory)$/, 'exhausted'],
];

function replyError({ errorName = '', body: [text] }: DBusMessage): CodedError {
  const code = CODES.find(([pattern]) => pattern.test(errorName))?.[1] ?? 'internal';
  return new CodedError(code, typeof text === 'string' ? text : errorName, { data: { name: errorName } });
}

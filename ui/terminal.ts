/** A terminal over the WebSocket protocol of `kubectl exec` (v4.channel.k8s.io): the first byte of a message is its channel. */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { protocols } from './session.ts';

const STDIN = 0;
const ERROR = 3;
const RESIZE = 4;
const SHELL = ['/bin/sh', '-c', 'command -v bash >/dev/null && exec bash; exec sh'];

interface TerminalRequest {
  readonly pod: string;
  readonly container: string;
  readonly signal: AbortSignal;
  readonly onState: (state: string) => void;
}

export function openTerminal(place: HTMLElement, { pod, container, signal, onState }: TerminalRequest): void {
  const restore = allowStyles();
  const terminal = new Terminal({ cursorBlink: true, fontSize: 13, scrollback: 5000 });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(place);
  fit.fit();
  const query = new URLSearchParams([
    ...SHELL.map((word) => ['command', word] as [string, string]),
    ...['input', 'output', 'tty'].map((name) => [name, '1'] as [string, string]),
  ]);
  const address = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/page/exec/${pod}/${container}?${query}`;
  const socket = new WebSocket(address, ['v4.channel.k8s.io', ...protocols()]);
  socket.binaryType = 'arraybuffer';
  const send = (channel: number, text: string) => {
    if (socket.readyState !== WebSocket.OPEN) return;
    const bytes = new TextEncoder().encode(text);
    const message = new Uint8Array(bytes.length + 1);
    message[0] = channel;
    message.set(bytes, 1);
    socket.send(message);
  };
  const resize = () => {
    fit.fit();
    send(RESIZE, JSON.stringify({ Width: terminal.cols, Height: terminal.rows }));
  };
  socket.addEventListener('open', () => {
    onState('open');
    resize();
    terminal.focus();
  });
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    const bytes = new Uint8Array(data);
    if (bytes[0] === ERROR) onState(`ended: ${endOf(bytes.subarray(1))}`);
    else terminal.write(bytes.subarray(1));
  });
  socket.addEventListener('close', () => onState('closed'));
  socket.addEventListener('error', () => onState('refused: is this token allowed to write?'));
  terminal.onData((text) => send(STDIN, text));
  const resized = new ResizeObserver(resize);
  resized.observe(place);
  signal.addEventListener('abort', () => {
    resized.disconnect();
    socket.close();
    terminal.dispose();
    restore();
  });
}

function endOf(bytes: Uint8Array): string {
  const { status, message } = JSON.parse(new TextDecoder().decode(bytes)) as { status: string; message?: string };
  return message ?? status;
}

/** The terminal makes style elements of its own, which the page's policy lets in only with the nonce of this page. */
function allowStyles(): () => void {
  const nonce = document.querySelector<HTMLElement>('link[rel=stylesheet]')?.nonce ?? '';
  const make = document.createElement.bind(document);
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const made = make(name, options);
    if (name === 'style') made.setAttribute('nonce', nonce);
    return made;
  }) as typeof document.createElement;
  return () => {
    document.createElement = make;
  };
}
